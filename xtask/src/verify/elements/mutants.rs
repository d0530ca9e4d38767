//! Slips around every element: between the element and whoever asks it. The studies of elements and the reference cases must reject them.

use super::Judged;
use crate::verify::area_d::CASES;
use crate::verify::catalogue::{Job, Outcome, Scope};
use nalgebra::Vector3;
use rayon::prelude::*;
use sim_fem::elements::{ELEMENTS, Element, ElementError, ElementInfo, LocalMatrix, MassKind, MemberResult};
use sim_fem::structure::Magnitudes;
use sim_verify::Claim;
use sim_verify::judge::element::{ElementLaw as _, judge_element};
use sim_verify::reference::case;
use std::collections::BTreeMap;
use std::sync::OnceLock;

/// A mistake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Slip {
    FlippedForce,
    MissingHalf,
    TransposedBlock,
    LostGeometricTerm,
    StaleDirection,
    ExchangedEnds,
    LostReaction,
    LengthPower,
    TangentLengthPower,
    Doubled,
    HalvedMass,
    AlwaysLumped,
    AlwaysConsistent,
    MassOfTheOther,
    HalvedTotalMass,
    FlippedGeometric,
    HalvedGeometric,
    FlippedTension,
    FlippedDashpot,
    HalvedDamping,
    LostMoment,
    FlippedRotation,
    FrozenForce,
    LostEntry,
    LumpedRotation,
}

/// Every slip in words.
const SLIPS: &[(Slip, &str)] = &[
    (Slip::FlippedForce, "sign of the internal force"),
    (Slip::MissingHalf, "½ missing in the energy"),
    (Slip::TransposedBlock, "tangent block between the nodes transposed"),
    (Slip::LostGeometricTerm, "tangent of the reference shape, without what the force adds"),
    (Slip::StaleDirection, "force along the reference direction"),
    (Slip::ExchangedEnds, "forces on the two ends exchanged"),
    (Slip::LostReaction, "no force on the first end"),
    (Slip::LengthPower, "one power of the length too many in energy, force and tangent"),
    (Slip::TangentLengthPower, "one power of the length too many in the tangent"),
    (Slip::Doubled, "twice the stiffness in energy, force and tangent"),
    (Slip::HalvedMass, "half the mass matrix"),
    (Slip::AlwaysLumped, "lumped mass where the consistent one is asked for"),
    (Slip::AlwaysConsistent, "consistent mass where the lumped one is asked for"),
    (Slip::MassOfTheOther, "all the mass at the first end"),
    (Slip::HalvedTotalMass, "half the total mass"),
    (Slip::FlippedGeometric, "sign of the geometric stiffness"),
    (Slip::HalvedGeometric, "½ too many in the geometric stiffness"),
    (Slip::FlippedTension, "sign of the axial force that is reported"),
    (Slip::FlippedDashpot, "sign of the dashpots"),
    (Slip::HalvedDamping, "½ too many in the damping matrix"),
    (Slip::LostMoment, "no moments on the nodes"),
    (Slip::FlippedRotation, "rotations counted the other way round"),
    (Slip::FrozenForce, "force of the first call for ever"),
    (Slip::LostEntry, "last entry of the tangent's first row lost"),
    (Slip::LumpedRotation, "twice the lumped inertia of rotation"),
];

/// An element with a slip around it.
#[derive(Debug)]
struct Slipped {
    inner: Box<dyn Element>,
    slip: Slip,
    frozen: OnceLock<Vec<f64>>,
}

impl Slipped {
    fn new(inner: Box<dyn Element>, slip: Slip) -> Self {
        Self { inner, slip, frozen: OnceLock::new() }
    }

    /// Factor on energy, force and tangent.
    fn stiffness_factor(&self, x: &[Vector3<f64>]) -> f64 {
        match self.slip {
            Slip::LengthPower if x.len() == 2 => (x[1] - x[0]).norm(),
            Slip::Doubled => 2.0,
            _ => 1.0,
        }
    }

    fn is_rotation(&self, dof: usize) -> bool {
        self.has_rotations() && dof % 6 >= 3
    }

    /// The displacement that the element is shown.
    fn seen(&self, u: &[f64]) -> Vec<f64> {
        let flip = |(dof, u): (usize, &f64)| if self.is_rotation(dof) { -u } else { *u };
        if self.slip == Slip::FlippedRotation { u.iter().enumerate().map(flip).collect() } else { u.to_vec() }
    }

    fn change(matrix: &mut LocalMatrix, change: impl Fn(usize, usize, f64) -> f64) {
        for i in 0..matrix.size() {
            for j in 0..matrix.size() {
                let value = matrix.get(i, j);
                matrix.add(i, j, change(i, j, value) - value);
            }
        }
    }
}

