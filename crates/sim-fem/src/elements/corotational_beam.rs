//! Beam in space with rotations of any practical size.

use super::timoshenko_beam::{LinearBeam, beam_result};
use super::{Element, ElementError, ElementInfo, ElementSample, LocalMatrix, MassKind, MemberResult};
use crate::beam::{BeamProperties, Orientation};
use crate::jet::{Gradient, Hessian, Number};
use crate::material::{Material, Section, ValueError};
use crate::structure::Magnitudes;
use nalgebra::Vector3;

/// Registry entry.
pub const INFO: ElementInfo = ElementInfo {
    id: "corotational_beam",
    summary: "beam in space, large displacements and rotations",
    carries_weight: false,
    planar: false,
    grounded: false,
    finite_rotations: true,
    sample,
};

/// A corotational beam in space: a linear beam in a frame that follows the chord and the mean turn of both ends.
///
/// Rotations are total rotation vectors, so that the state is a plain displacement and the tangent is the symmetric second
/// derivative of an energy. Both are exact to rounding: the energy is evaluated in numbers that carry their derivatives.
/// Kinematics as in Battini & Pacoste (Comput. Methods Appl. Mech. Eng. 191, 2002).
///
/// # Limitations
/// Rotation vectors lose their meaning at a full turn: keep every node's rotation below 2π (in a plane use
/// [`super::planar_corotational_beam::PlanarCorotationalBeam`], which has no such limit). Moments that a load applies to
/// rotation vectors are the conjugate ones, equal to moments about fixed axes only for rotations about one axis.
/// Strains and rotations relative to the chord must be small (below 1 rad; accuracy wants 0.1). The mass matrix is that of
/// the reference shape. A tangent costs about 20 µs. A section without shear areas is rigid in shear.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CorotationalBeam {
    linear: LinearBeam,
}

type Vec3<N> = [N; 3];

/// Deformations seen from the moving frame: elongation and the rotation vectors of both ends.
struct Local<N> {
    elongation: N,
    ends: [Vec3<N>; 2],
}

impl CorotationalBeam {
    /// A beam of `material` with `section`, turned as `orientation` says.
    ///
    /// # Errors
    /// [`ValueError`] naming the field out of range.
    pub fn new(material: &Material, section: &Section, orientation: Orientation) -> Result<Self, ValueError> {
        let properties = BeamProperties::timoshenko(material, section)?;
        Ok(Self { linear: LinearBeam { properties, orientation, rotary: false } })
    }

    fn local<N: Number>(&self, x: &[Vector3<f64>], u: &[N; 12]) -> Local<N> {
        let d0 = x[1] - x[0];
        let reference = d0.norm();
        let axes = self
            .linear
            .orientation
            .axes(&(d0 / reference))
            .unwrap_or_else(|_| nalgebra::Matrix3::repeat(f64::NAN));
        let du: Vec3<N> = std::array::from_fn(|k| u[6 + k] - u[k]);
        let d: Vec3<N> = std::array::from_fn(|k| du[k] + N::constant(d0[k]));
        let length = dot(&d, &d).sqrt();
        let doubled: Vec3<N> = std::array::from_fn(|k| du[k] + N::constant(2.0 * d0[k]));
        let elongation = dot(&doubled, &du) * (length + N::constant(reference)).recip();
        // Section triads of both ends (columns x, y, z).
        let triads = [3, 9].map(|at| {
            let rotation = rotation_matrix(&[u[at], u[at + 1], u[at + 2]]);
            [0, 1, 2].map(|column| -> Vec3<N> {
                std::array::from_fn(|row| {
                    (0..3).fold(N::constant(0.0), |sum, k| sum + rotation[row][k].scale(axes[(column, k)]))
                })
            })
        });
        let e1 = scaled(&d, length.recip());
        let mean: Vec3<N> = std::array::from_fn(|k| triads[0][1][k] + triads[1][1][k]);
        let normal = cross(&e1, &mean);
        let e3 = scaled(&normal, dot(&normal, &normal).sqrt().recip());
        let frame = [e1, cross(&e3, &e1), e3];
        // Rotation of an end relative to the frame: axial vector of the skew part, sin φ n, turned into φ n.
        let ends = [0, 1].map(|end| {
            let relative = |i: usize, j: usize| dot(&frame[i], &triads[end][j]);
            let skew = [
                (relative(2, 1) - relative(1, 2)).scale(0.5),
                (relative(0, 2) - relative(2, 0)).scale(0.5),
                (relative(1, 0) - relative(0, 1)).scale(0.5),
            ];
            scaled(&skew, arcsine_ratio(dot(&skew, &skew)))
        });
        Local { elongation, ends }
    }

