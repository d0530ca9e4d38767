//! Step matrices of methods on the damped oscillator `x'' = -ω² x - 2 ζ ω x'`, in closed form.
//!
//! Sources: Hairer, Lubich & Wanner, *Geometric Numerical Integration* (2006), ch. I; Hughes, *The Finite Element Method* (1987), ch. 9;
//! Hosea & Shampine, Appl. Numer. Math. 20 (1996) 21. Each is written as the product or the rational function that defines the method.

use nalgebra::{Matrix2, Matrix3, Vector2, Vector3};

/// The equation `x'' = -ω² x - 2 ζ ω x'`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Oscillator {
    /// rad/s.
    pub omega: f64,
    /// Fraction of critical damping.
    pub damping_ratio: f64,
}

impl Oscillator {
    /// ω² in 1/s².
    pub fn stiffness(self) -> f64 {
        self.omega * self.omega
    }

    /// 2 ζ ω in 1/s.
    pub fn damping(self) -> f64 {
        2.0 * self.damping_ratio * self.omega
    }

    /// `L` in `y' = L y`, `y = (x, v)`.
    pub fn generator(self) -> Matrix2<f64> {
        Matrix2::new(0.0, 1.0, -self.stiffness(), -self.damping())
    }

    /// `exp(t L)`; any damping ratio, the critical one included.
    pub fn flow(self, t: f64) -> Matrix2<f64> {
        let d = 0.5 * self.damping();
        let square = self.stiffness() - d * d;
        let (c, s) = if square > 0.0 {
            let w = square.sqrt();
            ((w * t).cos(), (w * t).sin() / w)
        } else if square < 0.0 {
            let w = (-square).sqrt();
            ((w * t).cosh(), (w * t).sinh() / w)
        } else {
            (1.0, t)
        };
        let shifted = self.generator() + Matrix2::identity() * d;
        (Matrix2::identity() * c + shifted * s) * (-d * t).exp()
    }
}

/// The matrix by which one step of `dt` s multiplies `(x, v)`.
pub type ClosedForm = fn(Oscillator, f64) -> Matrix2<f64>;

/// `x += dt v`.
fn drift(dt: f64) -> Matrix2<f64> {
    Matrix2::new(1.0, dt, 0.0, 1.0)
}

/// `v += dt a(x, v)`, both old.
fn kick(o: Oscillator, dt: f64) -> Matrix2<f64> {
    Matrix2::new(1.0, 0.0, -dt * o.stiffness(), 1.0 - dt * o.damping())
}

/// `numerator / denominator` of two polynomials in `dt L`, lowest power first.
fn rational(o: Oscillator, dt: f64, numerator: &[f64], denominator: &[f64]) -> Matrix2<f64> {
    let z = o.generator() * dt;
    let evaluate = |coefficients: &[f64]| {
        coefficients.iter().rev().fold(Matrix2::zeros(), |sum, c| sum * z + Matrix2::identity() * *c)
    };
    let below = evaluate(denominator);
    below.try_inverse().unwrap_or_else(|| Matrix2::from_element(f64::NAN)) * evaluate(numerator)
}

/// Last kick at the velocity predicted with a first one: `v1 = v½ + dt/2 a(x1, v½ + dt/2 a(x1, v½))`.
fn predicted_half_kick(o: Oscillator, dt: f64) -> Matrix2<f64> {
    let (w, c, h) = (o.stiffness(), o.damping(), 0.5 * dt);
    Matrix2::new(1.0, 0.0, -h * w * (1.0 - h * c), 1.0 - h * c * (1.0 - h * c))
}

fn tr_bdf2(o: Oscillator, dt: f64) -> Matrix2<f64> {
    let gamma = 2.0 - std::f64::consts::SQRT_2;
    let middle = rational(o, gamma * dt, &[1.0, 0.5], &[1.0, -0.5]);
    let weight = gamma * (2.0 - gamma);
    let right = middle / weight - Matrix2::identity() * ((1.0 - gamma).powi(2) / weight);
    rational(o, dt, &[1.0], &[1.0, -(1.0 - gamma) / (2.0 - gamma)]) * right
}

