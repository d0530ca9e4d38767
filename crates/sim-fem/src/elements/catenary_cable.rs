//! A whole hanging cable between two nodes, exact.

use super::{
    Element, ElementError, ElementInfo, ElementSample, LocalMatrix, MassKind, MemberResult, bar_mass,
    relative,
};
use crate::material::{Material, Section, ValueError, finite, positive};
use crate::structure::Magnitudes;
use nalgebra::{Matrix2, Matrix3, Vector2, Vector3};

/// Registry entry.
pub const INFO: ElementInfo = ElementInfo {
    id: "catenary_cable",
    summary: "whole elastic cable between two nodes under its own weight, exact",
    carries_weight: true,
    planar: false,
    grounded: false,
    finite_rotations: false,
    sample,
};

/// An elastic cable of given unstretched length that hangs between its nodes under its own weight.
///
/// With H the horizontal and V the vertical component of tension, the span of the unstretched length L₀ is
/// x = H L₀/EA + (H/w)(asinh(V₂/H) − asinh(V₁/H)), z = (V₂² − V₁²)/(2 w EA) + (T₂ − T₁)/w with V₂ = V₁ + w L₀
/// (Irvine, Cable Structures, 1981). The pair (H, V₁) minimises the complementary energy, which is convex, so that a
/// damped Newton method finds it from any start.
///
/// Its weight is part of it: do not add gravity loads for it. "Strain energy" is elastic energy plus the height of its
/// weight above the first node's reference position.
///
/// # Limitations
/// Weight acts along one fixed direction; ends above one another are refused (H = 0 has no tangent). The mass matrix is
/// that of a straight bar: dynamics of the sag itself needs several elements.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CatenaryCable {
    axial_stiffness: f64,
    area: f64,
    strength: Option<f64>,
    line_density: f64,
    unstretched_length: f64,
    gravity: Vector3<f64>,
}

/// Equilibrium of a cable in its vertical plane.
#[derive(Clone, Copy, Debug)]
struct Shape {
    /// Horizontal tension in N.
    h: f64,
    /// Vertical tension at the first end in N, positive when tension rises along the cable.
    v1: f64,
    /// Flexibility ∂(x, z)/∂(H, V₁) in m/N.
    flexibility: Matrix2<f64>,
}

impl CatenaryCable {
    /// A cable of unstretched length `unstretched_length` in m under gravity `gravity` in m/s².
    ///
    /// # Errors
    /// [`ValueError`] naming the field out of range.
    pub fn new(
        material: &Material,
        section: &Section,
        unstretched_length: f64,
        gravity: [f64; 3],
    ) -> Result<Self, ValueError> {
        material.validate()?;
        let area = section.properties()?.area;
        positive("unstretched_length", unstretched_length)?;
        for component in gravity {
            finite("gravity", component)?;
        }
        let cable = Self {
            axial_stiffness: material.youngs_modulus * area,
            area,
            strength: material.strength,
            line_density: material.density * area,
            unstretched_length,
            gravity: gravity.into(),
        };
        positive("weight per length (density × area × gravity)", cable.weight())?;
        Ok(cable)
    }

    /// Weight in N per unstretched m.
    fn weight(&self) -> f64 {
        self.line_density * self.gravity.norm()
    }

    /// Splits a vector between the ends into horizontal direction, span and rise.
    fn split(&self, d: &Vector3<f64>) -> (Vector3<f64>, f64, f64) {
        let up = -self.gravity.normalize();
        let rise = up.dot(d);
        let horizontal = d - up * rise;
        let span = horizontal.norm();
        (horizontal / span, span, rise)
    }

    /// x and z spanned by the cable with end tension (H, V₁), and their derivatives.
    ///
    /// All differences are formed so that a light cable (w L₀ ≪ H) loses no digits.
    fn spanned(&self, h: f64, v1: f64) -> (Vector2<f64>, Matrix2<f64>) {
        let (ea, l0, wl) =
            (self.axial_stiffness, self.unstretched_length, self.weight() * self.unstretched_length);
        let v2 = v1 + wl;
        let (t1, t2) = (h.hypot(v1), h.hypot(v2));
        // Mean of V over T; T₁ − V₁ mean_sine; and (asinh(V₂/H) − asinh(V₁/H))/(w L₀/H), both finite as w → 0.
        let mean_sine = (v1 + v2) / (t1 + t2);
        let delta = wl / h;
        let sine_gap = (h * h + product_gap(h, v1, v2)) / (t1 + t2);
        let argument = delta * sine_gap / h;
        let log_ratio = if argument.abs() < 1e-300 { 1.0 / t1 } else { argument.asinh() / wl };
        let position = Vector2::new(h * l0 * (1.0 / ea + log_ratio), l0 * (0.5 * (v1 + v2) / ea + mean_sine));
        // ∂x/∂H = L₀/EA + L₀·log_ratio + (V₁/T₁ − V₂/T₂)/w; ∂x/∂V = ∂z/∂H = H (1/T₂ − 1/T₁)/w; ∂z/∂V = L₀/EA + (V₂/T₂ − V₁/T₁)/w.
        // 1/T₂ − 1/T₁ = −w L₀ (V₁+V₂)/(T₁T₂(T₁+T₂)); V₂/T₂ − V₁/T₁ = w L₀ sine_gap/(T₁T₂).
        let across = -h * l0 * (v1 + v2) / (t1 * t2 * (t1 + t2));
        let sine_change = l0 * sine_gap / (t1 * t2);
        let along = l0 / ea + l0 * log_ratio - sine_change;
        (position, Matrix2::new(along, across, across, l0 / ea + sine_change))
    }

