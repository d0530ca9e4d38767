//! What straight beams share: local axes, section stiffness, and the matrices of one straight piece.

use crate::elements::{ElementError, LocalMatrix, MassKind};
use crate::material::{Material, Section, SectionProperties, ValueError, positive};
use crate::structure::Magnitudes;
use nalgebra::{Matrix3, Vector3};
use serde::{Deserialize, Serialize};

/// How the cross-section is turned about the member's axis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Orientation {
    /// Local z as close to global z as the member allows; for a member along global z, local z is global x reversed
    /// (local y is global y then).
    #[default]
    Upright,
    /// Local z lies in the plane of the member and this vector, on its side.
    Toward([f64; 3]),
}

impl Orientation {
    /// Local axes as rows: x along the member, y, z.
    ///
    /// # Errors
    /// [`ElementError::Orientation`] when the vector is zero or along the member.
    pub fn axes(self, direction: &Vector3<f64>) -> Result<Matrix3<f64>, ElementError> {
        let guide = match self {
            Self::Upright if direction.xy().norm() < 1e-6 => -Vector3::x() * direction.z.signum(),
            Self::Upright => Vector3::z(),
            Self::Toward(vector) => Vector3::from(vector),
        };
        let across = guide.cross(direction);
        if across.norm() <= 1e-9 * guide.norm() || !across.norm().is_finite() {
            return Err(ElementError::Orientation { vector: guide.into() });
        }
        let y = across.normalize();
        Ok(Matrix3::from_rows(&[direction.transpose(), y.transpose(), direction.cross(&y).transpose()]))
    }
}

/// Stiffness and inertia of a beam per unit of length.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BeamProperties {
    /// EA in N.
    pub axial: f64,
    /// GJ in N·m².
    pub torsion: f64,
    /// EI about local y in N·m².
    pub bending_y: f64,
    /// EI about local z in N·m².
    pub bending_z: f64,
    /// `GκA` along local y in N; infinite when rigid in shear.
    pub shear_y: f64,
    /// `GκA` along local z in N; infinite when rigid in shear.
    pub shear_z: f64,
    /// ρA in kg/m.
    pub line_density: f64,
    /// ρI about local y in kg·m.
    pub rotary_y: f64,
    /// ρI about local z in kg·m.
    pub rotary_z: f64,
    /// Section numbers, for stresses.
    pub section: SectionProperties,
    /// Strength in Pa, if any.
    pub strength: Option<f64>,
}

impl BeamProperties {
    /// From material and section, rigid in shear and without rotary inertia of bending (Euler-Bernoulli).
    ///
    /// # Errors
    /// [`ValueError`] naming the field out of range; bending and torsion need positive numbers.
    pub fn euler_bernoulli(material: &Material, section: &Section) -> Result<Self, ValueError> {
        let mut properties = Self::timoshenko(material, section)?;
        properties.shear_y = f64::INFINITY;
        properties.shear_z = f64::INFINITY;
        Ok(properties)
    }

    /// From material and section, with shear where the section has a shear area.
    ///
    /// # Errors
    /// As [`BeamProperties::euler_bernoulli`].
    pub fn timoshenko(material: &Material, section: &Section) -> Result<Self, ValueError> {
        material.validate()?;
        let section = section.properties()?;
        positive("inertia_y", section.inertia_y)?;
        positive("inertia_z", section.inertia_z)?;
        positive("torsion", section.torsion)?;
        let (e, g, rho) = (material.youngs_modulus, material.shear_modulus(), material.density);
        let shear = |area: f64| if area > 0.0 { g * area } else { f64::INFINITY };
        Ok(Self {
            axial: e * section.area,
            torsion: g * section.torsion,
            bending_y: e * section.inertia_y,
            bending_z: e * section.inertia_z,
            shear_y: shear(section.shear_area_y),
            shear_z: shear(section.shear_area_z),
            line_density: rho * section.area,
            rotary_y: rho * section.inertia_y,
            rotary_z: rho * section.inertia_z,
            section,
            strength: material.strength,
        })
    }