    fn energy<N: Number>(&self, x: &[Vector3<f64>], u: &[N; 12]) -> N {
        let Local { elongation, ends } = self.local(x, u);
        let length = (x[1] - x[0]).norm();
        let p = &self.linear.properties;
        let twist = ends[1][0] - ends[0][0];
        let mut energy = (elongation * elongation).scale(0.5 * p.axial / length)
            + (twist * twist).scale(0.5 * p.torsion / length);
        let phi = p.shear_parameters(length);
        for (about, bending, phi) in [(2, p.bending_z, phi[0]), (1, p.bending_y, phi[1])] {
            let (a, b) = (ends[0][about], ends[1][about]);
            let scale = 0.5 * bending / (length * (1.0 + phi));
            energy = energy
                + (a * a + b * b).scale(scale * (4.0 + phi))
                + (a * b).scale(2.0 * scale * (2.0 - phi));
        }
        energy
    }

    fn hessian(&self, x: &[Vector3<f64>], u: &[f64]) -> Hessian {
        self.energy(x, &std::array::from_fn(|i| Hessian::variable(u[i], i)))
    }
}

fn dot<N: Number>(a: &Vec3<N>, b: &Vec3<N>) -> N {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

fn cross<N: Number>(a: &Vec3<N>, b: &Vec3<N>) -> Vec3<N> {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

fn scaled<N: Number>(a: &Vec3<N>, s: N) -> Vec3<N> {
    a.map(|a| a * s)
}

/// exp of a rotation vector: `I + a [θ] + b [θ]²` with a = sin φ/φ, b = (1 − cos φ)/φ² as functions of φ².
fn rotation_matrix<N: Number>(theta: &Vec3<N>) -> [Vec3<N>; 3] {
    let square = dot(theta, theta);
    let t = square.value();
    let (a, b) = (sine_ratio(t), cosine_ratio(t));
    let a = square.chain(a[0], a[1], a[2]);
    let b = square.chain(b[0], b[1], b[2]);
    let one_minus = N::constant(1.0) - b * square;
    std::array::from_fn(|i| {
        std::array::from_fn(|j| {
            let outer = b * theta[i] * theta[j];
            match (3 + j - i) % 3 {
                0 => outer + one_minus,
                1 => outer - a * theta[(j + 1) % 3],
                _ => outer + a * theta[(i + 1) % 3],
            }
        })
    })
}

/// sin √t / √t with its first two derivatives in t.
fn sine_ratio(t: f64) -> [f64; 3] {
    if t < 1.0 {
        return series(t, |k| -1.0 / ((2 * k) * (2 * k + 1)) as f64);
    }
    let r = t.sqrt();
    let (s, c) = r.sin_cos();
    let first = (r * c - s) / (2.0 * r * t);
    [s / r, first, -(s / r + 6.0 * first) / (4.0 * t)]
}

/// (1 − cos √t)/t with its first two derivatives in t.
fn cosine_ratio(t: f64) -> [f64; 3] {
    if t < 1.0 {
        let half = series(t, |k| -1.0 / ((2 * k + 1) * (2 * k + 2)) as f64);
        return half.map(|value| 0.5 * value);
    }
    let s = sine_ratio(t);
    let value = (1.0 - t.sqrt().cos()) / t;
    let first = (0.5 * s[0] - value) / t;
    [value, first, (0.5 * s[1] - 2.0 * first) / t]
}

/// Σ `c_k` t^k with `c_0` = 1 and `c_k` = ratio(k) c_{k-1}, and its first two derivatives; converges fast below t = 1.
fn series(t: f64, ratio: impl Fn(usize) -> f64) -> [f64; 3] {
    let (mut coefficient, mut sums) = (1.0, [1.0, 0.0, 0.0]);
    // t^k, t^(k-1), t^(k-2)
    let mut powers = [t, 1.0, 0.0];
    for k in 1..14 {
        coefficient *= ratio(k);
        let n = k as f64;
        sums[0] += coefficient * powers[0];
        sums[1] += n * coefficient * powers[1];
        sums[2] += n * (n - 1.0) * coefficient * powers[2];
        powers = [powers[0] * t, powers[0], powers[1]];
    }
    sums
}

/// arcsin √s / √s of a number s in [0, 1).
fn arcsine_ratio<N: Number>(s: N) -> N {
    let t = s.value();
    if t < 0.01 {
        // c_k/c_{k-1} = (2k-1)²/((2k)(2k+1))
        let [value, first, second] =
            series(t, |k| ((2 * k - 1) * (2 * k - 1)) as f64 / ((2 * k) * (2 * k + 1)) as f64);
        return s.chain(value, first, second);
    }
    let r = t.sqrt();
    let value = r.asin() / r;
    let root = (1.0 - t).sqrt();
    let first = (1.0 / root - value) / (2.0 * t);
    let second = (0.5 / (root * (1.0 - t)) - 3.0 * first) / (2.0 * t);
    s.chain(value, first, second)
}

impl Element for CorotationalBeam {
    fn id(&self) -> &'static str {
        INFO.id
    }

    fn has_rotations(&self) -> bool {
        true
    }

    fn is_linear(&self) -> bool {
        false
    }

    fn validate(&self, x: &[Vector3<f64>]) -> Result<(), ElementError> {
        self.linear.validate(x)
    }

    fn strain_energy(&self, x: &[Vector3<f64>], u: &[f64]) -> f64 {
        self.energy(x, &std::array::from_fn(|i| u[i]))
    }

    fn internal_force(&self, x: &[Vector3<f64>], u: &[f64], force: &mut [f64]) {
        let energy: Gradient = self.energy(x, &std::array::from_fn(|i| Gradient::variable(u[i], i)));
        force.copy_from_slice(&energy.g);
    }

    fn tangent(&self, x: &[Vector3<f64>], u: &[f64], tangent: &mut LocalMatrix) {
        let energy = self.hessian(x, u);
        tangent.clear(12);
        for i in 0..12 {
            for j in 0..12 {
                tangent.add(i, j, energy.second(i, j));
            }
        }
    }

    fn geometric_stiffness(&self, x: &[Vector3<f64>], u: &[f64], stiffness: &mut LocalMatrix) {
        // In small displacements the beam is the linear one.
        self.linear.geometric_stiffness(x, u, stiffness);
    }

    fn mass_matrix(&self, x: &[Vector3<f64>], kind: MassKind, mass: &mut LocalMatrix) {
        self.linear.mass_matrix(x, kind, mass);
    }

    fn total_mass(&self, x: &[Vector3<f64>]) -> f64 {
        self.linear.total_mass(x)
    }

    fn magnitudes(&self) -> Option<Magnitudes> {
        Some(self.linear.properties.magnitudes())
    }

    fn member_result(&self, x: &[Vector3<f64>], u: &[f64]) -> MemberResult {
        let Local { elongation, ends } = self.local(x, &std::array::from_fn(|i| u[i]));
        let length = (x[1] - x[0]).norm();
        let p = &self.linear.properties;
        let tension = p.axial / length * elongation;
        let twist = p.torsion / length * (ends[1][0] - ends[0][0]);
        let mut forces = [0.0; 12];
        (forces[0], forces[6], forces[3], forces[9]) = (-tension, tension, -twist, twist);
        let phi = p.shear_parameters(length);
        for (about, bending, phi) in [(2, p.bending_z, phi[0]), (1, p.bending_y, phi[1])] {
            let (a, b) = (ends[0][about], ends[1][about]);
            let scale = bending / (length * (1.0 + phi));
            let (first, second) =
                (scale * ((4.0 + phi) * a + (2.0 - phi) * b), scale * ((2.0 - phi) * a + (4.0 + phi) * b));
            (forces[3 + about], forces[9 + about]) = (first, second);
            let shear = (first + second) / (length + elongation) * if about == 2 { 1.0 } else { -1.0 };
            let across = 3 - about;
            (forces[across], forces[6 + across]) = (shear, -shear);
        }
        beam_result(p, &forces)
    }
}

fn sample() -> ElementSample {
    let material = Material::new(2.1e9).with_density(7850.0);
    let section = Section::Rectangle { width: 0.05, height: 0.02 };
    let element =
        CorotationalBeam::new(&material, &section, Orientation::Upright).expect("sample values are in range");
    let x = vec![Vector3::new(0.3, -0.2, 0.1), Vector3::new(1.1, 0.5, 0.9)];
    let mass = 7850.0 * 0.001 * (x[1] - x[0]).norm();
    let u = vec![0.1, -0.2, 0.05, 0.9, -0.3, 0.8, -0.5, 0.5, -0.2, 1.2, -0.1, 0.6];
    ElementSample { element: Box::new(element), x, u, mass }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Series and closed forms meet where they change over, and the matrix is that of nalgebra.
    #[test]
    fn rotation_functions_are_exact() {
        for (near, far) in
            [(sine_ratio(1.0 - 1e-9), sine_ratio(1.0)), (cosine_ratio(1.0 - 1e-9), cosine_ratio(1.0))]
        {
            for k in 0..3 {
                assert!((near[k] - far[k]).abs() < 1e-9, "{near:?} {far:?}");
            }
        }
        for theta in [[0.3, -0.2, 0.1], [2.0, 1.0, -1.5], [0.0; 3], [1e-9, 0.0, 0.0]] {
            let matrix = rotation_matrix(&theta);
            let expected = nalgebra::Rotation3::from_scaled_axis(Vector3::from(theta));
            for i in 0..3 {
                for j in 0..3 {
                    assert!((matrix[i][j] - expected[(i, j)]).abs() < 1e-14);
                }
            }
        }
        for s in [1e-12, 0.00999, 0.01001, 0.7_f64] {
            assert!((arcsine_ratio(s) - s.sqrt().asin() / s.sqrt()).abs() < 1e-14);
        }
    }
}
