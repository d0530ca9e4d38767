//! The studies of elements and of inverses pass what is right and reject what is wrong.

use nalgebra::{DMatrix, DVector, Matrix3, Vector3};
use sim_verify::mutants::inverse::{INVERSE_SLIPS, InverseSlip, slipped};
use sim_verify::{
    Apply, Claim, ElementFacts, ElementLaw, Make, PreconditionerSubject, Problem, SolverSubject,
    judge_element, judge_preconditioner, judge_solver,
};

/// What is wrong with a bar.
#[derive(Clone, Copy, PartialEq)]
enum Wrong {
    Nothing,
    Energy,
    Force,
    Tangent,
    Geometric,
    Mass,
    TotalMass,
    Dashpot,
    AxialForce,
}

/// A bar of small displacements with a dashpot along it.
struct Bar {
    facts: ElementFacts,
    wrong: Wrong,
}

const STIFFNESS: f64 = 500.0;
const DAMPING: f64 = 3.0;

impl Bar {
    fn new(wrong: Wrong) -> Self {
        let facts = ElementFacts {
            nodes: vec![Vector3::new(0.2, -0.1, 0.4), Vector3::new(0.9, 0.6, 0.1)],
            rotations: false,
            sample: vec![0.02, -0.01, 0.03, -0.02, 0.04, 0.01],
            mass: 1.7,
            linear: true,
            viscous: true,
            weighs: false,
            planar: false,
            grounded: false,
            finite_rotations: false,
        };
        Self { facts, wrong }
    }

    fn factor(&self, wrong: Wrong, factor: f64) -> f64 {
        if self.wrong == wrong { factor } else { 1.0 }
    }

    fn along(&self) -> Matrix3<f64> {
        let n = (self.facts.nodes[1] - self.facts.nodes[0]).normalize();
        n * n.transpose()
    }
}

fn pair(block: Matrix3<f64>) -> DMatrix<f64> {
    DMatrix::from_fn(6, 6, |i, j| {
        let value = block[(i % 3, j % 3)];
        if i / 3 == j / 3 { value } else { -value }
    })
}

impl ElementLaw for Bar {
    fn facts(&self) -> &ElementFacts {
        &self.facts
    }

    fn energy(&self, u: &[f64]) -> f64 {
        let u = DVector::from_column_slice(u);
        self.factor(Wrong::Energy, 2.0) * 0.5 * u.dot(&(pair(self.along() * STIFFNESS) * &u))
    }

    fn force(&self, u: &[f64]) -> DVector<f64> {
        pair(self.along() * STIFFNESS) * DVector::from_column_slice(u) * self.factor(Wrong::Force, -1.0)
    }

    fn tangent(&self, _: &[f64]) -> DMatrix<f64> {
        pair(self.along() * STIFFNESS) * self.factor(Wrong::Tangent, 1.1)
    }

    fn geometric_stiffness(&self, u: &[f64]) -> DMatrix<f64> {
        let length = (self.facts.nodes[1] - self.facts.nodes[0]).norm();
        let tension =
            self.force(u).fixed_rows::<3>(3).dot(&(self.facts.nodes[1] - self.facts.nodes[0])) / length;
        pair((Matrix3::identity() - self.along()) * (tension / length)) * self.factor(Wrong::Geometric, 0.5)
    }

    fn viscous_force(&self, _: &[f64], v: &[f64]) -> DVector<f64> {
        pair(self.along() * DAMPING) * DVector::from_column_slice(v)
    }

    fn damping(&self, _: &[f64], _: &[f64]) -> DMatrix<f64> {
        pair(self.along() * DAMPING) * self.factor(Wrong::Dashpot, 0.5)
    }

    fn mass_matrix(&self, lumped: bool) -> DMatrix<f64> {
        let (own, other) =
            if lumped || self.wrong == Wrong::Mass { (1.0 / 2.0, 0.0) } else { (1.0 / 3.0, 1.0 / 6.0) };
        DMatrix::from_fn(6, 6, |i, j| {
            self.facts.mass
                * if i == j {
                    own
                } else if i % 3 == j % 3 {
                    other
                } else {
                    0.0
                }
        })
    }

