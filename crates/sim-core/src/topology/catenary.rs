//! The equilibrium shape of a hanging chain of equal rigid links.

use nalgebra::{Matrix2, Vector2};

/// Joints `[across, down]` of a chain of `n` links with total `length`, from the origin to `(width, drop)`, with equal
/// weights at its inner joints. `None` when Newton's method does not find it (a chain within rounding of straight).
///
/// Link `i` carries a force `(h, v - i w)`, and hangs along it. The two unknowns minimise the convex function
/// `Σ l |F_i| - h width - v drop` (the dual of the least-height problem), so Newton with backtracking always descends.
pub(super) fn hanging_chain(width: f64, drop: f64, length: f64, n: usize) -> Option<Vec<[f64; 2]>> {
    // Dimensionless: lengths by `length`, forces by the weight of the chain. `down` is positive, so forces along the
    // chain have a down part that falls by one joint's weight per link.
    let target = Vector2::new(width, drop) / length;
    let link = 1.0 / n as f64;
    let force = |unknown: Vector2<f64>, i: usize| {
        Vector2::new(unknown.x, unknown.y - (i as f64 - 0.5 * (n as f64 - 1.0)) * link)
    };
    let value = |unknown: Vector2<f64>| {
        (0..n).map(|i| link * force(unknown, i).norm()).sum::<f64>() - unknown.dot(&target)
    };
    // A flat chain of slack s = length/chord - 1 has horizontal force weight * sqrt(1 / (24 s)).
    let slack = 1.0 / target.norm() - 1.0;
    let size = (1.0 / (24.0 * slack)).sqrt();
    let mut unknown = target / target.norm() * size;
    if unknown.x == 0.0 {
        return None;
    }
    for _ in 0..200 {
        let mut gradient = -target;
        let mut hessian = Matrix2::zeros();
        for i in 0..n {
            let f = force(unknown, i);
            let size = f.norm();
            let unit = f / size;
            gradient += unit * link;
            hessian += (Matrix2::identity() - unit * unit.transpose()) * (link / size);
        }
        if gradient.norm() < 1e-14 {
            break;
        }
        let step = -hessian.try_inverse()? * gradient;
        let (start, slope) = (value(unknown), gradient.dot(&step));
        if !slope.is_finite() {
            return None;
        }
        let mut factor = 1.0;
        // At the last digits the value no longer resolves the descent: then a full step is as good as any.
        while slope.abs() > 1e-13 * start.abs().max(1.0)
            && (unknown.x + factor * step.x <= 0.0
                || value(unknown + step * factor) > start + 1e-4 * factor * slope)
        {
            factor *= 0.5;
            if factor < 1e-12 {
                return None;
            }
        }
        unknown += step * factor;
        if step.norm() * factor < 1e-15 * unknown.norm() {
            break;
        }
    }
    let mut at = Vector2::zeros();
    let mut joints = Vec::with_capacity(n + 1);
    joints.push([0.0, 0.0]);
    for i in 0..n {
        at += force(unknown, i).normalize() * link;
        joints.push([at.x * length, at.y * length]);
    }
    ((at - target).norm() < 1e-12).then_some(joints)
}