    /// Material and area, for a check of units.
    #[must_use]
    pub fn magnitudes(&self) -> Magnitudes {
        let area = self.section.area;
        Magnitudes { youngs_modulus: self.axial / area, density: self.line_density / area, area }
    }

    /// Shear parameter Φ = 12 EI/(GκA L²) of bending in the local x-y and x-z planes.
    #[must_use]
    pub fn shear_parameters(&self, length: f64) -> [f64; 2] {
        let phi = |bending: f64, shear: f64| 12.0 * bending / (shear * length * length);
        [phi(self.bending_z, self.shear_y), phi(self.bending_y, self.shear_z)]
    }
}

/// Local degrees of freedom of bending in a plane: deflection and rotation at both ends, and the sign of the rotation
/// that raises the deflection along x (+ in x-y about z, − in x-z about y).
const PLANES: [([usize; 4], f64); 2] = [([1, 5, 7, 11], 1.0), ([2, 4, 8, 10], -1.0)];

/// Stiffness of a straight beam of `length` in local axes.
pub fn local_stiffness(properties: &BeamProperties, length: f64, stiffness: &mut LocalMatrix) {
    stiffness.clear(12);
    two_by_two(stiffness, [0, 6], properties.axial / length, -properties.axial / length);
    two_by_two(stiffness, [3, 9], properties.torsion / length, -properties.torsion / length);
    let phi = properties.shear_parameters(length);
    for (plane, (dofs, sign)) in PLANES.iter().enumerate() {
        let bending = [properties.bending_z, properties.bending_y][plane];
        let (l, p) = (length, phi[plane]);
        let scale = bending / (l.powi(3) * (1.0 + p));
        let matrix = [
            [12.0, 6.0 * l, -12.0, 6.0 * l],
            [6.0 * l, (4.0 + p) * l * l, -6.0 * l, (2.0 - p) * l * l],
            [-12.0, -6.0 * l, 12.0, -6.0 * l],
            [6.0 * l, (2.0 - p) * l * l, -6.0 * l, (4.0 + p) * l * l],
        ];
        add_plane(stiffness, dofs, *sign, &matrix, scale);
    }
}

/// Geometric stiffness of a beam under axial force `tension` in N, from the slope of the same shape functions.
pub fn local_geometric_stiffness(
    properties: &BeamProperties,
    length: f64,
    tension: f64,
    out: &mut LocalMatrix,
) {
    out.clear(12);
    for (plane, (dofs, sign)) in PLANES.iter().enumerate() {
        let phi = properties.shear_parameters(length)[plane];
        let mut matrix = [[0.0; 4]; 4];
        integrate(length, |xi, weight| {
            let slope = slope(phi, length, xi);
            accumulate(&mut matrix, &slope, weight * tension);
        });
        add_plane(out, dofs, *sign, &matrix, 1.0);
    }
}

/// Mass of a beam in local axes; `rotary` adds the rotary inertia of bending.
///
/// Consistent matrices use the interdependent shape functions of Friedman & Kosmatka (Comput. Struct. 47, 1993), which
/// are the Hermite cubics when Φ = 0.
pub fn local_mass(
    properties: &BeamProperties,
    length: f64,
    kind: MassKind,
    rotary: bool,
    mass: &mut LocalMatrix,
) {
    mass.clear(12);
    let total = properties.line_density * length;
    let polar = (properties.rotary_y + properties.rotary_z) * length;
    if kind == MassKind::Lumped {
        // One number for all axes keeps the matrix diagonal in every frame: m L²/78 from the Hermite matrix.
        let rotation = (total * length * length / 78.0).max(polar / 2.0);
        for i in 0..12 {
            mass.add(i, i, if i % 6 < 3 { total / 2.0 } else { rotation });
        }
        return;
    }
    two_by_two(mass, [0, 6], total / 3.0, total / 6.0);
    two_by_two(mass, [3, 9], polar / 3.0, polar / 6.0);
    for (plane, (dofs, sign)) in PLANES.iter().enumerate() {
        let phi = properties.shear_parameters(length)[plane];
        let inertia = [properties.rotary_z, properties.rotary_y][plane];
        let mut matrix = [[0.0; 4]; 4];
        integrate(length, |xi, weight| {
            accumulate(&mut matrix, &deflection(phi, length, xi), weight * properties.line_density);
            if rotary {
                accumulate(&mut matrix, &rotation(phi, length, xi), weight * inertia);
            }
        });
        add_plane(mass, dofs, *sign, &matrix, 1.0);
    }
}