impl Element for Slipped {
    fn id(&self) -> &'static str {
        self.inner.id()
    }

    fn node_count(&self) -> usize {
        self.inner.node_count()
    }

    fn has_rotations(&self) -> bool {
        self.inner.has_rotations()
    }

    fn is_linear(&self) -> bool {
        self.inner.is_linear()
    }

    fn is_viscous(&self) -> bool {
        self.inner.is_viscous()
    }

    fn validate(&self, x: &[Vector3<f64>]) -> Result<(), ElementError> {
        self.inner.validate(x)
    }

    fn strain_energy(&self, x: &[Vector3<f64>], u: &[f64]) -> f64 {
        let half = if self.slip == Slip::MissingHalf { 2.0 } else { 1.0 };
        half * self.stiffness_factor(x) * self.inner.strain_energy(x, &self.seen(u))
    }

    fn internal_force(&self, x: &[Vector3<f64>], u: &[f64], force: &mut [f64]) {
        if self.slip == Slip::StaleDirection {
            let zero = vec![0.0; u.len()];
            let mut first = LocalMatrix::zeros(u.len());
            self.inner.tangent(x, &zero, &mut first);
            self.inner.internal_force(x, &zero, force);
            first.multiply_add(u, force);
            return;
        }
        self.inner.internal_force(x, &self.seen(u), force);
        let factor = self.stiffness_factor(x);
        for f in force.iter_mut() {
            *f *= factor;
        }
        let half = force.len() / 2;
        match self.slip {
            Slip::FlippedForce => force.iter_mut().for_each(|f| *f = -*f),
            Slip::ExchangedEnds if x.len() == 2 => force.rotate_left(half),
            Slip::LostReaction if x.len() == 2 => force[..half].fill(0.0),
            Slip::LostMoment => {
                (0..force.len()).filter(|&i| self.is_rotation(i)).for_each(|i| force[i] = 0.0);
            }
            Slip::FlippedRotation => {
                (0..force.len()).filter(|&i| self.is_rotation(i)).for_each(|i| force[i] = -force[i]);
            }
            Slip::FrozenForce => force.copy_from_slice(self.frozen.get_or_init(|| force.to_vec())),
            _ => {}
        }
    }

    fn tangent(&self, x: &[Vector3<f64>], u: &[f64], tangent: &mut LocalMatrix) {
        let zero = vec![0.0; u.len()];
        let u = if self.slip == Slip::LostGeometricTerm { zero } else { self.seen(u) };
        self.inner.tangent(x, &u, tangent);
        let factor = self.stiffness_factor(x);
        Self::change(tangent, |_, _, value| factor * value);
        let (size, half) = (tangent.size(), tangent.size() / 2);
        match self.slip {
            Slip::TransposedBlock if x.len() == 2 => {
                let old = tangent.clone();
                Self::change(tangent, |i, j, value| {
                    if i < half && j >= half { old.get(j - half, i + half) } else { value }
                });
            }
            Slip::TangentLengthPower if x.len() == 2 => {
                let length = (x[1] - x[0]).norm();
                Self::change(tangent, |_, _, value| length * value);
            }
            Slip::FlippedRotation => {
                let same = |i, j| self.is_rotation(i) == self.is_rotation(j);
                Self::change(tangent, |i, j, value| if same(i, j) { value } else { -value });
            }
            Slip::LostEntry => {
                let last = (1..size).rev().find(|&j| tangent.get(0, j) != 0.0).unwrap_or(size);
                Self::change(tangent, |i, j, value| if (i, j) == (0, last) { 0.0 } else { value });
            }
            _ => {}
        }
    }

    fn geometric_stiffness(&self, x: &[Vector3<f64>], u: &[f64], stiffness: &mut LocalMatrix) {
        self.inner.geometric_stiffness(x, u, stiffness);
        match self.slip {
            Slip::FlippedGeometric => Self::change(stiffness, |_, _, value| -value),
            Slip::HalvedGeometric => Self::change(stiffness, |_, _, value| 0.5 * value),
            _ => {}
        }
    }

    fn viscous_force(&self, x: &[Vector3<f64>], u: &[f64], v: &[f64], force: &mut [f64]) {
        self.inner.viscous_force(x, u, v, force);
        if self.slip == Slip::FlippedDashpot {
            for f in force.iter_mut() {
                *f = -*f;
            }
        }
    }

    fn damping_matrix(&self, x: &[Vector3<f64>], u: &[f64], v: &[f64], damping: &mut LocalMatrix) {
        self.inner.damping_matrix(x, u, v, damping);
        match self.slip {
            Slip::FlippedDashpot => Self::change(damping, |_, _, value| -value),
            Slip::HalvedDamping => Self::change(damping, |_, _, value| 0.5 * value),
            _ => {}
        }
    }

    fn mass_matrix(&self, x: &[Vector3<f64>], kind: MassKind, mass: &mut LocalMatrix) {
        let kind = match self.slip {
            Slip::AlwaysLumped => MassKind::Lumped,
            Slip::AlwaysConsistent => MassKind::Consistent,
            _ => kind,
        };
        self.inner.mass_matrix(x, kind, mass);
        let half = mass.size() / 2;
        match self.slip {
            Slip::HalvedMass => Self::change(mass, |_, _, value| 0.5 * value),
            Slip::MassOfTheOther if x.len() == 2 => {
                let old = mass.clone();
                // Row by row what the second end has goes to the first.
                Self::change(mass, |i, j, _| match (i < half, j < half) {
                    (true, true) => {
                        old.get(i, j)
                            + old.get(i + half, j + half)
                            + old.get(i, j + half)
                            + old.get(i + half, j)
                    }
                    _ => 0.0,
                });
            }
            Slip::LumpedRotation if kind == MassKind::Lumped => Self::change(mass, |i, j, value| {
                if self.is_rotation(i) && self.is_rotation(j) { 2.0 * value } else { value }
            }),
            _ => {}
        }
    }

    fn total_mass(&self, x: &[Vector3<f64>]) -> f64 {
        let factor = if self.slip == Slip::HalvedTotalMass { 0.5 } else { 1.0 };
        factor * self.inner.total_mass(x)
    }

    fn carries_weight(&self) -> bool {
        self.inner.carries_weight()
    }

    fn magnitudes(&self) -> Option<Magnitudes> {
        self.inner.magnitudes()
    }

    fn point(&self, x: &[Vector3<f64>], u: &[f64], fraction: f64) -> Vector3<f64> {
        self.inner.point(x, u, fraction)
    }

    fn pieces(&self) -> usize {
        self.inner.pieces()
    }

    fn member_result(&self, x: &[Vector3<f64>], u: &[f64]) -> MemberResult {
        let mut result = self.inner.member_result(x, &self.seen(u));
        result.axial_force *= self.stiffness_factor(x);
        if self.slip == Slip::FlippedTension {
            result.axial_force = -result.axial_force;
        }
        result
    }
}

