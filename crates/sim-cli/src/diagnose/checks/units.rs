//! Numbers whose size says that they are in another unit.

use super::Check;
use crate::diagnose::finding::{Finding, short};
use crate::diagnose::patient::{Patient, bounds};
use crate::edit::Change;
use sim_io::scene::force::ForceSpec;
use sim_io::scene::part::Part;

pub(super) const CHECK: Check =
    Check { causes: &[CAUSE], summary: "a number has the size that it would have in another unit", look };

const CAUSE: &str = "units";

/// A number that is not what it seems: where, its value and unit, and what it would be in the unit it was probably written in.
struct Suspect {
    path: String,
    value: f64,
    unit: &'static str,
    range: String,
    other: &'static str,
    factor: f64,
}

impl Suspect {
    fn finding(&self) -> Finding {
        let meant = self.value * self.factor;
        Finding::fault(
            CAUSE,
            format!("`{}` = {} {} is no usual value", self.path, short(self.value), self.unit),
        )
        .seen(format!("usual values lie in {} {}", self.range, self.unit))
        .seen(format!("as {} it would be {} {}", self.other, short(meant), self.unit))
        .remedy(format!("give it in {}", self.unit))
        .change(Change::set(self.path.clone(), number(meant)))
    }
}

/// TOML's own notation, with as many digits as the number has.
fn number(value: f64) -> String {
    let rounded: f64 = format!("{value:.12e}").parse().unwrap_or(value);
    format!("{rounded:?}")
}