/// The closed form of the method with this id and default options, where one is known.
pub fn closed_form(id: &str) -> Option<ClosedForm> {
    Some(match id {
        "explicit_euler" => |o, dt| rational(o, dt, &[1.0, 1.0], &[1.0]),
        "explicit_midpoint" => |o, dt| rational(o, dt, &[1.0, 1.0, 0.5], &[1.0]),
        "runge_kutta4" => |o, dt| rational(o, dt, &[1.0, 1.0, 0.5, 1.0 / 6.0, 1.0 / 24.0], &[1.0]),
        "symplectic_euler" => |o, dt| drift(dt) * kick(o, dt),
        "symplectic_euler_drift_kick" => |o, dt| kick(o, dt) * drift(dt),
        "leapfrog" => |o, dt| predicted_half_kick(o, dt) * drift(dt) * kick(o, 0.5 * dt),
        "position_verlet" => |o, dt| drift(0.5 * dt) * kick(o, dt) * drift(0.5 * dt),
        // `imex` without explicit forces and `theta_mixed` with equal weights are these.
        "implicit_euler" | "imex" => |o, dt| rational(o, dt, &[1.0], &[1.0, -1.0]),
        "implicit_midpoint" | "trapezoidal" | "theta_mixed" => {
            |o, dt| rational(o, dt, &[1.0, 0.5], &[1.0, -0.5])
        }
        "tr_bdf2" => tr_bdf2,
        _ => return None,
    })
}

/// The matrix by which one step of `dt` s multiplies `(x, v, a)` for methods that carry an acceleration.
pub type MemoryForm = fn(Oscillator, f64) -> Matrix3<f64>;

/// The closed form of the method with this id and default options that carries an acceleration, where one is known.
pub fn memory_form(id: &str) -> Option<MemoryForm> {
    match id {
        "generalized_alpha" => Some(|o, dt| generalized_alpha(o, dt, 0.8)),
        _ => None,
    }
}

/// The optimal member for a spectral radius `rho` of stiff modes: Chung & Hulbert, J. Appl. Mech. 60 (1993) 371, equations (2) to (8),
/// (17) and (25).
fn generalized_alpha(o: Oscillator, dt: f64, rho: f64) -> Matrix3<f64> {
    let (m, f) = ((2.0 * rho - 1.0) / (rho + 1.0), rho / (rho + 1.0));
    let (beta, gamma) = (0.25 * (1.0 - m + f).powi(2), 0.5 - m + f);
    let (w, c) = (o.stiffness(), o.damping());
    let new =
        Matrix3::new(1.0, 0.0, -beta * dt * dt, 0.0, 1.0, -gamma * dt, (1.0 - f) * w, (1.0 - f) * c, 1.0 - m);
    let old = Matrix3::new(1.0, dt, (0.5 - beta) * dt * dt, 0.0, 1.0, (1.0 - gamma) * dt, -f * w, -f * c, -m);
    new.try_inverse().unwrap_or_else(|| Matrix3::from_element(f64::NAN)) * old
}

/// Largest absolute value of the two eigenvalues, without iteration.
pub fn spectral_radius(a: &Matrix2<f64>) -> f64 {
    let (half_trace, determinant) = (0.5 * a.trace(), a.determinant());
    let square = half_trace * half_trace - determinant;
    if square > 0.0 { half_trace.abs() + square.sqrt() } else { determinant.abs().sqrt() }
}

/// Whether turning the velocity round undoes the step: `ρ A ρ A = I` with `ρ = diag(1, -1)`, on the undamped oscillator.
pub fn is_reversible(form: ClosedForm) -> bool {
    let turn = Matrix2::new(1.0, 0.0, 0.0, -1.0);
    [0.3, 1.1].into_iter().all(|dt| {
        let a = form(Oscillator { omega: 1.0, damping_ratio: 0.0 }, dt);
        (turn * a * turn * a - Matrix2::identity()).amax() < 1e-12
    })
}

