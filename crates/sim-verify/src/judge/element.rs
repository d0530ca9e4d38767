//! What an element of a structure must show: consistent energies, forces and matrices, no strain in rigid motions, its whole mass.

use crate::claim::Claim;
use crate::studies::derivatives::differences;
use nalgebra::{DMatrix, DVector, Rotation3, Vector3};

/// What a study must know of an element that it judges by its numbers alone.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts, each of which a study asks for")]
pub struct ElementFacts {
    /// Reference positions of its one or two nodes in m.
    pub nodes: Vec<Vector3<f64>>,
    /// Whether the nodes have rotations after their translations, in the order `ux uy uz rx ry rz`.
    pub rotations: bool,
    /// A displacement that is neither zero nor symmetric.
    pub sample: Vec<f64>,
    /// Mass in kg it must have.
    pub mass: f64,
    /// Claims to be linear in the displacement.
    pub linear: bool,
    /// Claims to have dashpots.
    pub viscous: bool,
    /// Its own weight is part of its energy.
    pub weighs: bool,
    /// Works in planes of constant z only.
    pub planar: bool,
    /// Connects to the ground.
    pub grounded: bool,
    /// Rigid rotations of any size leave it without strain.
    pub finite_rotations: bool,
}

impl ElementFacts {
    fn per_node(&self) -> usize {
        if self.rotations { 6 } else { 3 }
    }

    fn axis(&self) -> Option<Vector3<f64>> {
        (self.nodes.len() == 2).then(|| self.nodes[1] - self.nodes[0])
    }

    /// Displacements that turn the element about its first node: `omega` × x for translations, `omega` for rotations.
    fn spin(&self, omega: &Vector3<f64>) -> DVector<f64> {
        let mut motion = DVector::zeros(self.sample.len());
        for (node, x) in self.nodes.iter().enumerate() {
            let at = node * self.per_node();
            motion.fixed_rows_mut::<3>(at).copy_from(&omega.cross(&(x - self.nodes[0])));
            if self.rotations {
                motion.fixed_rows_mut::<3>(at + 3).copy_from(omega);
            }
        }
        motion
    }

    fn shift(&self, by: &Vector3<f64>) -> DVector<f64> {
        let mut motion = DVector::zeros(self.sample.len());
        for node in 0..self.nodes.len() {
            motion.fixed_rows_mut::<3>(node * self.per_node()).copy_from(by);
        }
        motion
    }

    /// Axes about which it may turn.
    fn turns(&self) -> Vec<Vector3<f64>> {
        if self.planar { vec![Vector3::z()] } else { vec![Vector3::x(), Vector3::y(), Vector3::z()] }
    }
}

/// An element as functions of the displacement of its nodes, all degrees of freedom in local order.
pub trait ElementLaw {
    /// Where it is and what it claims.
    fn facts(&self) -> &ElementFacts;

    /// Stored energy in J.
    fn energy(&self, u: &[f64]) -> f64;

    /// ∂U/∂u.
    fn force(&self, u: &[f64]) -> DVector<f64>;

    /// ∂²U/∂u².
    fn tangent(&self, u: &[f64]) -> DMatrix<f64>;

    /// Part of the tangent that the axial force brings.
    fn geometric_stiffness(&self, u: &[f64]) -> DMatrix<f64>;

    /// Force of dashpots, positive along the velocity.
    fn viscous_force(&self, u: &[f64], v: &[f64]) -> DVector<f64>;

    /// Its derivative by the velocity.
    fn damping(&self, u: &[f64], v: &[f64]) -> DMatrix<f64>;

    /// Mass matrix, from the shape functions or `lumped` on the diagonal.
    fn mass_matrix(&self, lumped: bool) -> DMatrix<f64>;

    /// Total mass in kg.
    fn total_mass(&self) -> f64;

    /// Axial force in N that it reports.
    fn axial_force(&self, u: &[f64]) -> f64;
}

/// Factors on the sample displacement: as it is, smaller, reversed, tiny, none.
const FACTORS: [f64; 5] = [1.0, 0.4, -0.2, 1e-3, 0.0];

/// Step of differences in m and rad.
const STEP: f64 = 1e-3;

/// Judges an element.
pub fn judge_element(id: &str, law: &dyn ElementLaw) -> Vec<Claim> {
    let mut claims = Claims { id, list: Vec::new() };
    derivatives(law, &mut claims);
    dashpots(law, &mut claims);
    masses(law, &mut claims);
    let facts = law.facts();
    if !facts.grounded && facts.nodes.len() == 2 {
        rigid_motions(law, &mut claims);
        axial(law, &mut claims);
    }
    claims.list
}