    fn total_mass(&self) -> f64 {
        self.facts.mass * self.factor(Wrong::TotalMass, 0.5)
    }

    fn axial_force(&self, u: &[f64]) -> f64 {
        let axis = (self.facts.nodes[1] - self.facts.nodes[0]).normalize();
        self.force(u).fixed_rows::<3>(3).dot(&axis) * self.factor(Wrong::AxialForce, -1.0)
    }
}

fn rejected(claims: &[Claim]) -> Vec<&str> {
    claims.iter().filter(|claim| !claim.pass()).filter_map(|claim| claim.id.split('/').nth(1)).collect()
}

#[test]
fn a_bar_passes_and_its_mistakes_do_not() {
    let judge = |wrong| judge_element("bar", &Bar::new(wrong));
    let right = judge(Wrong::Nothing);
    assert!(right.len() >= 15 && rejected(&right).is_empty(), "{:?}", rejected(&right));
    for (wrong, study) in [
        (Wrong::Energy, "force"),
        (Wrong::Force, "force"),
        (Wrong::Tangent, "tangent"),
        (Wrong::Geometric, "geometric"),
        (Wrong::Mass, "inertia"),
        (Wrong::TotalMass, "mass"),
        (Wrong::Dashpot, "damping"),
        (Wrong::AxialForce, "reported"),
    ] {
        assert!(rejected(&judge(wrong)).contains(&study), "{study}: {:?}", rejected(&judge(wrong)));
    }
}

fn sample() -> DMatrix<f64> {
    let n = 12;
    let random = DMatrix::from_fn(n, n, |i, j| ((i * n + j) as f64 * 1.7).sin());
    &random * random.transpose() + DMatrix::identity(n, n) * 3.0
}

fn inverse(factors: &[f64]) -> Result<Apply, String> {
    let last = factors.last().copied().ok_or("no factor")?;
    let inverse = (sample() * last).try_inverse().ok_or("singular")?;
    Ok(Box::new(move |r| (&inverse * DVector::from_column_slice(r)).as_slice().to_vec()))
}

fn judge_as_preconditioner(make: &Make<'_>) -> Vec<Claim> {
    let sample = sample();
    let subject = PreconditionerSubject {
        sample: &sample,
        easy: &sample,
        easy_range: [1.0, 1.0],
        make,
        solve: &|apply, rhs| Ok(apply(rhs)),
        precision: 1e-9,
        follows: true,
    };
    judge_preconditioner("exact", &subject)
}

fn judge_as_solver(make: &Make<'_>, culprit: &dyn Fn(usize) -> Option<usize>) -> Vec<Claim> {
    let sample = sample();
    judge_solver("exact", &SolverSubject { sample: &sample, make, culprit, precision: 1e-9 })
}

#[test]
fn an_inverse_passes_and_every_slip_around_it_does_not() {
    let make = |_: Problem, factors: &[f64]| inverse(factors);
    assert!(rejected(&judge_as_preconditioner(&make)).is_empty());
    assert!(rejected(&judge_as_solver(&make, &Some)).is_empty());
    assert_eq!(rejected(&judge_as_solver(&make, &|_| Some(0))), ["culprit"]);
    for &(slip, text) in INVERSE_SLIPS {
        let wrong = |problem, factors: &[f64]| slipped(slip, &make, problem, factors);
        let found = judge_as_preconditioner(&wrong);
        assert!(!rejected(&found).is_empty(), "{text} passes for a preconditioner");
        assert!(!rejected(&judge_as_solver(&wrong, &Some)).is_empty(), "{text} passes for a solver");
        if slip == InverseSlip::Stale {
            assert!(rejected(&found).contains(&"refill"));
        }
    }
    assert!(!judge_as_solver(&|_, _| Err("not made".into()), &Some)[0].pass());
}