/// [`local_mass`] in global axes (`axes` holds the local axes as rows).
pub fn global_mass(
    properties: &BeamProperties,
    axes: &Matrix3<f64>,
    length: f64,
    kind: MassKind,
    rotary: bool,
    mass: &mut LocalMatrix,
) {
    if kind == MassKind::Lumped {
        // The same in every frame: turning it would only leave rounding off the diagonal.
        return local_mass(properties, length, kind, rotary, mass);
    }
    let mut local = LocalMatrix::zeros(12);
    local_mass(properties, length, kind, rotary, &mut local);
    to_global(axes, &local, mass);
}

/// Turns a matrix in local axes (rows of `axes`) into global axes.
pub fn to_global(axes: &Matrix3<f64>, local: &LocalMatrix, global: &mut LocalMatrix) {
    global.clear(12);
    for r in 0..4 {
        for c in 0..4 {
            global.add_block(r, c, &(axes.transpose() * local.block(r, c) * axes));
        }
    }
}

/// Turns twelve global values into local axes.
#[must_use]
pub fn to_local(axes: &Matrix3<f64>, global: &[f64]) -> [f64; 12] {
    let mut local = [0.0; 12];
    for (to, from) in local.chunks_exact_mut(3).zip(global.chunks_exact(3)) {
        to.copy_from_slice((axes * Vector3::new(from[0], from[1], from[2])).as_slice());
    }
    local
}

/// Deflection functions of (w₁, θ₁, w₂, θ₂) at ξ = x/L.
fn deflection(phi: f64, l: f64, xi: f64) -> [f64; 4] {
    let (x2, x3, s) = (xi * xi, xi * xi * xi, 1.0 / (1.0 + phi));
    [
        s * (2.0 * x3 - 3.0 * x2 - phi * xi + 1.0 + phi),
        s * l * (x3 - (2.0 + phi / 2.0) * x2 + (1.0 + phi / 2.0) * xi),
        s * (-2.0 * x3 + 3.0 * x2 + phi * xi),
        s * l * (x3 - (1.0 - phi / 2.0) * x2 - phi / 2.0 * xi),
    ]
}

/// Derivative of [`deflection`] along x.
fn slope(phi: f64, l: f64, xi: f64) -> [f64; 4] {
    let (x2, s) = (xi * xi, 1.0 / (1.0 + phi));
    [
        s / l * (6.0 * x2 - 6.0 * xi - phi),
        s * (3.0 * x2 - (4.0 + phi) * xi + 1.0 + phi / 2.0),
        s / l * (-6.0 * x2 + 6.0 * xi + phi),
        s * (3.0 * x2 - (2.0 - phi) * xi - phi / 2.0),
    ]
}

/// Rotation of the cross-section.
fn rotation(phi: f64, l: f64, xi: f64) -> [f64; 4] {
    let (x2, s) = (xi * xi, 1.0 / (1.0 + phi));
    [
        s / l * (6.0 * x2 - 6.0 * xi),
        s * (3.0 * x2 - (4.0 + phi) * xi + 1.0 + phi),
        s / l * (-6.0 * x2 + 6.0 * xi),
        s * (3.0 * x2 - (2.0 - phi) * xi),
    ]
}