struct Claims<'a> {
    id: &'a str,
    list: Vec<Claim>,
}

impl Claims<'_> {
    fn at_most(&mut self, study: &str, what: &str, limit: f64, measured: f64, source: &str) {
        self.list.push(Claim::at_most(format!("{}/{study}", self.id), what, limit, measured, source));
    }

    fn near(&mut self, study: &str, what: &str, expected: (f64, f64), measured: f64, source: &str) {
        self.list.push(Claim::near(format!("{}/{study}", self.id), what, expected, measured, source));
    }
}

/// The larger of two distances; one that is not a number counts as infinite.
fn larger(a: f64, b: f64) -> f64 {
    if b.is_nan() { f64::INFINITY } else { a.max(b) }
}

fn relative(distance: f64, scale: f64) -> f64 {
    if distance == 0.0 { 0.0 } else { distance / scale }
}

fn asymmetry(matrix: &DMatrix<f64>) -> f64 {
    relative((matrix - matrix.transpose()).amax(), matrix.amax())
}

fn derivatives(law: &dyn ElementLaw, claims: &mut Claims<'_>) {
    let facts = law.facts();
    let [mut by_energy, mut by_force, mut unsymmetric, mut bent] = [0.0; 4];
    let zero = vec![0.0; facts.sample.len()];
    let (first, start) = (law.tangent(&zero), law.force(&zero));
    let mut largest = 0.0;
    for factor in FACTORS {
        let u: Vec<f64> = facts.sample.iter().map(|u| factor * u).collect();
        let (force, tangent) = (law.force(&u), law.tangent(&u));
        let slope = differences(&u, STEP, |u| DVector::from_element(1, law.energy(u)));
        let scale = force.amax().max(1e-3 * tangent.amax());
        by_energy = larger(by_energy, relative((slope.row(0).transpose() - &force).amax(), scale));
        let slope = differences(&u, STEP, |u| law.force(u));
        by_force = larger(by_force, relative((slope - &tangent).amax(), tangent.amax()));
        unsymmetric = larger(unsymmetric, asymmetry(&tangent));
        if facts.linear {
            bent = larger(bent, relative((&tangent - &first).amax(), first.amax()));
            let straight = &start + &first * DVector::from_column_slice(&u);
            bent = larger(bent, relative((&force - straight).amax(), scale));
        }
        largest = larger(largest, force.amax());
    }
    let differences = "five-point differences";
    claims.at_most("force", "relative distance of the force from ∂U/∂u", 1e-7, by_energy, differences);
    claims.at_most("tangent", "relative distance of the tangent from ∂f/∂u", 1e-7, by_force, differences);
    claims.at_most("symmetry", "relative asymmetry of the tangent", 1e-12, unsymmetric, "it is a Hessian");
    if facts.linear {
        claims.at_most("linear", "relative change of tangent and slope", 1e-12, bent, "it says so");
    }
    let v = speeds(facts);
    let other = law.viscous_force(&facts.sample, &v).amax().max(law.total_mass());
    claims.list.push(Claim::at_least(
        format!("{}/acts", claims.id),
        "largest force or mass: the checks are not of nothing",
        1e-3,
        larger(largest, other),
        "",
    ));
}

fn speeds(facts: &ElementFacts) -> Vec<f64> {
    (0..facts.sample.len()).map(|i| 0.3 * ((i as f64 + 1.0) * 1.7).sin()).collect()
}

fn dashpots(law: &dyn ElementLaw, claims: &mut Claims<'_>) {
    let facts = law.facts();
    let (u, v) = (&facts.sample, speeds(facts));
    let damping = law.damping(u, &v);
    let slope = differences(&v, STEP, |v| law.viscous_force(u, v));
    let gap = relative((slope - &damping).amax(), damping.amax());
    let power = law.viscous_force(u, &v).dot(&DVector::from_column_slice(&v));
    let says = f64::from(u8::from(facts.viscous != (damping.amax() > 0.0)));
    claims.at_most(
        "damping",
        "relative distance of D from the slope of the dashpots",
        1e-9,
        gap,
        "differences",
    );
    claims.at_most(
        "damping_symmetry",
        "relative asymmetry of D",
        1e-12,
        asymmetry(&damping),
        "it dissipates",
    );
    claims.at_most(
        "dissipation",
        "power that dashpots give to the motion in W",
        0.0,
        larger(0.0, -power),
        "second law",
    );
    claims.at_most("viscous", "whether it has dashpots, against what it says", 0.0, says, "it says so");
}

