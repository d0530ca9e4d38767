//! Closest points of points, segments and triangles.

use nalgebra::Vector3;

/// Barycentric weights of the point of triangle abc closest to `p`. A triangle without area is treated as its edges.
pub fn on_triangle(p: Vector3<f64>, a: Vector3<f64>, b: Vector3<f64>, c: Vector3<f64>) -> [f64; 3] {
    let (ab, ac) = (b - a, c - a);
    let normal = ab.cross(&ac);
    let area = normal.norm_squared();
    if area > 0.0 {
        // Signed areas of the three parts of the triangle seen from the foot of p.
        let wc = ab.cross(&(p - a)).dot(&normal) / area;
        let wb = (p - a).cross(&ac).dot(&normal) / area;
        let wa = 1.0 - wb - wc;
        if wa >= 0.0 && wb >= 0.0 && wc >= 0.0 {
            return [wa, wb, wc];
        }
    }
    let edges = [(a, b, [0, 1]), (b, c, [1, 2]), (c, a, [2, 0])];
    let mut best = (f64::INFINITY, [1.0, 0.0, 0.0]);
    for (from, to, [i, j]) in edges {
        let s = on_segment(p, from, to);
        let distance = (p - (from + (to - from) * s)).norm_squared();
        if distance < best.0 {
            let mut weights = [0.0; 3];
            weights[i] = 1.0 - s;
            weights[j] = s;
            best = (distance, weights);
        }
    }
    best.1
}

/// Place from 0 (at `a`) to 1 (at `b`) of the point of the segment closest to `p`.
pub fn on_segment(p: Vector3<f64>, a: Vector3<f64>, b: Vector3<f64>) -> f64 {
    let e = b - a;
    let length_squared = e.norm_squared();
    if length_squared > 0.0 { ((p - a).dot(&e) / length_squared).clamp(0.0, 1.0) } else { 0.0 }
}

/// Places (0 to 1) of the closest points of segments ab and cd. Parallel segments take the middle of their overlap or, if
/// there is none, their closest ends.
pub fn of_segments(a: Vector3<f64>, b: Vector3<f64>, c: Vector3<f64>, d: Vector3<f64>) -> [f64; 2] {
    let (u, v, w) = (b - a, d - c, a - c);
    let (uu, vv, uv) = (u.norm_squared(), v.norm_squared(), u.dot(&v));
    let cross = u.cross(&v).norm_squared();
    // Candidates: the interior minimum, and the four ends. The problem is convex, so the least of them is the minimum.
    let mut best = (f64::INFINITY, [0.0, 0.0]);
    let mut consider = |s: f64, t: f64| {
        let distance = (w + u * s - v * t).norm_squared();
        if distance < best.0 {
            best = (distance, [s, t]);
        }
    };
    // sin² of the angle at rounding level: parallel.
    if cross > 1e-20 * uu * vv {
        let (uw, vw) = (u.dot(&w), v.dot(&w));
        let s = (uv * vw - vv * uw) / cross;
        let t = (uu * vw - uv * uw) / cross;
        if (0.0..=1.0).contains(&s) && (0.0..=1.0).contains(&t) {
            consider(s, t);
        }
    } else if uu > 0.0 && vv > 0.0 {
        let (c_on_ab, d_on_ab) = ((c - a).dot(&u) / uu, (d - a).dot(&u) / uu);
        let (low, high) = (c_on_ab.min(d_on_ab).max(0.0), c_on_ab.max(d_on_ab).min(1.0));
        if low <= high {
            let s = 0.5 * (low + high);
            consider(s, on_segment(a + u * s, c, d));
        }
    }
    consider(0.0, on_segment(a, c, d));
    consider(1.0, on_segment(b, c, d));
    consider(on_segment(c, a, b), 0.0);
    consider(on_segment(d, a, b), 1.0);
    best.1
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRIANGLE: [[f64; 3]; 3] = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.1], [0.2, 0.9, 0.0]];

    #[test]
    fn f_point_triangle_distance() {
        let [a, b, c] = TRIANGLE.map(Vector3::from);
        let cases = [
            (
                [0.3, 0.3, 0.5],
                // The first is one minus the others; the reference prints it with a digit wrong (0.39547953553...).
                [0.39547953573610267, 0.28283445326817347, 0.32168601099572386],
                [0.34717165546731826, 0.2895174098961515, 0.02828344532681735],
                0.4741851513149166,
            ),
            (
                [0.9, 0.8, 0.2],
                [0.0, 0.4589041095890411, 0.541095890410959],
                [0.5671232876712329, 0.48698630136986304, 0.04589041095890411],
                0.48221804878637886,
            ),
            ([-0.4, -0.3, 0.1], [1.0, 0.0, 0.0], [0.0; 3], 0.5099019513592785),
        ];
        for (p, weights, point, distance) in cases {
            let p = Vector3::from(p);
            let found = on_triangle(p, a, b, c);
            let at = a * found[0] + b * found[1] + c * found[2];
            for k in 0..3 {
                assert!((found[k] - weights[k]).abs() < 1e-13, "{found:?}");
                assert!((at[k] - point[k]).abs() < 1e-13, "{at}");
            }
            assert!(((p - at).norm() - distance).abs() < 1e-13);
        }
    }

    #[test]
    fn d05_parallel_and_collinear_edges() {
        let v = Vector3::new;
        let (a, b) = (v(0.0, 0.0, 0.0), v(1.0, 0.0, 0.0));
        for (c, d) in [(v(2.0, 1e-9, 0.0), v(3.0, 0.0, 0.0)), (v(0.0, 1.0, 0.0), v(1.0, 1.0, 0.0))] {
            let [s, t] = of_segments(a, b, c, d);
            assert!((0.0..=1.0).contains(&s) && (0.0..=1.0).contains(&t));
            let distance = (a + (b - a) * s - c - (d - c) * t).norm();
            assert!((distance - 1.0).abs() < 1e-9, "{distance}");
        }
        // Degenerate segments are points.
        assert_eq!(of_segments(a, a, b, b), [0.0, 0.0]);
    }

    /// Against a fine search.
    #[test]
    fn segments_are_closest_where_a_search_says() {
        let mut next = 11_u32;
        let mut random = || {
            next = next.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            f64::from(next >> 8) / f64::from(1 << 24)
        };
        for _ in 0..200 {
            let [a, b, c, d] = std::array::from_fn(|_| Vector3::new(random(), random(), random()));
            let at = |s: f64, t: f64| (a + (b - a) * s - c - (d - c) * t).norm();
            let [s, t] = of_segments(a, b, c, d);
            let mut least = f64::INFINITY;
            for i in 0..=60 {
                for j in 0..=60 {
                    least = least.min(at(f64::from(i) / 60.0, f64::from(j) / 60.0));
                }
            }
            assert!(at(s, t) <= least + 1e-12, "{} {least}", at(s, t));
        }
    }
}
