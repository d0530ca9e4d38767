//! Members of the generalized-α family: Newmark, HHT and the optimal ones.

use super::{Verdict, at_most, with_options, worst};
use nalgebra::{DMatrix, Matrix3};
use serde_json::{Value, json};
use sim_integrate::AlphaParameters;
use sim_verify::judge::Subject;
use sim_verify::judge::linear::Line;
use sim_verify::reference::Case;
use sim_verify::{spectral_radius, stability_limit};

/// Cases of step matrices on (x, dt v, dt² a).
pub(super) const FAMILY: [&str; 6] = [
    "A-hht-alpha-005",
    "A-hht-alpha-01",
    "A-hht-alpha-03",
    "A-generalized-alpha-rho00",
    "A-generalized-alpha-rho05",
    "A-generalized-alpha-rho10",
];

fn options(parameters: AlphaParameters) -> Value {
    json!({ "parameters": parameters, "newton": { "relative_tolerance": 1e-13 } })
}

/// Options of Newmark's method.
pub(super) fn newmark(beta: f64, gamma: f64) -> Value {
    options(AlphaParameters::newmark(beta, gamma))
}

/// Options of HHT-α.
pub(super) fn hht(alpha: f64) -> Value {
    options(AlphaParameters::hht(alpha))
}

/// The step matrix with the carried acceleration as a third coordinate, for dt = 1.
fn memory_matrix(subject: &Subject<'_>, omega: f64, damping_ratio: f64) -> Option<Matrix3<f64>> {
    let line = Line::mass_damping(1.0, omega * omega, 2.0 * damping_ratio * omega);
    let mut result = Matrix3::zeros();
    for column in 0..3 {
        let unit = |row: usize| f64::from(u8::from(row == column));
        let mut state = line.base.clone();
        (state.q[3], state.v[3]) = (unit(0), unit(1));
        state.internal = vec![0.0, 0.0, 0.0, unit(2), 0.0, 0.0];
        (subject.make)().step(&*line.system, &mut state, 1.0).ok()?;
        result.set_column(column, &[state.q[3], state.v[3], state.internal[3]].into());
    }
    Some(result)
}

/// Matrix and spectral radii of a member.
pub(super) fn family(case: &Case) -> Verdict {
    let options = if let Ok(alpha) = case.number("inputs/alpha") {
        hht(alpha)
    } else {
        let rho = case.number("inputs/rho_inf")?;
        json!({ "rho_infinity": rho, "newton": { "relative_tolerance": 1e-13 } })
    };
    let expected = case.matrix("expected/A_Omega0.5_xi0.02")?;
    let (omegas, radii) = (case.numbers("inputs/Omega")?, case.numbers("expected/spectral_radius")?);
    let found = with_options("generalized_alpha", &options, |subject| {
        let matrix = memory_matrix(subject, 0.5, 0.02).map_or(f64::NAN, |a| {
            worst((0..9).map(|i| (a[(i / 3, i % 3)] - expected[(i / 3, i % 3)]).abs()))
        });
        let radius = worst(omegas.iter().zip(&radii).map(|(&omega, rho)| {
            memory_matrix(subject, omega, 0.0).map_or(f64::NAN, |a| {
                (spectral_radius(&DMatrix::from_iterator(3, 3, a.iter().copied())) - rho).abs()
            })
        }));
        (matrix, radius)
    });
    let (matrix, radius) = found.unwrap_or((f64::NAN, f64::NAN));
    Ok(vec![
        at_most(case, "matrix", "step matrix on (x, dt v, dt² a), distance per entry", 1e-10, matrix),
        at_most(case, "spectral_radius", "spectral radius at five ω dt, distance", 1e-10, radius),
    ])
}

/// Critical steps of ten conditionally stable members of Newmark's family.
pub(super) fn critical_steps(case: &Case) -> Verdict {
    let input = |name: &str| case.numbers(&format!("inputs/{name}"));
    let (beta, gamma, damping) = (input("beta")?, input("gamma")?, input("xi")?);
    let limits = case.numbers("expected/Omega_crit")?;
    let distance = worst((0..limits.len()).map(|i| {
        let line = Line::mass_damping(1.0, 1.0, 2.0 * damping[i]);
        let found = with_options("generalized_alpha", &newmark(beta[i], gamma[i]), |subject| {
            // At a double root rounding is magnified to its square root.
            let slack = if damping[i] == 0.0 { 1e-7 } else { 1e-11 };
            stability_limit(0.9 * limits[i], 1.1 * limits[i], 1e-10, |x| {
                line.radius(subject, x) <= 1.0 + slack
            })
            .ok()
        });
        (found.flatten().unwrap_or(f64::NAN) / limits[i] - 1.0).abs()
    }));
    Ok(vec![at_most(case, "", "critical steps of ten members, relative distance", 1e-6, distance)])
}