/// Leading coefficient of the global error at time `t` from `y0`: error = C dt^order + …
///
/// With the local error `A(dt) - exp(dt L) = E dt^(order+1) + …`, `C = ∫₀ᵗ exp((t-s)L) E exp(sL) y0 ds`.
///
/// # Limitations
/// `E` is found by extrapolating the closed form in `dt`: good to about 1e-4.
pub fn error_constant(form: ClosedForm, o: Oscillator, order: u32, t: f64, y0: Vector2<f64>) -> Vector2<f64> {
    let local = |dt: f64| (form(o, dt) - o.flow(dt)) / dt.powf(f64::from(order + 1));
    let dt = 0.02 / o.omega;
    let e = (local(0.25 * dt) * 8.0 - local(0.5 * dt) * 6.0 + local(dt)) / 3.0;
    let e = if order >= 4 { local(2.0 * dt) * 2.0 - local(4.0 * dt) } else { e };
    // Simpson's rule on intervals a sixteenth of a radian long.
    let pieces = (16.0 * o.omega * t).ceil().max(8.0) as u32;
    let at = |i: u32| {
        let s = t * f64::from(i) / f64::from(2 * pieces);
        o.flow(t - s) * e * o.flow(s) * y0
    };
    let weight = |i: u32| match i {
        0 => 1.0,
        i if i == 2 * pieces => 1.0,
        i if i % 2 == 1 => 4.0,
        _ => 2.0,
    };
    (0..=2 * pieces).map(|i| at(i) * weight(i)).sum::<Vector2<f64>>() * (t / f64::from(6 * pieces))
}

