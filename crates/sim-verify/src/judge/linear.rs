//! Step matrices, stability limits and error constants on linear models.

use super::{Findings, Subject};
use crate::claim::Claim;
use crate::closed_forms::{self, ClosedForm, Oscillator};
use crate::problems::damped_oscillator::{DampedOscillator, STANDARD};
use crate::studies::amplification::amplification_matrix;
use crate::studies::order::error_constant;
use crate::studies::stability_limit::stability_limit;
use crate::studies::{StudyError, run};
use nalgebra::{DMatrix, Matrix2, Vector2};
use sim_core::force::mass_damping::MassDamping;
use sim_core::force::springs::{Spring, Springs};
use sim_core::{ModelSystem, ParticleSystemBuilder, Stability, State};

/// A particle that moves as `m x'' + c x' + k x = 0` in some coordinate.
pub struct Line {
    /// The model.
    pub system: Box<dyn ModelSystem>,
    /// Equilibrium at rest.
    pub base: State,
    /// Index of the coordinate in `q` and `v`.
    pub coordinate: usize,
    /// ω and ζ.
    pub oscillator: Oscillator,
}

/// From mass, stiffness and damping.
type MakeLine = fn(f64, f64, f64) -> Line;

fn oscillator(m: f64, k: f64, c: f64) -> Oscillator {
    let omega = (k / m).sqrt();
    Oscillator { omega, damping_ratio: 0.5 * c / (m * omega) }
}

impl Line {
    /// On a spring of rest length zero, with damping proportional to mass.
    ///
    /// # Panics
    /// When a parameter is out of range.
    pub fn mass_damping(m: f64, k: f64, c: f64) -> Self {
        let spring = Spring { ends: [0, 1], rest_length: 0.0, stiffness: k, damping: 0.0 };
        let mut builder = ParticleSystemBuilder::new(vec![1.0, m]).pin([0]).force(Springs::new([spring]));
        if c > 0.0 {
            builder = builder.force(MassDamping { rate: c / m });
        }
        Self {
            system: Box::new(builder.build().expect("parameters are in range")),
            base: State::at_rest(vec![0.0; 6]),
            coordinate: 3,
            oscillator: oscillator(m, k, c),
        }
    }

    /// Along a spring of rest length 1 m with a dashpot.
    ///
    /// # Panics
    /// When a parameter is out of range.
    pub fn dashpot(m: f64, k: f64, c: f64) -> Self {
        let spring = Spring { ends: [0, 1], rest_length: 1.0, stiffness: k, damping: c };
        let system = ParticleSystemBuilder::new(vec![1.0, m]).pin([0]).force(Springs::new([spring]));
        Self {
            system: Box::new(system.build().expect("parameters are in range")),
            base: State::at_rest(vec![0.0, 0.0, 0.0, 1.0, 0.0, 0.0]),
            coordinate: 3,
            oscillator: oscillator(m, k, c),
        }
    }

    /// Across two springs stretched to twice their rest length, which pull with the transverse stiffness `k (1 - l0/l)` each.
    ///
    /// # Panics
    /// When a parameter is out of range.
    pub fn transverse(m: f64, k: f64, c: f64) -> Self {
        let spring = |ends| Spring { ends, rest_length: 0.5, stiffness: k, damping: 0.0 };
        let system = ParticleSystemBuilder::new(vec![1.0, m, 1.0])
            .pin([0, 2])
            .force(Springs::new([spring([0, 1]), spring([1, 2])]))
            .force(MassDamping { rate: c / m });
        Self {
            system: Box::new(system.build().expect("parameters are in range")),
            base: State::at_rest(vec![0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 2.0, 0.0, 0.0]),
            coordinate: 4,
            oscillator: oscillator(m, k, c),
        }
    }

    /// The measured step matrix of `(x, v)` at `Ω = ω dt`, in units of x and v/ω.
    ///
    /// # Errors
    /// [`StudyError::Run`].
    pub fn step_matrix(&self, subject: &Subject<'_>, omega_dt: f64) -> Result<Matrix2<f64>, StudyError> {
        let omega = self.oscillator.omega;
        let dt = omega_dt / omega;
        let x = 1e-3;
        let delta = (x, x * omega.min(1.0 / dt));
        let step = amplification_matrix(
            &*self.system,
            &mut *(subject.make)(),
            &self.base,
            &[self.coordinate],
            delta,
            dt,
        )?;
        let a = step.matrix;
        Ok(Matrix2::new(a[(0, 0)], a[(0, 1)] * omega, a[(1, 0)] / omega, a[(1, 1)]))
    }