/// Gauss' rule with four points: exact for the products of two cubics.
fn integrate(length: f64, mut term: impl FnMut(f64, f64)) {
    const INNER: (f64, f64) = (0.339_981_043_584_856_3, 0.652_145_154_862_546_1);
    const OUTER: (f64, f64) = (0.861_136_311_594_052_6, 0.347_854_845_137_453_85);
    for (point, weight) in [INNER, OUTER] {
        for sign in [-1.0, 1.0] {
            term(0.5 * (1.0 + sign * point), 0.5 * length * weight);
        }
    }
}

fn accumulate(matrix: &mut [[f64; 4]; 4], shape: &[f64; 4], weight: f64) {
    for (row, a) in matrix.iter_mut().zip(shape) {
        for (value, b) in row.iter_mut().zip(shape) {
            *value += weight * a * b;
        }
    }
}

fn add_plane(out: &mut LocalMatrix, dofs: &[usize; 4], sign: f64, matrix: &[[f64; 4]; 4], scale: f64) {
    let signs = [1.0, sign, 1.0, sign];
    for i in 0..4 {
        for j in 0..4 {
            out.add(dofs[i], dofs[j], scale * signs[i] * signs[j] * matrix[i][j]);
        }
    }
}

fn two_by_two(out: &mut LocalMatrix, dofs: [usize; 2], own: f64, other: f64) {
    for i in 0..2 {
        out.add(dofs[i], dofs[i], own);
        out.add(dofs[i], dofs[1 - i], other);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_are_right_handed_and_upright() {
        for direction in
            [Vector3::x(), -Vector3::y(), Vector3::z(), -Vector3::z(), Vector3::new(1.0, 2.0, -0.5)]
        {
            let axes = Orientation::Upright.axes(&direction.normalize()).unwrap();
            assert!((axes.determinant() - 1.0).abs() < 1e-14);
            assert!((axes * axes.transpose() - Matrix3::identity()).amax() < 1e-14);
            if direction.xy().norm() > 0.0 {
                assert!(axes[(2, 2)] > 0.0, "local z points up");
            }
        }
        assert!(Orientation::Toward([2.0, 0.0, 0.0]).axes(&Vector3::x()).is_err());
        assert!(Orientation::Toward([0.0; 3]).axes(&Vector3::x()).is_err());
    }

    /// Hermite mass and geometric stiffness against the printed matrices (any FE text).
    #[test]
    fn quadrature_gives_the_printed_matrices() {
        let section = Section::Rectangle { width: 0.02, height: 0.03 };
        let beam =
            BeamProperties::euler_bernoulli(&Material::new(2e11).with_density(7850.0), &section).unwrap();
        let l = 1.7;
        let m = beam.line_density * l / 420.0;
        let mut matrix = LocalMatrix::zeros(12);
        local_mass(&beam, l, MassKind::Consistent, false, &mut matrix);
        for (i, j, expected) in [
            (1, 1, 156.0 * m),
            (1, 5, 22.0 * l * m),
            (1, 7, 54.0 * m),
            (1, 11, -13.0 * l * m),
            (5, 5, 4.0 * l * l * m),
            (5, 11, -3.0 * l * l * m),
            (2, 4, -22.0 * l * m),
        ] {
            assert!((matrix.get(i, j) - expected).abs() < 1e-13 * m * 156.0, "mass {i} {j}");
        }
        local_geometric_stiffness(&beam, l, 30.0, &mut matrix);
        for (i, j, expected) in [(1, 1, 36.0 / l), (1, 5, 3.0), (5, 5, 4.0 * l), (5, 11, -l), (2, 4, -3.0)] {
            assert!((matrix.get(i, j) - expected).abs() < 1e-12, "geometric {i} {j}: {}", matrix.get(i, j));
        }
    }
}
