//! Parts as particles and springs.

mod membrane;

use super::laws::{self, PartLaws};
use crate::mesh::{Mesh, MeshReport};
use crate::scene::check::At;
use crate::scene::document::Scene;
use crate::scene::error::SceneError;
use crate::scene::law::LawSpec;
use crate::scene::library;
use crate::scene::part::{Belt, Cloth, Coil, Faces, Material, MeshPart, Part, Particles, Rope, RopeShape};
use nalgebra::Vector3;
use sim_core::force::springs::Spring;
use sim_core::topology::{
    BeltLoopOptions, ClothFaces, ClothOptions, Pulley, RopeOptions, Topology, belt_loop, cloth, rope,
};
use sim_core::{Density, RestLength, SpringOptions, SpringStiffness, lumped_masses};

/// A part, by itself: indices count from 0.
pub(super) struct Laid {
    pub topology: Topology,
    pub mass: Vec<f64>,
    pub velocities: Option<Vec<[f64; 3]>>,
    /// Structural springs first.
    pub springs: Vec<Spring>,
    pub structural: usize,
    pub grid: Option<[usize; 2]>,
    pub bending: Bending,
    pub mesh: Option<MeshReport>,
    /// Whether the scene asked for the stress at the start.
    pub stress_intended: bool,
    /// Springs that follow a law.
    pub laws: PartLaws,
}

/// What resists bending.
pub(super) enum Bending {
    None,
    /// EI in N·m², straight at rest.
    Line(f64),
    /// EI in N·m², without moment in its own shape.
    Loop(f64),
    /// Per width, in N·m.
    Surface(f64),
}

pub(super) fn part(part: &Part, scene: &Scene, at: &At<'_>) -> Result<Laid, SceneError> {
    let material = part.material().and_then(|name| scene.materials.get(name)).copied().unwrap_or_default();
    match part {
        Part::Rope(part) => lay_rope(part, material, at),
        Part::Belt(part) => lay_belt(part, material, at),
        Part::Coil(part) => lay_coil(part, material, at),
        Part::Cloth(part) => lay_cloth(part, material, at),
        Part::Mesh(part) => lay_mesh(part, material, scene, at),
        Part::Particles(part) => Ok(lay_particles(part)),
    }
}

/// What the model says, at the part's place.
fn model_error(at: &At<'_>) -> impl Fn(&dyn std::error::Error) -> SceneError {
    let place = at.place();
    move |error| SceneError::Model { place: place.clone(), message: super::with_sources(error) }
}

/// `direct`, or `factor × measure`; the scene was checked to give one of them.
fn either(direct: Option<f64>, factor: Option<f64>, measure: Option<f64>) -> f64 {
    direct.or_else(|| Some(factor? * measure?)).expect("checked scenes give one or the other")
}

/// A line of springs with EA, in which `rest` says how the unloaded length follows from the geometry.
struct Line {
    topology: Topology,
    axial_stiffness: f64,
    linear_density: f64,
    axial_damping: f64,
    factor: f64,
    bending: Bending,
    stress_intended: bool,
}

impl Line {
    fn lay(self, at: &At<'_>) -> Result<Laid, SceneError> {
        let refuse = model_error(at);
        let springs = SpringOptions {
            stiffness: SpringStiffness::Axial(self.axial_stiffness),
            damping_time: self.axial_damping / self.axial_stiffness,
            rest_length: RestLength::Factor(self.factor),
        }
        .lay(&self.topology, self.topology.segments.iter().copied())
        .map_err(|error| refuse(&error))?;
        // The density is per unloaded length; the geometry may be stretched.
        let mass = lumped_masses(&self.topology, Density::Linear(self.linear_density * self.factor))
            .map_err(|error| refuse(&error))?;
        Ok(Laid {
            structural: springs.len(),
            topology: self.topology,
            mass,
            velocities: None,
            springs,
            grid: None,
            bending: self.bending,
            mesh: None,
            stress_intended: self.stress_intended,
            laws: PartLaws::default(),
        })
    }
}