fn masses(law: &dyn ElementLaw, claims: &mut Claims<'_>) {
    let facts = law.facts();
    let scale = facts.mass.max(f64::MIN_POSITIVE);
    let mut total = (law.total_mass() - facts.mass).abs() / scale;
    let [mut unsymmetric, mut negative, mut off] = [0.0; 3];
    for lumped in [false, true] {
        let m = law.mass_matrix(lumped);
        unsymmetric = larger(unsymmetric, asymmetry(&m));
        negative = larger(negative, (-m.symmetric_eigenvalues().min()).max(0.0) / scale);
        for axis in 0..3 {
            let shift = facts.shift(&Vector3::ith(axis, 1.0));
            total = larger(total, (shift.dot(&(&m * &shift)) - facts.mass).abs() / scale);
        }
        if lumped {
            off = (&m - DMatrix::from_diagonal(&m.diagonal())).amax() / scale;
        }
    }
    claims.at_most(
        "mass",
        "relative distance of the mass in every direction",
        1e-12,
        total,
        "density times volume",
    );
    claims.at_most(
        "mass_symmetry",
        "relative asymmetry of the mass matrices",
        1e-14,
        unsymmetric,
        "kinetic energy",
    );
    claims.at_most("mass_definite", "negative part of the mass matrices", 1e-13, negative, "kinetic energy");
    claims.at_most("mass_lumped", "mass off the diagonal when lumped", 0.0, off, "definition");
    if facts.nodes.len() == 1 {
        let gap = (law.mass_matrix(true) - law.mass_matrix(false)).amax();
        claims.at_most(
            "mass_kinds",
            "difference of the two mass matrices of a point",
            0.0,
            gap,
            "definition",
        );
    }
    if let Some(axis) = facts.axis().filter(|_| facts.mass > 0.0) {
        let m = law.mass_matrix(false);
        let thin = facts.mass * axis.norm_squared() / 3.0;
        let across = facts.turns().into_iter().map(|turn| {
            let perpendicular = turn - axis * (turn.dot(&axis) / axis.norm_squared());
            let spin = facts.spin(&perpendicular.normalize());
            spin.dot(&(&m * &spin)) / thin
        });
        let worst = across.fold(1.0, |worst: f64, found| {
            if (found - 1.0).abs() > (worst - 1.0).abs() || found.is_nan() { found } else { worst }
        });
        if facts.rotations {
            let lumped = law.mass_matrix(true);
            let hermite = facts.mass * axis.norm_squared() / 78.0;
            let worst = (0..lumped.nrows()).filter(|i| i % 6 >= 3).fold(1.0, |worst: f64, i| {
                let found = lumped[(i, i)] / hermite;
                if (found - 1.0).abs() > (worst - 1.0).abs() || found.is_nan() { found } else { worst }
            });
            let source = "Hinton, Rock & Zienkiewicz: scaled diagonal of the Hermite matrix";
            claims.near(
                "mass_rotation",
                "lumped inertia of rotation over mL²/78",
                (1.0, 1e-9),
                worst,
                source,
            );
        }
        // Thick members turn with their section, too.
        claims.near("inertia", "moment of inertia about an end over mL²/3", (1.0, 0.02), worst, "thin rod");
    }
}