/// The reference cases that judge an element, quick ones first.
pub(super) fn cases_of(element: &str) -> &'static [&'static str] {
    match element {
        "truss" => &["D-bar-end-load", "D-bar-axial-frequencies"],
        "nonlinear_truss" => &["D-von-mises-truss", "D-vibrating-string-vm53"],
        "tension_cable" => &["D-prestressed-two-segment-cable", "D-saddle-net"],
        "catenary_cable" => &["B-catenary-elastic-level"],
        "euler_bernoulli_beam" => &["D-cantilever-fe-frequencies", "D-beam-static-and-buckling"],
        "timoshenko_beam" => &["D-beam-static-and-buckling"],
        "corotational_beam" => &["D-beam-static-and-buckling", "D-cantilever-roll-up"],
        "planar_corotational_beam" => &["D-beam-static-and-buckling", "D-elastica-cantilever-tip-load"],
        "point_mass" => &["D-von-mises-frequency-under-load", "D-sdof-newmark-chopra"],
        "ground_spring" | "dashpot" => &["D-sdof-newmark-chopra", "D-two-dof-bathe"],
        _ => &[],
    }
}

/// All outputs at the sample and elsewhere, to tell whether a slip changes anything at all.
fn outputs(judged: &Judged<'_>) -> Vec<f64> {
    let mut list = Vec::new();
    let sample = &judged.facts().sample;
    for factor in [1.0, 0.4, 0.0] {
        let u: Vec<f64> = sample.iter().map(|u| factor * u).collect();
        let v: Vec<f64> = (0..u.len()).map(|i| 0.3 * (i as f64).cos()).collect();
        list.extend([judged.energy(&u), judged.axial_force(&u)]);
        list.extend(judged.force(&u).iter().chain(judged.viscous_force(&u, &v).iter()));
        for matrix in [judged.tangent(&u), judged.geometric_stiffness(&u), judged.damping(&u, &v)] {
            list.extend(matrix.iter());
        }
    }
    list.push(judged.total_mass());
    list.extend(judged.mass_matrix(false).iter().chain(judged.mass_matrix(true).iter()));
    list
}

/// Whether a slip changes anything beyond rounding.
fn suits(info: &ElementInfo, slip: Slip) -> bool {
    let slipped = Slipped::new((info.sample)().element, slip);
    let sample = (info.sample)();
    let right = outputs(&Judged::new(info, &*sample.element));
    let wrong = outputs(&Judged::new(info, &slipped));
    let scale = right.iter().fold(0.0_f64, |scale, x| scale.max(x.abs()));
    right.iter().zip(&wrong).any(|(a, b)| (a - b).abs() > 1e-12 * scale.max(a.abs()).min(a.abs() + b.abs()))
}

