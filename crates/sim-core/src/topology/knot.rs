//! Whether a line is knotted, and how: the determinant of a knot.

use nalgebra::Vector3;

/// How many times its size beyond the ends of a line it is closed.
const FAR: f64 = 20.0;
/// Directions that are tried until the shadow of the line has clear crossings only.
const TRIES: usize = 20;
/// A crossing nearer to the end of a segment than this share of it is not clear.
const CLEAR: f64 = 1e-7;
/// A prime, modulo which determinants are taken.
const PRIME: i64 = 2_147_483_647;

/// The determinant of a closed polygon: 1 for a plain loop, 3 for a trefoil (overhand) knot, 5 for a figure-eight; the same however the
/// line is bent, as long as it does not pass through itself. `None` when no direction shows it clearly, e.g. because it touches itself.
///
/// Source: coloring matrix of a knot diagram (Fox); Livingston, Knot Theory, 1993, chapter 3: two for the arc above, minus one for
/// each of the arcs below, at every crossing; the determinant of a minor.
///
/// # Limitations
/// Some knots share a determinant, a few have that of the plain loop. Work grows with the square of the number of points, and with the
/// cube of the number of crossings.
pub fn knot_determinant(points: &[[f64; 3]]) -> Option<u64> {
    let points: Vec<Vector3<f64>> = points.iter().map(|&p| Vector3::from(p)).collect();
    if points.len() < 3 || points.iter().any(|p| !p.iter().all(|x| x.is_finite())) {
        return None;
    }
    (0..TRIES).find_map(|k| {
        // Directions spread over the sphere, none along an axis.
        let (z, turn) = (0.9 - 1.7 * (k as f64 + 0.37) / TRIES as f64, 2.399_963 * (k as f64 + 0.5));
        let r = (1.0 - z * z).sqrt();
        of_shadow(&points, Vector3::new(r * turn.cos(), r * turn.sin(), z))
    })
}

/// The same for a line with two ends, which are led away from each other and joined far outside: what is knotted when its ends are
/// pulled apart has the determinant of the knot.
pub fn open_knot_determinant(points: &[[f64; 3]]) -> Option<u64> {
    let (first, last) = (Vector3::from(*points.first()?), Vector3::from(*points.last()?));
    let size = points.iter().map(|&p| (Vector3::from(p) - first).norm()).fold(0.0, f64::max);
    let apart = last - first;
    if size == 0.0 || apart.norm() == 0.0 {
        return None;
    }
    let along = apart.normalize();
    let aside = along.cross(&if along.x.abs() < 0.9 { Vector3::x() } else { Vector3::y() }).normalize();
    let away = |from: Vector3<f64>, out: Vector3<f64>| from + out * (FAR * size);
    let mut closed = points.to_vec();
    let (after, before) = (away(last, along), away(first, -along));
    closed.extend([after, away(after, aside), away(before, aside), before].map(<[f64; 3]>::from));
    knot_determinant(&closed)
}

/// A crossing of the shadow: where each strand passes, as segment plus share of it.
struct Crossing {
    above: f64,
    below: f64,
}

fn of_shadow(points: &[Vector3<f64>], along: Vector3<f64>) -> Option<u64> {
    let n = points.len();
    let u = along.cross(&Vector3::new(0.36, -0.48, 0.8)).normalize();
    let v = along.cross(&u);
    let shadow: Vec<[f64; 3]> = points.iter().map(|p| [u.dot(p), v.dot(p), along.dot(p)]).collect();
    let mut crossings = Vec::new();
    for i in 0..n {
        let (a, b) = (shadow[i], shadow[(i + 1) % n]);
        for j in i + 1..n {
            if j == i + 1 || (i == 0 && j == n - 1) {
                continue;
            }
            let (c, d) = (shadow[j], shadow[(j + 1) % n]);
            let apart = |k: usize| a[k].max(b[k]) < c[k].min(d[k]) || c[k].max(d[k]) < a[k].min(b[k]);
            if apart(0) || apart(1) {
                continue;
            }
            let (r, s) = ([b[0] - a[0], b[1] - a[1]], [d[0] - c[0], d[1] - c[1]]);
            let cross = r[0] * s[1] - r[1] * s[0];
            let size = (r[0] * r[0] + r[1] * r[1]).sqrt() * (s[0] * s[0] + s[1] * s[1]).sqrt();
            let w = [c[0] - a[0], c[1] - a[1]];
            if cross.abs() <= 1e-12 * size {
                // Parallel shadows cross nowhere unless they lie on each other.
                if size == 0.0 || (w[0] * r[1] - w[1] * r[0]).abs() <= 1e-12 * size {
                    return None;
                }
                continue;
            }
            let t = (w[0] * s[1] - w[1] * s[0]) / cross;
            let q = (w[0] * r[1] - w[1] * r[0]) / cross;
            let range = -CLEAR..=1.0 + CLEAR;
            if !(range.contains(&t) && range.contains(&q)) {
                continue;
            }
            let clear = CLEAR..=1.0 - CLEAR;
            let (height, other) = (a[2] + t * (b[2] - a[2]), c[2] + q * (d[2] - c[2]));
            if !(clear.contains(&t) && clear.contains(&q)) || height == other {
                return None;
            }
            let (here, there) = (i as f64 + t, j as f64 + q);
            let (above, below) = if height > other { (here, there) } else { (there, here) };
            crossings.push(Crossing { above, below });
        }
    }
    Some(coloring_determinant(&crossings))
}