/// Unloaded over given length.
fn length_factor(length: Option<f64>, tension: Option<f64>, geometric: f64, axial_stiffness: f64) -> f64 {
    match (length, tension) {
        (Some(length), _) => length / geometric,
        (None, Some(tension)) => 1.0 / (1.0 + tension / axial_stiffness),
        (None, None) => 1.0,
    }
}

fn lay_rope(part: &Rope, material: Material, at: &At<'_>) -> Result<Laid, SceneError> {
    let refuse = model_error(at);
    let hanging = part.shape == RopeShape::Hanging;
    let options = RopeOptions {
        length: if hanging { part.length } else { None },
        down: part.down,
        ..RopeOptions::new(part.from, part.to, part.segments)
    };
    let topology = rope(&options).map_err(|error| refuse(&error))?;
    let area = part.section.map(|section| section.area());
    let axial_stiffness = match &part.law {
        Some(law) => laws::nominal_stiffness(law, area),
        None => either(part.axial_stiffness, part.youngs_modulus.or(material.youngs_modulus), area),
    };
    let straight_length = if hanging { None } else { part.length };
    let mut laid = Line {
        factor: length_factor(straight_length, part.tension, topology.total_length(), axial_stiffness),
        axial_stiffness,
        linear_density: either(part.linear_density, part.density.or(material.density), area),
        axial_damping: part.axial_damping,
        bending: if part.bending_stiffness > 0.0 {
            Bending::Line(part.bending_stiffness)
        } else {
            Bending::None
        },
        stress_intended: part.tension.is_some()
            || part.law.as_ref().is_some_and(|law| law.temperature_change != 0.0),
        topology,
    }
    .lay(at)?;
    if let Some(law) = &part.law {
        laid.springs.iter_mut().for_each(|spring| spring.rest_length *= law.expansion());
        laid.laws = PartLaws::of_line(law, laid.springs.len(), area);
    }
    Ok(laid)
}

fn lay_belt(part: &Belt, material: Material, at: &At<'_>) -> Result<Laid, SceneError> {
    let refuse = model_error(at);
    let pulleys = part.pulleys.iter().map(|p| Pulley { center: p.center, radius: p.radius }).collect();
    let options = BeltLoopOptions { normal: part.normal, ..BeltLoopOptions::new(pulleys, part.segments) };
    let topology = belt_loop(&options).map_err(|error| refuse(&error))?;
    let area = part.section.map(|section| section.area());
    let axial_stiffness = either(part.axial_stiffness, part.youngs_modulus.or(material.youngs_modulus), area);
    Line {
        factor: length_factor(part.length, part.tension, topology.total_length(), axial_stiffness),
        axial_stiffness,
        linear_density: either(part.linear_density, part.density.or(material.density), area),
        axial_damping: part.axial_damping,
        bending: if part.bending_stiffness > 0.0 {
            Bending::Loop(part.bending_stiffness)
        } else {
            Bending::None
        },
        stress_intended: part.tension.is_some() || part.is_drive(),
        topology,
    }
    .lay(at)
}

/// The coil's axis as a chain: rate `k = G d⁴ / (8 D³ n)`, wire mass `ρ (π d²/4) (π D n)` (Wahl, Mechanical Springs, 1963).
fn lay_coil(part: &Coil, material: Material, at: &At<'_>) -> Result<Laid, SceneError> {
    let refuse = model_error(at);
    let shear_modulus =
        part.shear_modulus.or(material.shear()).expect("checked scenes give one or the other");
    let density = part.density.or(material.density).expect("checked scenes give one or the other");
    let (d, diameter, n) = (part.wire_diameter, part.coil_diameter, part.turns);
    let pi = std::f64::consts::PI;
    let rate = shear_modulus * d.powi(4) / (8.0 * diameter.powi(3) * n);
    let mass = density * (0.25 * pi * d * d) * (pi * diameter * n);
    let length = part.length.unwrap_or(part.free_length);
    let axis = Vector3::from(part.axis).normalize();
    let to: [f64; 3] = (Vector3::from(part.from) + axis * length).into();
    let topology = rope(&RopeOptions::new(part.from, to, part.segments)).map_err(|error| refuse(&error))?;
    Line {
        axial_stiffness: rate * part.free_length,
        linear_density: mass / part.free_length,
        axial_damping: part.damping * part.free_length,
        factor: part.free_length / length,
        bending: Bending::None,
        stress_intended: false,
        topology,
    }
    .lay(at)
}