/// Who rejects a slip around an element first: a study or a case.
fn killer(info: &ElementInfo, slip: Slip) -> Option<String> {
    let slipped = Slipped::new((info.sample)().element, slip);
    let rejected =
        judge_element(info.id, &Judged::new(info, &slipped)).into_iter().find(|claim| !claim.pass());
    if let Some(claim) = rejected {
        return claim.id.split('/').nth(1).map(str::to_owned);
    }
    let wrap = |element: Box<dyn Element>| -> Box<dyn Element> {
        if element.id() == info.id { Box::new(Slipped::new(element, slip)) } else { element }
    };
    let ids = cases_of(info.id);
    let measures = ids.iter().filter_map(|id| CASES.iter().find(|(other, _)| other == id));
    for (id, measure) in measures {
        // A case that cannot be carried out any more is a rejection, too.
        let passed = case(id).is_ok_and(|case| {
            measure(case, &wrap).is_ok_and(|claims| !claims.is_empty() && claims.iter().all(Claim::pass))
        });
        if !passed {
            return Some((*id).to_owned());
        }
    }
    None
}

pub(in crate::verify) fn jobs(_: Scope) -> Vec<Job> {
    vec![Job::new("mutants/elements", |_| elements())]
}

/// Slips that nobody can tell, and why.
const SURVIVORS: &[(&str, Slip, &str)] = &[];

fn elements() -> Outcome {
    let pairs: Vec<(&ElementInfo, Slip, &str)> = ELEMENTS
        .iter()
        .flat_map(|info| SLIPS.iter().map(move |&(slip, text)| (info, slip, text)))
        .filter(|(info, slip, _)| suits(info, *slip))
        .collect();
    let killers: Vec<Option<String>> = pairs.par_iter().map(|(info, slip, _)| killer(info, *slip)).collect();
    let name = |(info, slip, _): &(&ElementInfo, Slip, &str)| format!("{}/{slip:?}", info.id);
    let survived: Vec<&(&ElementInfo, Slip, &str)> =
        pairs.iter().zip(&killers).filter(|(_, killer)| killer.is_none()).map(|(pair, _)| pair).collect();
    let mut complaints: Vec<String> = Vec::new();
    let known = |pair: &(&ElementInfo, Slip, &str)| {
        SURVIVORS.iter().find(|(id, slip, _)| *id == pair.0.id && *slip == pair.1)
    };
    complaints.extend(survived.iter().filter(|pair| known(pair).is_none()).map(|pair| name(pair)));
    let stale = SURVIVORS
        .iter()
        .filter(|(id, slip, _)| !survived.iter().any(|pair| pair.0.id == *id && pair.1 == *slip));
    complaints.extend(stale.map(|(id, slip, _)| format!("{id}/{slip:?} is rejected after all")));
    let used = SLIPS.iter().filter(|(slip, _)| pairs.iter().any(|pair| pair.1 == *slip)).count();
    let killed = pairs.len() - survived.len();
    let mut by: BTreeMap<&str, usize> = BTreeMap::new();
    killers.iter().flatten().for_each(|killer| *by.entry(killer).or_default() += 1);
    let list: Vec<String> = by.iter().map(|(killer, count)| format!("`{killer}` {count}")).collect();
    let mut notes = vec![format!(
        "\n{killed} of {} slips around elements ({used} kinds, each around every element that it changes) are rejected: {}.{}\n",
        pairs.len(),
        list.join(", "),
        if survived.is_empty() { "" } else { " Survivors:" }
    )];
    for pair in &survived {
        let reason = known(pair).map_or("", |(_, _, reason)| reason);
        notes.push(format!("- `{}` ({}): {reason}.", name(pair), pair.2));
    }
    let source = "the studies and cases can fail";
    let share = 100.0 * killed as f64 / pairs.len() as f64;
    let claims = vec![
        Claim::at_least(
            "mutants/elements/kinds",
            "kinds of slips around elements",
            12.0,
            used as f64,
            source,
        ),
        Claim::at_least(
            "mutants/elements/number",
            "slips around elements",
            100.0,
            pairs.len() as f64,
            source,
        ),
        Claim::at_least("mutants/elements/share", "rejected, in per cent", 95.0, share, source),
        Claim::no_complaint(
            "mutants/elements/survivors",
            "those that survive have a reason",
            complaints,
            source,
        ),
    ];
    Outcome { claims, notes, ..Outcome::default() }
}