    /// Complementary energy minus the work of the ends: convex in (H, V₁), stationary at equilibrium.
    fn complementary(&self, h: f64, v1: f64, span: f64, rise: f64) -> f64 {
        let (elastic, tension_integral) = self.integrals(h, v1);
        elastic + tension_integral - h * span - v1 * rise
    }

    /// ∫T²/(2EA) ds and ∫T ds.
    fn integrals(&self, h: f64, v1: f64) -> (f64, f64) {
        let (l0, w) = (self.unstretched_length, self.weight());
        let v2 = v1 + w * l0;
        let square = l0 * (h * h + (v1 * v1 + v1 * v2 + v2 * v2) / 3.0);
        let tension = if w * l0 < 1e-3 * h.hypot(v1) {
            // Simpson's rule: error of relative order (w L₀/T)⁴.
            let middle = h.hypot(0.5 * (v1 + v2));
            l0 / 6.0 * (h.hypot(v1) + 4.0 * middle + h.hypot(v2))
        } else {
            (v2 * h.hypot(v2) - v1 * h.hypot(v1) + h * h * ((v2 / h).asinh() - (v1 / h).asinh())) / (2.0 * w)
        };
        (square / (2.0 * self.axial_stiffness), tension)
    }

    /// Solves for the end tension; none when the span is not positive or Newton does not get there.
    fn shape(&self, span: f64, rise: f64) -> Option<Shape> {
        if !(span > 0.0 && span.is_finite() && rise.is_finite()) {
            return None;
        }
        let (l0, w) = (self.unstretched_length, self.weight());
        let chord = span.hypot(rise);
        // Jayaraman & Knudson, Comput. Struct. 14 (1981): start from the inextensible parabola.
        let lambda =
            if l0 > chord { (3.0 * ((l0 * l0 - rise * rise) / (span * span) - 1.0)).sqrt() } else { 0.2 };
        let mut h = w * span / (2.0 * lambda.max(1e-3));
        let mut v1 = 0.5 * w * (rise / lambda.tanh().max(1e-3) - l0);
        let scale = l0.max(chord);
        for _ in 0..200 {
            let (position, flexibility) = self.spanned(h, v1);
            let miss = position - Vector2::new(span, rise);
            let step = flexibility.try_inverse()? * -miss;
            if miss.amax() <= 4.0 * f64::EPSILON * scale || step.norm() <= 4.0 * f64::EPSILON * h.hypot(v1) {
                return Some(Shape { h, v1, flexibility });
            }
            let mut fraction = 1.0_f64;
            if step.x < 0.0 {
                fraction = fraction.min(0.9 * h / -step.x);
            }
            // Near the solution the energy no longer tells two points apart; the full step is then taken.
            if miss.amax() > 1e-6 * scale {
                let here = self.complementary(h, v1, span, rise);
                let slope = miss.dot(&step);
                while self.complementary(h + fraction * step.x, v1 + fraction * step.y, span, rise)
                    > here + 1e-4 * fraction * slope
                {
                    fraction *= 0.5;
                    if fraction < 1e-12 {
                        return None;
                    }
                }
            }
            h += fraction * step.x;
            v1 += fraction * step.y;
        }
        None
    }

    /// Tension in N at both ends for displacements `u`; none where no equilibrium was found.
    #[must_use]
    pub fn end_tensions(&self, x: &[Vector3<f64>], u: &[f64]) -> Option<[f64; 2]> {
        let (_, span, rise) = self.split(&(x[1] - x[0] + relative(u)));
        let shape = self.shape(span, rise)?;
        let v2 = shape.v1 + self.weight() * self.unstretched_length;
        Some([shape.h.hypot(shape.v1), shape.h.hypot(v2)])
    }