/// A unit people use by mistake, and what turns its numbers into SI.
type Other = (&'static str, f64);

/// The number with the first of some units that brings it into its usual range.
fn suspect(
    path: String,
    value: Option<f64>,
    (low, high): (f64, f64),
    unit: &'static str,
    others: &[Other],
) -> Option<Finding> {
    let value = value?;
    if value == 0.0 || (low..=high).contains(&value.abs()) {
        return None;
    }
    let fits = |(_, factor): &&Other| (low..=high).contains(&(value.abs() * factor));
    let (other, factor) = *others.iter().find(fits)?;
    let range = format!("{} to {}", short(low), short(high));
    Some(Suspect { path, value, unit, range, other, factor }.finding())
}

/// Solids: from foams to osmium.
fn density(path: String, value: Option<f64>) -> Option<Finding> {
    suspect(path, value, (10.0, 23_000.0), "kg/m³", &[("g/cm³", 1e3), ("t/mm³", 1e12), ("g/m³", 1e-3)])
}

/// Solids: from gels to diamond.
fn modulus(path: String, value: Option<f64>) -> Option<Finding> {
    suspect(path, value, (2e3, 1.3e12), "Pa", &[("GPa", 1e9), ("MPa", 1e6), ("kPa", 1e3)])
}

/// Fabrics: from silk to carpet.
fn areal(path: String, value: Option<f64>) -> Option<Finding> {
    suspect(path, value, (5e-3, 20.0), "kg/m²", &[("g/m²", 1e-3)])
}

fn look(patient: &Patient) -> Vec<Finding> {
    let scene = &patient.scene;
    let mut findings = Vec::new();
    for (name, material) in &scene.materials {
        let path = |field: &str| format!("material.{name}.{field}");
        findings.extend(density(path("density"), material.density));
        findings.extend(modulus(path("youngs_modulus"), material.youngs_modulus));
        findings.extend(modulus(path("shear_modulus"), material.shear_modulus));
    }
    for (index, part) in scene.parts.iter().enumerate() {
        let path = |field: &str| format!("part.{index}.{field}");
        let (own, young, per_area) = match part {
            Part::Rope(part) => (part.density, part.youngs_modulus, None),
            Part::Belt(part) => (part.density, part.youngs_modulus, None),
            Part::Coil(part) => (part.density, None, None),
            Part::Cloth(part) => (part.density, part.youngs_modulus, part.areal_density),
            Part::Mesh(part) => (part.density, part.youngs_modulus, part.areal_density),
            Part::Particles(_) => (None, None, None),
        };
        findings.extend(density(path("density"), own));
        findings.extend(modulus(path("youngs_modulus"), young));
        findings.extend(areal(path("areal_density"), per_area));
        if let Part::Coil(coil) = part {
            findings.extend(modulus(path("shear_modulus"), coil.shear_modulus));
        }
        findings.extend(size(patient, index));
    }
    findings.extend(gravity(patient));
    findings.extend(frame(patient));
    findings.extend(angles(patient));
    findings.extend(too_soft(patient));
    findings
}

/// On planets and moons.
fn gravity(patient: &Patient) -> Option<Finding> {
    let (index, acceleration) =
        patient.scene.forces.iter().enumerate().find_map(|(index, force)| match force {
            ForceSpec::Gravity(gravity) => Some((index, gravity.acceleration)),
            _ => None,
        })?;
    let size = acceleration.iter().map(|a| a * a).sum::<f64>().sqrt();
    if size == 0.0 || (0.1..=30.0).contains(&size) {
        return None;
    }
    let (other, factor) = [("cm/s²", 1e-2), ("mm/s²", 1e-3), ("g", 9.80665)]
        .into_iter()
        .find(|(_, f)| (1.0..=30.0).contains(&(size * f)))?;
    let meant = acceleration.map(|a| a * factor);
    Some(
        Finding::fault(CAUSE, format!("gravity of {} m/s² is that of no planet", short(size)))
            .seen(format!(
                "as {other} it would be {} m/s²; on the ground it is 9.80665",
                short(size * factor)
            ))
            .remedy("give lengths in m and times in s")
            .change(Change::set(
                format!("force.{index}.acceleration"),
                format!("[{}, {}, {}]", number(meant[0]), number(meant[1]), number(meant[2])),
            )),
    )
}

fn frame(patient: &Patient) -> Option<Finding> {
    let time = patient.scene.time;
    let finding = suspect("time.frame".to_owned(), Some(time.frame), (1e-7, 1.0), "s", &[("ms", 1e-3)])?;
    // A duration of a few seconds is right beside a frame in ms, as long as it still is a whole number of frames.
    let frame = time.frame * 1e-3;
    let frames = (time.duration / frame).round().max(1.0);
    Some(finding.change(Change::set("time.duration", number(frames * frame))))
}

fn angles(patient: &Patient) -> Option<Finding> {
    let (index, turn) = patient.scene.colliders.iter().enumerate().find_map(|(index, collider)| {
        let size = collider.turn.iter().map(|a| a * a).sum::<f64>().sqrt();
        // More than a whole turn is never needed.
        (size > std::f64::consts::TAU).then_some((index, collider.turn))
    })?;
    let meant = turn.map(f64::to_radians);
    Some(
        Finding::fault(
            CAUSE,
            format!("`collider.{index}.turn` goes round more than once; angles are in rad"),
        )
        .seen(format!(
            "as degrees it would be [{}, {}, {}] rad",
            short(meant[0]),
            short(meant[1]),
            short(meant[2])
        ))
        .remedy("give angles in rad")
        .change(Change::set(
            format!("collider.{index}.turn"),
            format!("[{}, {}, {}]", number(meant[0]), number(meant[1]), number(meant[2])),
        )),
    )
}

/// Meshes of garments come in mm and cm.
fn size(patient: &Patient, index: usize) -> Option<Finding> {
    let Part::Mesh(mesh) = &patient.scene.parts[index] else { return None };
    let layout = &patient.model.layout.parts[index];
    let [low, high] = bounds(&patient.model.state.q[3 * layout.particles.start..3 * layout.particles.end]);
    let extent = (0..3).map(|c| high[c] - low[c]).fold(0.0, f64::max);
    if (5e-3..=50.0).contains(&extent) {
        return None;
    }
    let (other, factor) = [("cm", 1e-2), ("mm", 1e-3), ("km", 1e3)]
        .into_iter()
        .find(|(_, f)| (0.05..=30.0).contains(&(extent * f)))?;
    Some(
        Finding::fault(CAUSE, format!("the mesh of part {} is {} m large", mesh.id, short(extent)))
            .seen(format!("as a file in {other} it would be {} m", short(extent * factor)))
            .remedy("say how many m a unit of the file is with `scale`")
            .change(Change::set(format!("part.{index}.scale"), number(mesh.scale * factor))),
    )
}

/// A rope whose own weight stretches it by a large part of its length was given its stiffness in kN or its mass in g.
fn too_soft(patient: &Patient) -> Option<Finding> {
    /// Strain under a rope's own weight from which it is no rope.
    const STRAIN: f64 = 0.3;
    let gravity = patient.gravity();
    let (index, part, stiffness, strain) =
        patient.scene.parts.iter().enumerate().find_map(|(index, part)| {
            let Part::Rope(rope) = part else { return None };
            let stiffness = rope.axial_stiffness?;
            let layout = &patient.model.layout.parts[index];
            let mass: f64 =
                sim_core::ExplicitSystem::mass(&patient.model.system)[layout.particles.clone()].iter().sum();
            let strain = mass * gravity / stiffness;
            (strain > STRAIN).then_some((index, part, stiffness, strain))
        })?;
    let (other, factor) = [("kN", 1e3), ("MN", 1e6)].into_iter().find(|(_, f)| strain / f < 0.02)?;
    Some(
        Finding::fault(
            CAUSE,
            format!("part {} stretches by {} % under its own weight", part.id(), short(100.0 * strain)),
        )
        .seen(format!(
            "`axial_stiffness` is {} N; as {other} it would be {} N",
            short(stiffness),
            short(stiffness * factor)
        ))
        .remedy("give forces in N and masses in kg; the stiffness of a rope is E times its area")
        .change(Change::set(format!("part.{index}.axial_stiffness"), number(stiffness * factor))),
    )
}
