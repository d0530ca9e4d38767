//! Order of convergence on every problem.

use super::{Findings, Subject};
use crate::claim::Claim;
use crate::problems::{ExactProblem, PROBLEMS};
use crate::studies::order::{OrderOptions, order_study};

/// Grid for a method of this order: first-order methods need smaller steps until higher terms fade, fourth-order ones larger to stay
/// above rounding.
pub fn grid(problem: &dyn ExactProblem, order: u32) -> OrderOptions {
    let (omega_dt, levels) = match order {
        0 | 1 => (0.02, 6),
        2 | 3 => (0.1, 5),
        _ => (0.2, 5),
    };
    OrderOptions::from_coarsest(problem, omega_dt, levels)
}

/// Observed order on every exact problem, within 0.05 of the claim on the finest pair.
pub fn orders(subject: &Subject<'_>, findings: &mut Findings) {
    for problem in PROBLEMS {
        let velocity = problem.build().0.dependence().velocity;
        let order = if velocity { subject.method.order_velocity_dependent } else { subject.method.order };
        let claim = |measured| {
            Claim::near(
                subject.id("order", problem.id()),
                format!("order of convergence on {}", problem.id()),
                (order.into(), 0.05),
                measured,
                problem.source(),
            )
        };
        match order_study(*problem, &mut *(subject.make)(), grid(*problem, order)) {
            Ok(report) => {
                findings.claims.push(claim(report.observed().unwrap_or(f64::NAN)));
                findings.orders.push((problem.id(), order, report));
            }
            Err(error) => findings.claims.push(claim(f64::NAN).because(error)),
        }
    }
}