    /// Position in m of the material point at `fraction` of the unstretched length, seen from the displaced first end.
    #[must_use]
    pub fn curve(&self, x: &[Vector3<f64>], u: &[f64], fraction: f64) -> Option<Vector3<f64>> {
        let d = x[1] - x[0] + relative(u);
        let (direction, span, rise) = self.split(&d);
        let shape = self.shape(span, rise)?;
        let part = Self { unstretched_length: fraction * self.unstretched_length, ..*self };
        let (position, _) = part.spanned(shape.h, shape.v1);
        Some(direction * position.x - self.gravity.normalize() * position.y)
    }
}

/// T₁T₂ − V₁V₂ with T² = H² + V², without cancellation.
fn product_gap(h: f64, v1: f64, v2: f64) -> f64 {
    let product = h.hypot(v1) * h.hypot(v2);
    if v1 * v2 <= 0.0 {
        return product - v1 * v2;
    }
    h * h * (h * h + v1 * v1 + v2 * v2) / (product + v1 * v2)
}

impl Element for CatenaryCable {
    fn id(&self) -> &'static str {
        INFO.id
    }

    fn is_linear(&self) -> bool {
        false
    }

    fn validate(&self, x: &[Vector3<f64>]) -> Result<(), ElementError> {
        super::check_length(x)?;
        let d = x[1] - x[0];
        let (_, span, _) = self.split(&d);
        if span <= 1e-9 * d.norm() {
            return Err(ElementError::VerticalCatenary { span });
        }
        Ok(())
    }

    fn strain_energy(&self, x: &[Vector3<f64>], u: &[f64]) -> f64 {
        let (_, span, rise) = self.split(&(x[1] - x[0] + relative(u)));
        let Some(Shape { h, v1, .. }) = self.shape(span, rise) else { return f64::NAN };
        let (w, l0) = (self.weight(), self.unstretched_length);
        let (elastic, tension_integral) = self.integrals(h, v1);
        // Height above the first end: w ∫ z ds with z = (V² − V₁²)/(2wEA) + (T − T₁)/w.
        let v2 = v1 + w * l0;
        let mean_square = (v1 * v1 + v1 * v2 + v2 * v2) / 3.0;
        let height =
            l0 * (mean_square - v1 * v1) / (2.0 * self.axial_stiffness) + tension_integral - l0 * h.hypot(v1);
        let lift = -self.gravity.normalize().dot(&Vector3::new(u[0], u[1], u[2]));
        elastic + height + w * l0 * lift
    }

    fn internal_force(&self, x: &[Vector3<f64>], u: &[f64], force: &mut [f64]) {
        let (direction, span, rise) = self.split(&(x[1] - x[0] + relative(u)));
        let Some(Shape { h, v1, .. }) = self.shape(span, rise) else { return force.fill(f64::NAN) };
        let up = -self.gravity.normalize();
        let first = -direction * h - up * v1;
        let second = direction * h + up * (v1 + self.weight() * self.unstretched_length);
        force[..3].copy_from_slice(first.as_slice());
        force[3..].copy_from_slice(second.as_slice());
    }

    fn tangent(&self, x: &[Vector3<f64>], u: &[f64], tangent: &mut LocalMatrix) {
        let (direction, span, rise) = self.split(&(x[1] - x[0] + relative(u)));
        let up = -self.gravity.normalize();
        tangent.clear(6);
        let stiffness = self.shape(span, rise).and_then(|s| s.flexibility.try_inverse().map(|k| (s.h, k)));
        let block = match stiffness {
            Some((h, k)) => {
                let aside = Matrix3::identity() - direction * direction.transpose() - up * up.transpose();
                direction * direction.transpose() * k[(0, 0)]
                    + (direction * up.transpose() + up * direction.transpose()) * k[(0, 1)]
                    + up * up.transpose() * k[(1, 1)]
                    + aside * (h / span)
            }
            None => Matrix3::from_element(f64::NAN),
        };
        tangent.add_pair(0, 1, &block);
    }

    fn mass_matrix(&self, x: &[Vector3<f64>], kind: MassKind, mass: &mut LocalMatrix) {
        bar_mass(self.total_mass(x), kind, mass);
    }

    fn total_mass(&self, _x: &[Vector3<f64>]) -> f64 {
        self.line_density * self.unstretched_length
    }

    fn carries_weight(&self) -> bool {
        true
    }

    fn magnitudes(&self) -> Option<Magnitudes> {
        let (youngs_modulus, density) = (self.axial_stiffness / self.area, self.line_density / self.area);
        Some(Magnitudes { youngs_modulus, density, area: self.area })
    }

    fn point(&self, x: &[Vector3<f64>], u: &[f64], fraction: f64) -> Vector3<f64> {
        let first = x[0] + Vector3::new(u[0], u[1], u[2]);
        // Without an equilibrium there is no curve to show.
        self.curve(x, u, fraction).map_or(first, |point| first + point)
    }

    fn pieces(&self) -> usize {
        24
    }

    fn member_result(&self, x: &[Vector3<f64>], u: &[f64]) -> MemberResult {
        let (_, span, rise) = self.split(&(x[1] - x[0] + relative(u)));
        let Some(shape) = self.shape(span, rise) else { return MemberResult::default() };
        let v2 = shape.v1 + self.weight() * self.unstretched_length;
        let (_, tension_integral) = self.integrals(shape.h, shape.v1);
        let axial_force = tension_integral / self.unstretched_length;
        let stress = shape.h.hypot(shape.v1).max(shape.h.hypot(v2)) / self.area;
        let utilisation = self.strength.map(|strength| stress / strength);
        let strain = axial_force / self.axial_stiffness;
        MemberResult { axial_force, strain, stress, utilisation, ..MemberResult::default() }
    }
}

