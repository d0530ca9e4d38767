//! What a material law must show: tension from energy, tangent from tension, bounds; and what its history must.

use crate::claim::Claim;
use crate::studies::order::OrderReport;
use sim_core::AxialLaw;
use sim_core::material::Branch;

/// Largest of some distances; NaN counts as infinite.
fn worst(distances: impl IntoIterator<Item = f64>) -> f64 {
    distances.into_iter().fold(0.0, |a, b| if b.is_nan() { f64::INFINITY } else { a.max(b) })
}

/// Five-point derivative.
fn derivative(f: impl Fn(f64) -> f64, x: f64, h: f64) -> f64 {
    let at = |step: f64| (f(x + step) - f(x - step)) / ((x + step) - (x - step));
    (4.0 * at(h) - at(2.0 * h)) / 3.0
}

/// Stretches from pressed to drawn far, all away from the kinks.
fn stretches(law: &dyn AxialLaw) -> Vec<f64> {
    let kinks = law.kinks();
    (0..120)
        .map(|i| 0.2 * 1.028_f64.powi(i) + 1e-3)
        .filter(|stretch| kinks.iter().all(|kink| (stretch - kink).abs() > 3e-3))
        .collect()
}

/// Judges a law whose every parameter is in units of tension `make` is given.
pub fn judge_law(id: &str, make: &dyn Fn(f64) -> Box<dyn AxialLaw>) -> Vec<Claim> {
    let law = make(1.0);
    let places = stretches(&*law);
    let scale = worst(places.iter().map(|&s| law.tension(s).abs()));
    let steepest = worst(places.iter().map(|&s| law.tangent(s).abs()));
    let tension = worst(places.iter().map(|&s| {
        let slope = derivative(|s| law.energy(s), s, 3e-4);
        (slope - law.tension(s)).abs() / law.tension(s).abs().max(1e-3 * scale)
    }));
    let tangent = worst(places.iter().map(|&s| {
        let slope = derivative(|s| law.tension(s), s, 3e-4);
        (slope - law.tangent(s)).abs() / law.tangent(s).abs().max(1e-3 * steepest)
    }));
    // Around kinks the energy is still the integral: Simpson's rule on fine pieces.
    let pieces = 4000;
    let (low, high) = (0.3, 4.0);
    let h = (high - low) / f64::from(pieces);
    let integral: f64 = (0..pieces)
        .map(|i| {
            let a = low + h * f64::from(i);
            h / 6.0 * (law.tension(a) + 4.0 * law.tension(a + 0.5 * h) + law.tension(a + h))
        })
        .sum();
    let work = (law.energy(high) - law.energy(low) - integral).abs() / law.energy(high).abs();
    let rest = law.tension(1.0).abs() / scale + law.energy(1.0).abs() / law.energy(high).abs();
    let bound = worst(places.windows(6).map(|window| {
        let bound = law.tangent_bound(window[0], window[5]);
        worst(window.iter().map(|&s| law.tangent(s).abs())) / bound - 1.0
    }));
    let unit = 7.0;
    let other = make(unit);
    let scaled = worst(places.iter().flat_map(|&s| {
        [
            (other.tension(s) - unit * law.tension(s)).abs() / (unit * scale),
            (other.energy(s) - unit * law.energy(s)).abs() / (unit * law.energy(high).abs()),
            (other.tangent(s) - unit * law.tangent(s)).abs() / (unit * steepest),
        ]
    }));
    let differences = "five-point differences";
    let claim = |study: &str, what: &str, limit: f64, found: f64, source: &str| {
        Claim::at_most(format!("{id}/{study}"), what, limit, found, source)
    };
    vec![
        claim(
            "tension",
            "relative distance of the tension from d energy / d stretch",
            1e-8,
            tension,
            differences,
        ),
        claim(
            "tangent",
            "relative distance of the tangent from d tension / d stretch",
            1e-7,
            tangent,
            differences,
        ),
        claim(
            "work",
            "energy against the work from stretch 0.3 to 4, relative distance",
            1e-6,
            work,
            "Simpson's rule",
        ),
        claim("rest", "tension and energy at the unloaded length, relative", 1e-15, rest, "definition"),
        claim(
            "bound",
            "largest tangent between two stretches over its bound, minus 1",
            1e-12,
            bound,
            "definition",
        ),
        claim(
            "scaling",
            "relative change of everything when the unit of tension changes",
            1e-13,
            scaled,
            "dimensions",
        ),
        Claim::at_least(format!("{id}/acts"), "largest tension of the checks", 0.1, scale, ""),
    ]
}

