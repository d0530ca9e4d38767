//! Laws every registered element obeys: the studies of sim-verify, and what needs the element itself.

use nalgebra::{DMatrix, DVector, Vector3};
use sim_fem::elements::{ELEMENTS, ElementInfo, ElementSample, LocalMatrix, MassKind};
use sim_verify::judge::element::{ElementFacts, ElementLaw, judge_element};

struct Judged {
    sample: ElementSample,
    facts: ElementFacts,
}

impl Judged {
    fn new(info: &ElementInfo) -> Self {
        let sample = (info.sample)();
        let facts = ElementFacts {
            nodes: sample.x.clone(),
            rotations: sample.element.has_rotations(),
            sample: sample.u.clone(),
            mass: sample.mass,
            linear: sample.element.is_linear(),
            viscous: sample.element.is_viscous(),
            weighs: info.carries_weight,
            planar: info.planar,
            grounded: info.grounded,
            finite_rotations: info.finite_rotations,
        };
        Self { sample, facts }
    }

    fn vector(&self, fill: impl FnOnce(&[Vector3<f64>], &mut [f64])) -> DVector<f64> {
        let mut values = DVector::from_element(self.sample.u.len(), f64::NAN);
        fill(&self.sample.x, values.as_mut_slice());
        values
    }

    fn matrix(&self, fill: impl FnOnce(&[Vector3<f64>], &mut LocalMatrix)) -> DMatrix<f64> {
        let mut matrix = LocalMatrix::zeros(self.sample.u.len());
        fill(&self.sample.x, &mut matrix);
        DMatrix::from_fn(matrix.size(), matrix.size(), |i, j| matrix.get(i, j))
    }
}

impl ElementLaw for Judged {
    fn facts(&self) -> &ElementFacts {
        &self.facts
    }

    fn energy(&self, u: &[f64]) -> f64 {
        self.sample.element.strain_energy(&self.sample.x, u)
    }

    fn force(&self, u: &[f64]) -> DVector<f64> {
        self.vector(|x, force| self.sample.element.internal_force(x, u, force))
    }

    fn tangent(&self, u: &[f64]) -> DMatrix<f64> {
        self.matrix(|x, matrix| self.sample.element.tangent(x, u, matrix))
    }

    fn geometric_stiffness(&self, u: &[f64]) -> DMatrix<f64> {
        self.matrix(|x, matrix| self.sample.element.geometric_stiffness(x, u, matrix))
    }

    fn viscous_force(&self, u: &[f64], v: &[f64]) -> DVector<f64> {
        self.vector(|x, force| self.sample.element.viscous_force(x, u, v, force))
    }

    fn damping(&self, u: &[f64], v: &[f64]) -> DMatrix<f64> {
        self.matrix(|x, matrix| self.sample.element.damping_matrix(x, u, v, matrix))
    }

    fn mass_matrix(&self, lumped: bool) -> DMatrix<f64> {
        let kind = if lumped { MassKind::Lumped } else { MassKind::Consistent };
        self.matrix(|x, matrix| self.sample.element.mass_matrix(x, kind, matrix))
    }

    fn total_mass(&self) -> f64 {
        self.sample.element.total_mass(&self.sample.x)
    }

    fn axial_force(&self, u: &[f64]) -> f64 {
        self.sample.element.member_result(&self.sample.x, u).axial_force
    }
}

/// Derivatives, symmetry, dashpots, rigid motions, finite rotations, geometric stiffness, masses.
#[test]
fn every_element_passes_the_studies() {
    let (mut viscous, mut turning) = (0, 0);
    for info in ELEMENTS {
        let judged = Judged::new(info);
        let element = &judged.sample.element;
        assert_eq!(info.id, element.id());
        assert_eq!(judged.sample.x.len(), element.node_count(), "{}", info.id);
        assert_eq!(judged.sample.u.len(), element.dof_count(), "{}", info.id);
        element.validate(&judged.sample.x).unwrap();
        let claims = judge_element(info.id, &judged);
        for claim in &claims {
            assert!(claim.pass(), "{claim}");
        }
        viscous += usize::from(element.is_viscous());
        turning += claims.iter().filter(|claim| claim.id.ends_with("/turned_energy")).count();
        let moves = !["point_mass", "dashpot"].contains(&info.id);
        assert_eq!(judged.force(&judged.sample.u).amax() > 0.0, moves, "{}", info.id);
    }
    assert_eq!((viscous, turning), (2, 4));
}

/// Swapping the ends swaps forces and masses (case F44 at the level of one element).
#[test]
fn the_order_of_the_ends_does_not_matter() {
    for info in ELEMENTS {
        let judged = Judged::new(info);
        let sample = &judged.sample;
        if sample.element.node_count() == 1 || info.id.ends_with("beam") {
            continue;
        }
        let swapped_x = [sample.x[1], sample.x[0]];
        let n = sample.u.len() / 2;
        let swapped_u: Vec<f64> = (0..2 * n).map(|i| sample.u[(i + n) % (2 * n)]).collect();
        let f = judged.force(&sample.u);
        let mut g = vec![0.0; 2 * n];
        sample.element.internal_force(&swapped_x, &swapped_u, &mut g);
        for i in 0..2 * n {
            assert!((f[i] - g[(i + n) % (2 * n)]).abs() <= 1e-11 * f.amax(), "{} {i}", info.id);
        }
    }
}

#[test]
fn zero_length_is_refused() {
    for info in ELEMENTS {
        let sample = (info.sample)();
        if sample.element.node_count() == 2 {
            let error = sample.element.validate(&[sample.x[0], sample.x[0]]).unwrap_err();
            assert!(error.to_string().contains("length is zero"), "{}: {error}", info.id);
        }
    }
}