fn sample() -> ElementSample {
    let material = Material::new(2e6).with_density(1100.0);
    let element = CatenaryCable::new(&material, &Section::area(2e-4), 1.6, [0.0, 0.0, -9.81])
        .expect("sample values are in range");
    let x = vec![Vector3::new(0.3, -0.2, 0.1), Vector3::new(1.1, 0.5, 0.4)];
    let u = vec![0.1, -0.2, 0.05, 0.2, 0.13, 0.07];
    ElementSample { element: Box::new(element), x, u, mass: 1100.0 * 2e-4 * 1.6 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(value: f64, expected: f64, tolerance: f64) {
        assert!((value - expected).abs() <= tolerance * expected.abs(), "{value} instead of {expected}");
    }

    /// Cases B-catenary-elastic-level and B-catenary-elastic-soft.
    #[test]
    fn level_cables_meet_the_reference() {
        for (span, l0, w, ea, h, end, middle_z) in [
            (100.0, 105.0, 20.0, 50000.0, 1401.701050959015, 1751.3611381607184, -18.034254360085175),
            (10.0, 9.0, 12.0, 400.0, 73.65427386441229, 91.32881286042125, -1.776628249667414),
        ] {
            let material = Material::new(ea).with_density(w / 9.81);
            let cable = CatenaryCable::new(&material, &Section::area(1.0), l0, [0.0, 0.0, -9.81]).unwrap();
            let x = [Vector3::zeros(), Vector3::new(span, 0.0, 0.0)];
            let mut f = [0.0; 6];
            cable.internal_force(&x, &[0.0; 6], &mut f);
            close(f[3], h, 1e-10);
            close(f[5], w * l0 / 2.0, 1e-10);
            let tensions = cable.end_tensions(&x, &[0.0; 6]).unwrap();
            close(tensions[0], end, 1e-10);
            close(tensions[1], end, 1e-10);
            let middle = cable.curve(&x, &[0.0; 6], 0.5).unwrap();
            close(middle.z, middle_z, 1e-10);
            close(middle.x, span / 2.0, 1e-10);
        }
    }

    /// A light taut cable is a bar: no digits lost as the weight vanishes.
    #[test]
    fn light_taut_cable_is_a_bar() {
        let material = Material::new(1e6).with_density(1e-9);
        let cable = CatenaryCable::new(&material, &Section::area(1.0), 1.0, [0.0, 0.0, -9.81]).unwrap();
        let x = [Vector3::zeros(), Vector3::new(0.6, 0.0, 0.9)];
        let length = 0.6_f64.hypot(0.9);
        let mut f = [0.0; 6];
        cable.internal_force(&x, &[0.0; 6], &mut f);
        close(Vector3::new(f[3], f[4], f[5]).norm(), 1e6 * (length - 1.0), 1e-12);
    }

    #[test]
    fn hard_starts_converge() {
        let material = Material::new(1e9).with_density(1000.0);
        for (l0, span, rise) in
            [(10.0, 0.01, 0.0), (10.0, 9.99999, 0.0), (10.0, 1e-3, 9.0), (10.0, 3.0, -9.6), (1.0, 5.0, 40.0)]
        {
            let cable = CatenaryCable::new(&material, &Section::area(1e-4), l0, [0.0, 0.0, -9.81]).unwrap();
            let shape = cable.shape(span, rise).unwrap_or_else(|| panic!("{l0} {span} {rise}"));
            let (position, _) = cable.spanned(shape.h, shape.v1);
            assert!((position - Vector2::new(span, rise)).amax() < 1e-12 * l0.max(rise.abs()));
        }
        let cable = CatenaryCable::new(&material, &Section::area(1e-4), 1.0, [0.0, 0.0, -9.81]).unwrap();
        let vertical = [Vector3::zeros(), Vector3::new(0.0, 0.0, 0.5)];
        assert!(matches!(cable.validate(&vertical), Err(ElementError::VerticalCatenary { .. })));
    }
}