/// What a history is asked: branch, tension and stretch at the start, stretch at the end, time between; tension and tangent at the end.
pub type Creep<'a> = dyn Fn(Branch, f64, f64, f64, f64) -> (f64, f64) + 'a;

/// Judges how the tension of a Maxwell branch advances over a step.
pub fn judge_creep(id: &str, advance: &Creep<'_>) -> Vec<Claim> {
    let branch = Branch { modulus: 3.0, time: 0.4 };
    let Branch { modulus, time } = branch;
    // Held: decay to the end in steps of any length.
    let held = worst([1e-6, 0.01, 0.3, 2.0, 50.0].map(|dt: f64| {
        let exact = 1.7 * (-dt / time).exp();
        (advance(branch, 1.7, 1.2, 1.2, dt).0 - exact).abs()
    }));
    // At a constant rate r: T = G τ r + (T0 - G τ r) e^(-t/τ).
    let rate = worst([1e-9, 0.01, 0.3, 2.0, 50.0].map(|dt: f64| {
        let steady = modulus * time * 0.25;
        let exact = steady + (1.7 - steady) * (-dt / time).exp();
        (advance(branch, 1.7, 1.2, 1.2 + 0.25 * dt, dt).0 - exact).abs()
    }));
    let tangent = worst([1e-3, 0.3, 5.0].map(|dt| {
        let slope = derivative(|s| advance(branch, 1.7, 1.2, s, dt).0, 1.3, 1e-2);
        (slope - advance(branch, 1.7, 1.2, 1.3, dt).1).abs() / modulus
    }));
    // λ = 1 + sin ωt from rest: with x = ωτ, T = G x/(1 + x²) (x sin ωt + cos ωt - e^(-t/τ)).
    let omega = 3.0;
    let exact = |t: f64| {
        let x = omega * time;
        let factor = modulus * x / (1.0 + x * x);
        factor * (x * (omega * t).sin() + (omega * t).cos() - (-t / time).exp())
    };
    let counts = [20_u32, 40, 80, 160, 320];
    let steps: Vec<f64> = counts.iter().map(|&n| 2.0 / f64::from(n)).collect();
    let errors: Vec<f64> = (counts.iter().zip(&steps))
        .map(|(&n, &dt)| {
            let stretch = |i: u32| 1.0 + (omega * dt * f64::from(i)).sin();
            let end =
                (0..n).fold(0.0, |tension, i| advance(branch, tension, stretch(i), stretch(i + 1), dt).0);
            (end - exact(2.0)).abs()
        })
        .collect();
    let order = OrderReport::from_errors(&steps, &errors, 1e-13).observed().unwrap_or(f64::NAN);
    let source = "closed form of dT/dt = G dλ/dt - T/τ";
    let claim = |study: &str, what: &str, limit: f64, found: f64| {
        Claim::at_most(format!("{id}/{study}"), what, limit, found, source)
    };
    vec![
        claim("held", "tension of a held branch after 1e-6 to 50 s in one step, distance", 1e-14, held),
        claim("rate", "tension at a constant rate after 1e-9 to 50 s in one step, distance", 1e-13, rate),
        claim("tangent", "tangent against differences of the tension over the modulus", 1e-10, tangent),
        Claim::near(
            format!("{id}/order"),
            "order of convergence for a swinging stretch",
            (2.0, 0.02),
            order,
            source,
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_core::LAWS;
    use sim_core::material::{LineMaterial, Past};
    use sim_core::{Law, material::linear::Linear};

    #[test]
    fn every_law_of_the_registry_passes() {
        for info in LAWS {
            let make = |unit: f64| -> Box<dyn AxialLaw> { Box::new((info.sample)(unit)) };
            for claim in judge_law(info.id, &make) {
                assert!(claim.pass(), "{claim}");
            }
            assert_eq!((info.sample)(1.0).axial().id(), info.id);
            assert!((info.sample)(1.0).axial().validate().is_ok());
        }
    }

    #[test]
    fn branches_of_a_line_pass() {
        let advance = |branch: Branch, tension: f64, from: f64, to: f64, elapsed: f64| {
            let mut line = LineMaterial::from(Law::Linear(Linear { modulus: 1.0 }));
            line.branches.push(branch);
            let past = Past { stretch: from, history: &[tension], elapsed };
            let response = line.respond(Some(past), to);
            let mut history = [f64::NAN];
            assert!(!line.advance(past, to, &mut history));
            assert!((history[0] - (response.tension - (to - 1.0))).abs() < 1e-14);
            (history[0], response.tangent - 1.0)
        };
        for claim in judge_creep("branch", &advance) {
            assert!(claim.pass(), "{claim}");
        }
    }
}