fn rigid_motions(law: &dyn ElementLaw, claims: &mut Claims<'_>) {
    let facts = law.facts();
    let u = DVector::from_column_slice(&facts.sample);
    let (energy, force) = (law.energy(u.as_slice()), law.force(u.as_slice()));
    let by = if facts.planar { Vector3::new(0.7, -0.4, 0.0) } else { Vector3::new(0.7, -0.4, 0.9) };
    let moved = &u + facts.shift(&by);
    let mut shifted = relative((law.force(moved.as_slice()) - &force).amax(), force.amax());
    if !facts.weighs {
        shifted = larger(shifted, (law.energy(moved.as_slice()) - energy).abs() / energy);
        let zero = vec![0.0; u.len()];
        // A member under tension resists turning.
        let taut = law.force(&zero).amax() > 0.0;
        let k = law.tangent(&zero);
        let shifts = facts.turns().len().max(2);
        let mut motions: Vec<DVector<f64>> =
            (0..shifts).map(|axis| facts.shift(&Vector3::ith(axis, 1.0))).collect();
        if !taut {
            motions.extend(facts.turns().iter().map(|turn| facts.spin(turn)));
        }
        let resisted = motions.iter().fold(0.0, |worst, motion| {
            larger(worst, relative((&k * motion).amax(), k.amax() * motion.amax()))
        });
        let strains = match (facts.rotations, facts.planar) {
            (true, false) => 6,
            (true, true) => 3,
            (false, _) => {
                if taut {
                    3
                } else {
                    1
                }
            }
        };
        let rank = k.clone().svd(false, false).rank(1e-9 * k.amax());
        let small = "rigid motions do not strain";
        claims.at_most("rigid", "relative force against small rigid motions", 1e-10, resisted, small);
        claims.near(
            "strains",
            "independent motions that it resists",
            (f64::from(strains), 0.0),
            rank as f64,
            small,
        );
    }
    claims.at_most(
        "shift",
        "relative change of force and energy when moved as a whole",
        1e-9,
        shifted,
        "no place is special",
    );
    if facts.finite_rotations {
        let axis = if facts.planar { Vector3::z() } else { Vector3::new(0.3, -0.5, 0.8).normalize() };
        let rotation = Rotation3::from_scaled_axis(axis * 1.1);
        let turned = turned(facts, &axis, 1.1);
        let after = law.force(turned.as_slice());
        let mut apart = 0.0;
        for node in 0..2 {
            let at = node * facts.per_node();
            let was = rotation * force.fixed_rows::<3>(at);
            apart = larger(apart, relative((was - after.fixed_rows::<3>(at)).amax(), force.amax()));
        }
        let gap = (law.energy(turned.as_slice()) - energy).abs() / energy;
        let source = "strains do not see rotations";
        claims.at_most(
            "turned_energy",
            "relative change of energy when turned as a whole",
            1e-12,
            gap,
            source,
        );
        claims.at_most("turned_force", "relative distance from the turned force", 1e-10, apart, source);
    }
}

/// The sample displacement after the displaced element was turned about the origin.
fn turned(facts: &ElementFacts, axis: &Vector3<f64>, angle: f64) -> DVector<f64> {
    let rotation = Rotation3::from_scaled_axis(axis * angle);
    let mut turned = DVector::from_column_slice(&facts.sample);
    for (node, x) in facts.nodes.iter().enumerate() {
        let at = node * facts.per_node();
        let u: Vector3<f64> = turned.fixed_rows::<3>(at).into_owned();
        turned.fixed_rows_mut::<3>(at).copy_from(&(rotation * (x + u) - x));
        if facts.rotations {
            let theta: Vector3<f64> = turned.fixed_rows::<3>(at + 3).into_owned();
            // About one axis angles add beyond a half turn; rotation vectors in space do not.
            let total = if facts.planar {
                theta + axis * angle
            } else {
                (rotation * Rotation3::from_scaled_axis(theta)).scaled_axis()
            };
            turned.fixed_rows_mut::<3>(at + 3).copy_from(&total);
        }
    }
    turned
}

/// The axial force that is reported pulls at the ends, and turns with them.
fn axial(law: &dyn ElementLaw, claims: &mut Claims<'_>) {
    let facts = law.facts();
    let Some(axis) = facts.axis().filter(|_| !facts.weighs) else { return };
    let per = facts.per_node();
    let second = |u: &[f64]| Vector3::new(u[per] - u[0], u[per + 1] - u[1], u[per + 2] - u[2]);
    let mut reported = 0.0;
    for factor in FACTORS {
        let u: Vec<f64> = facts.sample.iter().map(|u| factor * u).collect();
        let chord = if facts.linear { axis } else { axis + second(&u) };
        let force = law.force(&u);
        let along = force.fixed_rows::<3>(per).dot(&chord.normalize());
        let scale = force.amax().max(f64::MIN_POSITIVE);
        reported = larger(reported, (law.axial_force(&u) - along).abs() / scale);
    }
    claims.at_most(
        "reported",
        "relative distance of the axial force from the pull at its end",
        1e-9,
        reported,
        "equilibrium",
    );
    // In a small displacement, so that the reference axis and the current one are the same.
    let u: Vec<f64> = facts.sample.iter().map(|u| 1e-4 * u).collect();
    let (k, force) = (law.geometric_stiffness(&u), law.axial_force(&u));
    let mut apart = asymmetry(&k);
    for turn in facts.turns() {
        let pull = turn.cross(&axis.normalize()) * force;
        let mut expected = DVector::zeros(u.len());
        expected.fixed_rows_mut::<3>(0).copy_from(&-pull);
        expected.fixed_rows_mut::<3>(per).copy_from(&pull);
        apart =
            larger(apart, (&k * facts.spin(&turn) - expected).amax() / force.abs().max(f64::MIN_POSITIVE));
    }
    claims.at_most(
        "geometric",
        "small turn: distance of the geometric stiffness from the turned axial force over that force",
        0.01,
        apart,
        "a rigid turn turns the forces",
    );
}
