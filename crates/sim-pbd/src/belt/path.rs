//! The taut path of a belt around circles.

use nalgebra::Vector2;
use std::f64::consts::TAU;

/// Circles without a belt path.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PathError {
    /// Fewer than two circles.
    #[error("a belt needs at least 2 pulleys, got {count}")]
    TooFew {
        /// Number found.
        count: usize,
    },
    /// One circle lies within the next, so that they have no common outer tangent.
    #[error(
        "pulleys {from} and {to} have no common tangent: centers {distance} m apart, radii differ by {difference} m"
    )]
    NoTangent {
        /// First pulley.
        from: usize,
        /// Second pulley.
        to: usize,
        /// Distance of the centers in m.
        distance: f64,
        /// |R − r| in m.
        difference: f64,
    },
}

/// Arcs and spans of a belt that runs counter-clockwise around circles. Arc i lies on circle i and is followed by span i to
/// circle i + 1.
#[derive(Clone, Debug, PartialEq)]
pub struct BeltPath {
    circles: Vec<(Vector2<f64>, f64)>,
    /// Angle in rad at which the belt meets circle i.
    entry: Vec<f64>,
    wrap: Vec<f64>,
    span: Vec<f64>,
}

impl BeltPath {
    /// The path around circles (center and radius in m), each touched from inside the loop.
    ///
    /// # Errors
    /// [`PathError`].
    pub fn around(circles: &[(Vector2<f64>, f64)]) -> Result<Self, PathError> {
        let count = circles.len();
        if count < 2 {
            return Err(PathError::TooFew { count });
        }
        // Angle of the outer normal along the span from circle i to the next.
        let mut normal = Vec::with_capacity(count);
        let mut span = Vec::with_capacity(count);
        for from in 0..count {
            let to = (from + 1) % count;
            let ((c0, r0), (c1, r1)) = (circles[from], circles[to]);
            let d = c1 - c0;
            let (distance, difference) = (d.norm(), (r0 - r1).abs());
            if distance <= difference || !distance.is_finite() {
                return Err(PathError::NoTangent { from, to, distance, difference });
            }
            normal.push(d.y.atan2(d.x) - ((r0 - r1) / distance).acos());
            span.push((distance * distance - difference * difference).sqrt());
        }
        let entry: Vec<f64> = (0..count).map(|i| normal[(i + count - 1) % count]).collect();
        let wrap = (0..count).map(|i| (normal[i] - entry[i]).rem_euclid(TAU)).collect();
        Ok(Self { circles: circles.to_vec(), entry, wrap, span })
    }

    /// Whole length in m.
    pub fn length(&self) -> f64 {
        self.arcs().sum::<f64>() + self.span.iter().sum::<f64>()
    }

    fn arcs(&self) -> impl Iterator<Item = f64> + '_ {
        self.wrap.iter().zip(&self.circles).map(|(wrap, circle)| wrap * circle.1)
    }

    /// Wrap angle in rad of every circle.
    pub fn wraps(&self) -> &[f64] {
        &self.wrap
    }

    /// Free length in m of every span.
    pub fn spans(&self) -> &[f64] {
        &self.span
    }

    /// Place and direction at arc length `s` (m) from the entry of circle 0.
    pub fn at(&self, s: f64) -> (Vector2<f64>, Vector2<f64>) {
        let mut rest = s.rem_euclid(self.length());
        for (i, arc) in self.arcs().enumerate() {
            let (center, radius) = self.circles[i];
            let on_circle = |angle: f64| {
                let radial = Vector2::new(angle.cos(), angle.sin());
                (center + radial * radius, Vector2::new(-radial.y, radial.x))
            };
            if rest < arc {
                return on_circle(self.entry[i] + rest / radius);
            }
            rest -= arc;
            if rest < self.span[i] || i + 1 == self.circles.len() {
                let (place, tangent) = on_circle(self.entry[i] + self.wrap[i]);
                return (place + tangent * rest, tangent);
            }
            rest -= self.span[i];
        }
        unreachable!("the loop returns at its last circle")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn c_belt_length_two_pulley() {
        let circles = [(Vector2::new(0.0, 0.0), 0.25), (Vector2::new(0.8, 0.0), 0.1)];
        let path = BeltPath::around(&circles).unwrap();
        assert!((path.length() - 2.72776570915922).abs() < 1e-12, "{}", path.length());
        assert!((path.wraps()[0] - 3.5188254259406015).abs() < 1e-12, "{:?}", path.wraps());
        assert!((path.wraps()[1] - 2.764359881238985).abs() < 1e-12);
        assert!((path.spans()[0] - 0.7858116822750856).abs() < 1e-12);
        // Continuous, and at unit speed.
        let (mut before, _) = path.at(0.0);
        let step = path.length() / 1000.0;
        for i in 1..=1000 {
            let (here, tangent) = path.at(step * f64::from(i));
            let chord = (here - before).norm();
            assert!(chord <= step * (1.0 + 1e-9) && chord > 0.999 * step, "{i}: {chord} {step}");
            assert!(((here - before).normalize() - tangent).norm() < 0.03);
            before = here;
        }
    }

    #[test]
    fn impossible_paths_are_refused() {
        let nested = [(Vector2::new(0.0, 0.0), 0.5), (Vector2::new(0.1, 0.0), 0.1)];
        assert!(matches!(BeltPath::around(&nested), Err(PathError::NoTangent { from: 0, to: 1, .. })));
        assert!(matches!(BeltPath::around(&nested[..1]), Err(PathError::TooFew { count: 1 })));
    }
}