fn coloring_determinant(crossings: &[Crossing]) -> u64 {
    let n = crossings.len();
    if n < 3 {
        // Two crossings can be undone.
        return 1;
    }
    let mut ends: Vec<f64> = crossings.iter().map(|crossing| crossing.below).collect();
    ends.sort_by(f64::total_cmp);
    // Arc k runs from end k − 1 to end k; the last one goes on as the first.
    let arc = |place: f64| ends.partition_point(|&end| end < place) % n;
    let mut matrix = vec![vec![0_i64; n]; n];
    for (row, crossing) in matrix.iter_mut().zip(crossings) {
        let below = arc(crossing.below);
        row[arc(crossing.above)] += 2;
        row[below] -= 1;
        row[(below + 1) % n] -= 1;
    }
    matrix.pop();
    for row in &mut matrix {
        row.pop();
    }
    let residue = determinant(matrix);
    residue.min(PRIME - residue) as u64
}

/// Modulo the prime, which is larger than twice any determinant of a line that fits into a scene.
fn determinant(mut matrix: Vec<Vec<i64>>) -> i64 {
    let n = matrix.len();
    let mut product = 1_i64;
    for k in 0..n {
        for row in &mut matrix[k..] {
            for value in row.iter_mut() {
                *value = value.rem_euclid(PRIME);
            }
        }
        let Some(pivot) = (k..n).find(|&row| matrix[row][k] != 0) else { return 0 };
        if pivot != k {
            matrix.swap(k, pivot);
            product = PRIME - product;
        }
        let above = matrix[k].clone();
        product = product * above[k] % PRIME;
        let inverse = power(above[k], PRIME - 2);
        for row in &mut matrix[k + 1..] {
            let factor = row[k] * inverse % PRIME;
            for (value, a) in row.iter_mut().zip(&above).skip(k) {
                *value = (*value - factor * a % PRIME) % PRIME;
            }
        }
    }
    product.rem_euclid(PRIME)
}

fn power(mut base: i64, mut exponent: i64) -> i64 {
    let mut result = 1;
    while exponent > 0 {
        if exponent & 1 == 1 {
            result = result * base % PRIME;
        }
        base = base * base % PRIME;
        exponent >>= 1;
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::TAU;

    /// The torus knot that winds p times round the axis and q times round the tube.
    fn torus_knot(p: f64, q: f64, n: usize) -> Vec<[f64; 3]> {
        (0..n)
            .map(|i| {
                let t = TAU * i as f64 / n as f64;
                let r = 2.0 + (q * t).cos();
                [r * (p * t).cos(), r * (p * t).sin(), (q * t).sin()]
            })
            .collect()
    }

    /// Determinants from tables of knots (Rolfsen): 3₁, 5₁, 7₁ have 3, 5, 7; 4₁ has 5; 8₁₉, the torus knot (3, 4), has 3.
    #[test]
    fn determinants_of_the_tables() {
        for (p, q, expected) in [(2.0, 3.0, 3), (2.0, 5.0, 5), (2.0, 7.0, 7), (3.0, 4.0, 3), (3.0, 2.0, 3)] {
            assert_eq!(knot_determinant(&torus_knot(p, q, 180)), Some(expected), "({p}, {q})");
        }
        let figure_eight: Vec<[f64; 3]> = (0..200)
            .map(|i| {
                let t = TAU * f64::from(i) / 200.0;
                let r = 2.0 + (2.0 * t).cos();
                [r * (3.0 * t).cos(), r * (3.0 * t).sin(), (4.0 * t).sin()]
            })
            .collect();
        assert_eq!(knot_determinant(&figure_eight), Some(5));
    }

    #[test]
    fn unknotted_lines_have_one() {
        let circle: Vec<[f64; 3]> = (0..40)
            .map(|i| f64::from(i) * TAU / 40.0)
            .map(|t| [t.cos(), t.sin(), 0.1 * (5.0 * t).sin()])
            .collect();
        assert_eq!(knot_determinant(&circle), Some(1));
        // A helix whose ends are pulled: many crossings, no knot.
        let helix: Vec<[f64; 3]> =
            (0..300).map(|i| 0.1 * f64::from(i)).map(|t| [t.cos(), t.sin(), 0.05 * t]).collect();
        assert_eq!(open_knot_determinant(&helix), Some(1));
        assert_eq!(knot_determinant(&circle[..2]), None);
        assert_eq!(open_knot_determinant(&[[0.0; 3]; 4]), None);
    }

    #[test]
    fn an_open_knot_is_that_of_its_closed_form() {
        // A trefoil cut open, its ends led outwards.
        let mut open = torus_knot(2.0, 3.0, 180);
        open.rotate_left(10);
        let (a, b) = (open[0], open[179]);
        open.insert(0, a.map(|x| 3.0 * x));
        open.push([3.0 * b[0] + 1.0, 3.0 * b[1] + 2.0, 3.0 * b[2]]);
        assert_eq!(open_knot_determinant(&open), Some(3));
    }
}