    /// The closed form in the same units.
    pub fn expected(&self, form: ClosedForm, omega_dt: f64) -> Matrix2<f64> {
        let omega = self.oscillator.omega;
        let a = form(self.oscillator, omega_dt / omega);
        Matrix2::new(a[(0, 0)], a[(0, 1)] * omega, a[(1, 0)] / omega, a[(1, 1)])
    }

    /// The measured spectral radius at `Ω = ω dt`; infinite when the step fails.
    pub fn radius(&self, subject: &Subject<'_>, omega_dt: f64) -> f64 {
        self.step_matrix(subject, omega_dt).map_or(f64::INFINITY, |a| closed_forms::spectral_radius(&a))
    }
}

/// Values of ω dt at which step matrices are compared.
fn grid(subject: &Subject<'_>) -> &'static [f64] {
    if subject.method.implicit { &[0.05, 0.4, 1.0, 1.9, 10.0, 300.0] } else { &[0.05, 0.4, 1.0, 1.9] }
}

/// Measured step matrices against the closed form: along a spring, across it, with both kinds of damping, and of coupled particles.
pub fn amplification(subject: &Subject<'_>, findings: &mut Findings) {
    let Some(form) = subject.closed_form else { return };
    let (m, k) = (2.0, 50.0);
    let cases: [(&str, &str, MakeLine, &[f64]); 3] = [
        ("mass_damping", "with mass-proportional damping", Line::mass_damping, &[0.0, 2.0, 14.0]),
        ("dashpot", "along a spring with dashpot", Line::dashpot, &[0.0, 2.0, 14.0]),
        ("transverse", "across a stretched spring", Line::transverse, &[0.0, 2.0]),
    ];
    for (id, what, line, dampings) in cases {
        let mut worst = 0.0_f64;
        let mut failure = None;
        for &c in dampings {
            let line = line(m, k, c);
            // At very long steps the rounding of a position of 1 m hides motions of 1 mm from Newton's method.
            let longest = if id == "mass_damping" { f64::INFINITY } else { 10.0 };
            for &omega_dt in grid(subject).iter().filter(|&&omega_dt| omega_dt <= longest) {
                let expected = line.expected(form, omega_dt);
                match line.step_matrix(subject, omega_dt) {
                    Ok(found) => {
                        let error = (found - expected).amax() / expected.amax().max(1.0);
                        worst = if error.is_nan() { f64::INFINITY } else { worst.max(error) };
                    }
                    Err(error) => failure = Some(error.to_string()),
                }
            }
        }
        let claim = Claim::at_most(
            subject.id("amplification", id),
            format!("step matrix against the closed form, {what}"),
            1e-10,
            worst,
            "closed form of the method on x'' + 2ζω x' + ω² x = 0",
        );
        findings.claims.push(match failure {
            Some(error) => claim.because(error),
            None => claim,
        });
    }
    let claim = Claim::at_most(
        subject.id("amplification", "coupled"),
        "step matrix of three unequal masses in a damped chain, against the closed form of each mode",
        1e-10,
        f64::NAN,
        "modal decomposition of M and K with D = β K",
    );
    findings.claims.push(match coupled(subject, form) {
        Ok(measured) => Claim { measured, ..claim },
        Err(error) => claim.because(error),
    });
}

/// Three unequal masses on a line between walls, with dashpots proportional to stiffness.
fn coupled(subject: &Subject<'_>, form: ClosedForm) -> Result<f64, StudyError> {
    let (mass, stiffness, beta) = ([0.5, 2.0, 1.0], [100.0, 40.0, 250.0, 60.0], 0.004);
    let springs = (0..4_u32).map(|i| Spring {
        ends: [i, i + 1],
        rest_length: 0.75,
        stiffness: stiffness[i as usize],
        damping: beta * stiffness[i as usize],
    });
    let system = ParticleSystemBuilder::new(vec![1.0, mass[0], mass[1], mass[2], 1.0])
        .pin([0, 4])
        .force(Springs::new(springs))
        .build()
        .expect("parameters are in range");
    let mut base = State::at_rest(vec![0.0; 15]);
    (0..5).for_each(|i| base.q[3 * i] = i as f64);
    // W = M^-½ K M^-½ with K of the chain.
    let w = DMatrix::from_fn(3, 3, |r, c| {
        let k = match r.abs_diff(c) {
            0 => stiffness[r] + stiffness[r + 1],
            1 => -stiffness[r.max(c)],
            _ => 0.0,
        };
        k / (mass[r] * mass[c]).sqrt()
    });
    let eigen = w.symmetric_eigen();
    let top = eigen.eigenvalues.max().sqrt();
    let mut worst = 0.0_f64;
    for omega_dt in [0.1, 0.8, 1.6] {
        let dt = omega_dt / top;
        let modes: Vec<Matrix2<f64>> = eigen
            .eigenvalues
            .iter()
            .map(|square| {
                let omega = square.sqrt();
                form(Oscillator { omega, damping_ratio: 0.5 * beta * omega }, dt)
            })
            .collect();
        let step = amplification_matrix::<dyn ModelSystem>(
            &system,
            &mut *(subject.make)(),
            &base,
            &[3, 6, 9],
            (1e-3, 1e-3 * top),
            dt,
        )?;
        for r in 0..6 {
            for c in 0..6 {
                // T diag(a) T⁻¹ with T = M^-½ Q.
                let (i, j) = (r % 3, c % 3);
                let expected: f64 = (0..3)
                    .map(|mode| {
                        let q = &eigen.eigenvectors;
                        q[(i, mode)] * modes[mode][(r / 3, c / 3)] * q[(j, mode)] * (mass[j] / mass[i]).sqrt()
                    })
                    .sum();
                let unit = match (r / 3, c / 3) {
                    (0, 1) => top,
                    (1, 0) => 1.0 / top,
                    _ => 1.0,
                };
                let error = (step.matrix[(r, c)] - expected).abs() * unit;
                worst = if error.is_nan() { f64::INFINITY } else { worst.max(error) };
            }
        }
    }
    Ok(worst)
}

/// First Ω above which the closed form is unstable, up to `top`.
fn closed_limit(form: ClosedForm, o: Oscillator, top: f64) -> Option<f64> {
    let stable = |omega_dt: f64| closed_forms::spectral_radius(&form(o, omega_dt / o.omega)) <= 1.0 + 1e-12;
    let mut low = 1e-3;
    while low < top {
        let high = low + 0.01;
        if !stable(high) {
            return stability_limit(low, high, 1e-13, stable).ok();
        }
        low = high;
    }
    None
}

/// The border of stability: as claimed without damping, as the closed form says with it.
pub fn limits(subject: &Subject<'_>, findings: &mut Findings) {
    let line = Line::mass_damping(1.0, 1.0, 0.0);
    let (id, source) = (subject.id("stability_limit", "undamped"), subject.method.reference);
    let worst_of = |grid: &[f64]| grid.iter().map(|&x| line.radius(subject, x)).fold(0.0, f64::max);
    let undamped = match subject.method.stability {
        Stability::Unstable => {
            let least = [0.1, 0.5, 1.0, 2.0]
                .map(|x| line.radius(subject, x))
                .into_iter()
                .fold(f64::INFINITY, f64::min);
            Claim::at_least(
                id,
                "spectral radius at ω dt of 0.1 to 2: grows at every step",
                1.0 + 1e-6,
                least,
                source,
            )
        }
        Stability::Conditional { omega_dt } => {
            // At the border a double root magnifies rounding to its square root.
            let found = stability_limit(0.5 * omega_dt, 1.5 * omega_dt, 1e-7, |x| {
                line.radius(subject, x) < 1.0 + 1e-7
            });
            let claim = |found| {
                Claim::near(
                    id,
                    "largest stable ω dt by bisection",
                    (omega_dt, 1e-4 * omega_dt),
                    found,
                    source,
                )
            };
            match found {
                Ok(found) => claim(found),
                Err(error) => claim(f64::NAN).because(error),
            }
        }
        Stability::Unconditional => {
            let worst = worst_of(&[0.1, 1.0, 10.0, 1e3]);
            Claim::at_most(id, "spectral radius at ω dt up to 1000", 1.0 + 1e-9, worst, source)
        }
        Stability::LStable => {
            let worst = worst_of(&[0.1, 1.0, 10.0]);
            findings.claims.push(Claim::at_most(
                subject.id("stability_limit", "stiff"),
                "spectral radius at ω dt = 1e4: stiff modes vanish",
                1e-3,
                line.radius(subject, 1e4),
                source,
            ));
            Claim::at_most(id, "spectral radius at ω dt up to 10", 1.0 + 1e-9, worst, source)
        }
    };
    findings.claims.push(undamped);
    let Some(form) = subject.closed_form else { return };
    for damping_ratio in [0.1, 0.5] {
        let line = Line::mass_damping(1.0, 1.0, 2.0 * damping_ratio);
        let id = subject.id("stability_limit", &format!("damping_ratio_{damping_ratio}"));
        let source = "spectral radius of the closed form";
        let Some(expected) = closed_limit(form, line.oscillator, 20.0) else {
            let worst = [0.1, 1.0, 3.0, 10.0, 20.0].map(|x| line.radius(subject, x));
            let worst = worst.into_iter().fold(0.0, f64::max);
            let what = format!("spectral radius at ω dt up to 20, damping ratio {damping_ratio}");
            findings.claims.push(Claim::at_most(id, what, 1.0 + 1e-9, worst, source));
            continue;
        };
        let what = format!("largest stable ω dt at damping ratio {damping_ratio}");
        let found = stability_limit(0.99 * expected, 1.01 * expected, 1e-9, |x| {
            line.radius(subject, x) <= 1.0 + 1e-11
        });
        let claim = |found| Claim::near(id, what, (expected, 1e-6 * expected), found, source);
        findings.claims.push(match found {
            Ok(found) => claim(found),
            Err(error) => claim(f64::NAN).because(error),
        });
    }
}

/// Points on the border of stability in the plane of `z = dt μ`, μ the eigenvalue `ω (-ζ ± i sqrt(1 - ζ²))`: for `angles` angles from the
/// imaginary to the negative real axis, the first |z| at which the measured step grows, at most `top`.
pub fn stability_border(subject: &Subject<'_>, angles: u32, top: f64) -> Vec<(f64, f64)> {
    (0..=angles)
        .map(|i| {
            let angle = std::f64::consts::FRAC_PI_2 * (1.0 + f64::from(i) / f64::from(angles));
            let line = Line::mass_damping(1.0, 1.0, -2.0 * angle.cos());
            let stable = |r: f64| line.radius(subject, r) <= 1.0 + 1e-6;
            let mut low = 0.02;
            while low < top && stable(low) {
                low += 0.05;
            }
            let r = if low >= top {
                top
            } else if low <= 0.02 {
                0.0
            } else {
                stability_limit(low - 0.05, low, 1e-4, stable).unwrap_or(low)
            };
            (r * angle.cos(), r * angle.sin())
        })
        .collect()
}

/// Leading error constant of position and velocity on the oscillator, within 2 % of the closed form's.
pub fn error_constants(subject: &Subject<'_>, findings: &mut Findings) {
    let memory = closed_forms::memory_form(subject.method.id);
    for (id, damping) in [("undamped", 0.0), ("damped", STANDARD.damping)] {
        let problem = DampedOscillator { damping, ..STANDARD };
        let order =
            if damping > 0.0 { subject.method.order_velocity_dependent } else { subject.method.order };
        let o = oscillator(problem.mass, problem.stiffness, damping);
        let start = Vector2::new(problem.position, problem.velocity);
        let expected = match (subject.closed_form, memory) {
            (Some(form), _) => closed_forms::error_constant(form, o, order, problem.t_end, start),
            (None, Some(form)) => closed_forms::memory_error_constant(form, o, order, problem.t_end, start),
            (None, None) => return,
        };
        let steps = match order {
            0 | 1 => 2000,
            2 | 3 => 400,
            _ => 80,
        };
        let claim = Claim::at_most(
            subject.id("error_constant", id),
            format!("relative distance of the leading error constant from theory, {id} oscillator"),
            0.02,
            f64::NAN,
            "∫ exp((t-s)L) E exp(sL) y0 ds with the local error E of the closed form",
        );
        findings.claims.push(match error_constant(&problem, &mut *(subject.make)(), steps, order, 1) {
            Ok(found) => {
                // Position and v/ω, both in units of the amplitude.
                let scale = Vector2::new(1.0, 1.0 / o.omega) / problem.position.abs();
                let found = Vector2::new(found[3], found[9]);
                let expected = expected.component_mul(&scale);
                Claim { measured: (found - expected).norm() / expected.norm(), ..claim }
            }
            Err(error) => claim.because(error),
        });
    }
}

/// Position and velocity of the oscillator of the published tables after `steps` steps of `dt`.
///
/// # Errors
/// [`StudyError::Run`].
pub fn march(
    subject: &Subject<'_>,
    line: &Line,
    start: (f64, f64),
    dt: f64,
    steps: u64,
) -> Result<(f64, f64), StudyError> {
    let mut state = line.base.clone();
    state.q[line.coordinate] += start.0;
    state.v[line.coordinate] = start.1;
    let end = run(&*line.system, &mut *(subject.make)(), &state, dt * steps as f64, steps)?;
    Ok((end.q[line.coordinate] - line.base.q[line.coordinate], end.v[line.coordinate]))
}