fn lay_cloth(part: &Cloth, material: Material, at: &At<'_>) -> Result<Laid, SceneError> {
    let options = ClothOptions {
        faces: match part.faces {
            Faces::Quads => ClothFaces::Quads,
            Faces::Triangles => ClothFaces::Triangles,
        },
        origin: part.origin,
        width_direction: part.width_direction,
        height_direction: part.height_direction,
        ..ClothOptions::new(part.width, part.height, part.columns, part.rows)
    };
    let topology = cloth(&options).map_err(|error| model_error(at)(&error))?;
    let cell = part.width / part.columns as f64 * (part.height / part.rows as f64);
    let laid = membrane::Membrane {
        stretch_stiffness: either(
            part.membrane_stiffness,
            part.youngs_modulus.or(material.youngs_modulus),
            part.thickness,
        ),
        areal_density: either(part.areal_density, part.density.or(material.density), part.thickness),
        shear_stiffness: part.shear_stiffness,
        bending_stiffness: part.bending_stiffness,
        damping_time: part.damping_time,
        cell: Some(cell),
    }
    .lay(topology, at)?;
    Ok(Laid { grid: Some([part.columns, part.rows]), ..laid })
}

fn lay_mesh(part: &MeshPart, material: Material, scene: &Scene, at: &At<'_>) -> Result<Laid, SceneError> {
    let refuse = |source| SceneError::Mesh { place: at.field("file").place(), source };
    let built_in = library::FILES.iter().find(|file| file.name == part.file);
    let mut mesh = match built_in.filter(|_| scene.folder.as_os_str().is_empty()) {
        Some(file) => Mesh::parse_obj(file.name, file.text, &part.mend),
        None => Mesh::read_obj(&scene.folder.join(&part.file), &part.mend),
    }
    .map_err(refuse)?;
    mesh.place(part.scale, part.translate);
    let topology = mesh.topology(&part.file).map_err(refuse)?;
    let laid = membrane::Membrane {
        stretch_stiffness: either(
            part.membrane_stiffness,
            part.youngs_modulus.or(material.youngs_modulus),
            part.thickness,
        ),
        areal_density: either(part.areal_density, part.density.or(material.density), part.thickness),
        shear_stiffness: part.shear_stiffness,
        bending_stiffness: part.bending_stiffness,
        damping_time: part.damping_time,
        cell: None,
    }
    .lay(topology, at)?;
    Ok(Laid { mesh: Some(mesh.report()), ..laid })
}

fn lay_particles(part: &Particles) -> Laid {
    let positions: Vec<[f64; 3]> = part.particles.iter().map(|particle| particle.position).collect();
    let distance = |[a, b]: [usize; 2]| (Vector3::from(positions[b]) - Vector3::from(positions[a])).norm();
    let mut part_laws = PartLaws::default();
    let springs: Vec<Spring> = part
        .springs
        .iter()
        .map(|spring| {
            part_laws.push(spring.law.as_ref());
            let rest_length = spring.rest_length.unwrap_or_else(|| distance(spring.ends));
            let expansion = spring.law.as_ref().map_or(1.0, LawSpec::expansion);
            let nominal =
                || spring.law.as_ref().map_or(0.0, |law| laws::nominal_stiffness(law, None) / rest_length);
            Spring {
                ends: spring.ends.map(|end| end as u32),
                rest_length: rest_length * expansion,
                stiffness: spring.stiffness.unwrap_or_else(nominal),
                damping: spring.damping,
            }
        })
        .collect();
    Laid {
        topology: Topology {
            segments: springs.iter().map(|spring| spring.ends).collect(),
            positions,
            ..Topology::default()
        },
        mass: part.particles.iter().map(|particle| particle.mass).collect(),
        velocities: Some(part.particles.iter().map(|particle| particle.velocity).collect()),
        structural: springs.len(),
        springs,
        grid: None,
        bending: Bending::None,
        mesh: None,
        // Rest lengths of single springs are stated one by one.
        stress_intended: false,
        laws: part_laws,
    }
}