/// The same for a method that carries an acceleration and starts from that of the equation of motion: by marching the closed form.
///
/// # Limitations
/// Good to about 1e-4 for `order` 1 and 2; rounding spoils higher ones.
pub fn memory_error_constant(
    form: MemoryForm,
    o: Oscillator,
    order: u32,
    t: f64,
    y0: Vector2<f64>,
) -> Vector2<f64> {
    let start = Vector3::new(y0[0], y0[1], -o.stiffness() * y0[0] - o.damping() * y0[1]);
    let error = |steps: u32| {
        let dt = t / f64::from(steps);
        let step = form(o, dt);
        let end = (0..steps).fold(start, |y, _| step * y);
        (end.xy() - o.flow(t) * y0) / dt.powf(f64::from(order))
    };
    let coarsest = (50.0 * o.omega * t).ceil() as u32;
    (error(4 * coarsest) * 8.0 - error(2 * coarsest) * 6.0 + error(coarsest)) / 3.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reference::case;

    /// Every A-sdof case whose method has a closed form here.
    #[test]
    fn closed_forms_agree_with_the_published_matrices() {
        let mut checked = 0;
        for (name, id) in [
            ("explicit_euler", "explicit_euler"),
            ("symplectic_euler_v_first", "symplectic_euler"),
            ("symplectic_euler_x_first", "symplectic_euler_drift_kick"),
            ("implicit_euler", "implicit_euler"),
            ("explicit_midpoint", "explicit_midpoint"),
            ("rk4", "runge_kutta4"),
            ("position_verlet_dkd_explicit_damping", "position_verlet"),
            ("newmark_average_acceleration", "trapezoidal"),
        ] {
            for damping in ["undamped", "damped"] {
                let case = case(&format!("A-sdof-{name}-{damping}")).unwrap();
                let input = |name: &str| case.number(&format!("inputs/{name}")).unwrap();
                let omega = (input("k") / input("m")).sqrt();
                let o = Oscillator { omega, damping_ratio: 0.5 * input("c") / input("m") / omega };
                let a = closed_form(id).unwrap()(o, input("h"));
                let expected = case.matrix("expected/A").unwrap();
                for r in 0..2 {
                    for c in 0..2 {
                        let error = (a[(r, c)] - expected[(r, c)]).abs();
                        assert!(error < 1e-14 * expected[(r, c)].abs().max(1.0), "{}: {a}", case.id);
                        checked += 1;
                    }
                }
                let rho = case.number("expected/spectral_radius").unwrap();
                assert!((spectral_radius(&a) - rho).abs() < 1e-14, "{}", case.id);
            }
        }
        assert_eq!(checked, 64);
    }

    /// A-stability-function-tr-bdf2: eigenvalues of the step matrix are R(±iΩ).
    #[test]
    fn tr_bdf2_has_the_published_stability_function() {
        let case = case("A-stability-function-tr-bdf2").unwrap();
        for (i, omega) in case.numbers("inputs/Omega").unwrap().into_iter().enumerate() {
            let a = tr_bdf2(Oscillator { omega, damping_ratio: 0.0 }, 1.0);
            let r = case.complex(&format!("expected/R/{i}")).unwrap();
            assert!((0.5 * a.trace() - r.re).abs() < 1e-13, "Ω = {omega}: {a} {r}");
            assert!((a.determinant() - r.norm_sqr()).abs() < 1e-13, "Ω = {omega}: {a} {r}");
        }
    }

    /// Every A-generalized-alpha case, on (x, dt v, dt² a).
    #[test]
    fn generalized_alpha_has_the_published_matrices() {
        for rho in ["rho00", "rho05", "rho10"] {
            let case = case(&format!("A-generalized-alpha-{rho}")).unwrap();
            let o = Oscillator { omega: 0.5, damping_ratio: 0.02 };
            let a = generalized_alpha(o, 1.0, case.number("inputs/rho_inf").unwrap());
            let expected = case.matrix("expected/A_Omega0.5_xi0.02").unwrap();
            for i in 0..9 {
                assert!((a[(i / 3, i % 3)] - expected[(i / 3, i % 3)]).abs() < 1e-13, "{}: {a}", case.id);
            }
        }
    }

    /// Without damping of stiff modes the family is the trapezoidal rule.
    #[test]
    fn both_ways_to_the_error_constant_agree() {
        let (o, t) = (Oscillator { omega: 2.0, damping_ratio: 0.1 }, 1.3);
        let y0 = Vector2::new(0.1, -0.3);
        let marched = memory_error_constant(|o, dt| generalized_alpha(o, dt, 1.0), o, 2, t, y0);
        let integrated = error_constant(closed_form("trapezoidal").unwrap(), o, 2, t, y0);
        assert!((marched - integrated).norm() < 1e-4 * integrated.norm(), "{marched} {integrated}");
    }

    #[test]
    fn flow_is_the_limit_of_many_small_steps() {
        for damping_ratio in [0.0, 0.2, 1.0, 1.7] {
            let o = Oscillator { omega: 3.0, damping_ratio };
            let step = closed_form("runge_kutta4").unwrap()(o, 1e-3);
            let many = (0..800).fold(Matrix2::identity(), |sum: Matrix2<f64>, _| step * sum);
            assert!((many - o.flow(0.8)).amax() < 1e-10, "ζ = {damping_ratio}");
        }
    }

    /// Closed-form constants: explicit Euler's error is -t/2 L² exp(tL) y0; velocity Verlet runs fast by Ω²/24.
    #[test]
    fn error_constants_of_two_methods_by_hand() {
        let o = Oscillator { omega: 5.0, damping_ratio: 0.1 };
        let (t, y0) = (1.0, Vector2::new(0.1, -0.3));
        let l = o.generator();
        let by_hand = -(l * l * o.flow(t) * y0) * (0.5 * t);
        let found = error_constant(closed_form("explicit_euler").unwrap(), o, 1, t, y0);
        assert!((found - by_hand).norm() < 1e-4 * by_hand.norm(), "{found} {by_hand}");
        let o = Oscillator { omega: 5.0, damping_ratio: 0.0 };
        let found = error_constant(closed_form("leapfrog").unwrap(), o, 2, t, Vector2::new(0.1, 0.0));
        let by_hand = -0.1 * 5.0_f64.sin() * 125.0 / 24.0;
        assert!((found[0] / by_hand - 1.0).abs() < 1e-4, "{found} {by_hand}");
        let l4 = o.generator().pow(5) * o.flow(t) * Vector2::new(0.1, 0.0) * (-t / 120.0);
        let found = error_constant(closed_form("runge_kutta4").unwrap(), o, 4, t, Vector2::new(0.1, 0.0));
        assert!((found - l4).norm() < 1e-3 * l4.norm(), "{found} {l4}");
    }

    #[test]
    fn reversible_methods() {
        let reversible = |id| is_reversible(closed_form(id).unwrap());
        assert!(
            ["leapfrog", "position_verlet", "implicit_midpoint", "trapezoidal"].into_iter().all(reversible)
        );
        assert!(
            !["explicit_euler", "symplectic_euler", "runge_kutta4", "tr_bdf2"].into_iter().any(reversible)
        );
    }
}
