//! From a scene to particles, springs and forces.

mod collide;
mod constrained;
mod display;
mod forces;
mod laws;
mod lay;
mod select;
mod solid;
mod start;

pub(crate) use constrained::Body;
pub use constrained::Constrained;
pub(crate) use display::Skin;
pub use laws::LawLayout;
pub(crate) use laws::{Breakages, begin_history};
pub use start::{RelaxReport, StartError};

use crate::mesh::MeshReport;
use crate::run::result::{Display, PartStress};
use crate::run::xpbd::MethodOptions;
use crate::scene::check::At;
use crate::scene::check::contact::XPBD;
use crate::scene::document::Scene;
use crate::scene::error::SceneError;
use crate::scene::part::Part;
use crate::scene::support::{Initial, Origin, Selection};
use lay::Laid;
use sim_core::force::springs::Springs;
use sim_core::{InitialStressReport, Motion, ParticleSystem, ParticleSystemBuilder, State};
use std::ops::Range;

/// Strain below which a stated length counts as that of the geometry: rounding of a sum of segment lengths.
const NO_STRAIN: f64 = 1e-12;

/// A scene made of particles.
#[derive(Debug)]
pub struct Model {
    /// Masses, pins, drives and forces, with parts as springs.
    pub system: ParticleSystem,
    /// The same with parts as constraints, for the method `xpbd`.
    pub constrained: Option<Constrained>,
    /// Start of the run: positions of the geometry, at rest except for what the scene says of single particles.
    pub state: State,
    /// Which particle and spring belongs to which part.
    pub layout: Layout,
    /// Stress of parts whose rest lengths differ from their geometry.
    pub initial_stress: Vec<PartStress>,
    /// What was imported, by part.
    pub meshes: Vec<(String, MeshReport)>,
    /// What a reader should know.
    pub warnings: Vec<String>,
    /// Particles of every entry of the scene's `initial`.
    moved: Vec<Vec<usize>>,
}

/// Where parts are found in the arrays of the system.
#[derive(Debug)]
pub struct Layout {
    /// Parts in the order of the scene.
    pub parts: Vec<PartLayout>,
    /// All springs, part by part. Those with a law have a nominal stiffness here.
    pub springs: Springs,
    /// Springs that follow a law.
    pub laws: Option<LawLayout>,
    /// How to draw a state.
    pub display: Display,
    skins: Vec<Skin>,
}

/// One part.
#[derive(Clone, Debug, PartialEq)]
pub struct PartLayout {
    /// Id.
    pub id: String,
    /// Word of its kind.
    pub kind: &'static str,
    /// Its particles.
    pub particles: Range<usize>,
    /// Its structural springs, along its line or edges.
    pub structural: Range<usize>,
    /// All its springs.
    pub springs: Range<usize>,
    /// Columns and rows of cells of a cloth.
    pub grid: Option<[usize; 2]>,
}

impl Layout {
    /// The part of that id. The scene was checked, so it exists.
    pub(crate) fn part(&self, id: &str) -> &PartLayout {
        self.parts.iter().find(|part| part.id == id).expect("checked scenes name parts that exist")
    }

    /// Which part a spring belongs to, and which of its springs it is.
    pub fn spring_owner(&self, spring: usize) -> Option<(&PartLayout, usize)> {
        let part = self.parts.iter().find(|part| part.springs.contains(&spring))?;
        Some((part, spring - part.springs.start))
    }

    /// Which part a particle belongs to, and which of its particles it is.
    pub fn particle_owner(&self, particle: usize) -> Option<(&PartLayout, usize)> {
        let part = self.parts.iter().find(|part| part.particles.contains(&particle))?;
        Some((part, particle - part.particles.start))
    }
}

/// Builds the particle system of a scene.
///
/// # Errors
/// [`SceneError`] for what can only be seen once parts are laid out: meshes, particles that do not exist, impossible geometry.
pub fn build(scene: &Scene) -> Result<Model, SceneError> {
    let root = At::root(&scene.source);
    let (mut q, mut v, mut mass, mut springs) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let (mut parts, mut laid_parts, mut meshes) = (Vec::new(), Vec::new(), Vec::new());
    let (mut initial_stress, mut warnings) = (Vec::new(), Vec::new());
    for (index, part) in scene.parts.iter().enumerate() {
        let at = root.field("part").index(index);
        let laid = lay::part(part, scene, &at)?;
        let first = mass.len();
        let offset = u32::try_from(first)
            .map_err(|_| at.refuse(first, "such that all parts together have fewer than 2^32 particles"))?;
        q.extend(laid.topology.positions.as_flattened());
        match &laid.velocities {
            Some(velocities) => v.extend(velocities.as_flattened()),
            None => v.extend(std::iter::repeat_n(0.0, laid.topology.positions.len() * 3)),
        }
        mass.extend(&laid.mass);
        let start = springs.len();
        springs.extend(laid.springs.iter().map(|spring| {
            let ends = spring.ends.map(|end| end + offset);
            sim_core::force::springs::Spring { ends, ..*spring }
        }));
        parts.push(PartLayout {
            id: part.id().to_owned(),
            kind: part.kind(),
            particles: first..mass.len(),
            structural: start..start + laid.structural,
            springs: start..springs.len(),
            grid: laid.grid,
        });
        warnings.extend(unusual_density(part, scene));
        if let Some(report) = &laid.mesh {
            meshes.push((part.id().to_owned(), report.clone()));
        }
        laid_parts.push(laid);
    }
    let laws = LawLayout::new(&springs, &laid_parts);
    let springs = Springs::new(springs);
    let mut layout = Layout { parts, springs, laws, display: Display::default(), skins: Vec::new() };
    for (index, laid) in laid_parts.iter().enumerate() {
        stress(&layout, index, (laid, &q), &mut initial_stress, &mut warnings);
    }
    for (index, extra) in scene.point_masses.iter().enumerate() {
        let at = root.field("point_mass").index(index).field("at");
        for particle in select::particles(&extra.at, layout.part(&extra.part), &q, &at)? {
            mass[particle] += extra.mass;
        }
    }
    let (system, held) = particles(scene, &root, (&layout, &laid_parts), (&mass, &q), true)?;
    let mut state = State { t: scene.time.start, q, v, internal: Vec::new() };
    let mut solved = None;
    if scene.method.id == XPBD {
        let method = MethodOptions::of(scene)?;
        let (explicit, _) = particles(scene, &root, (&layout, &laid_parts), (&mass, &state.q), false)?;
        let (model, start) =
            constrained::build(scene, &root, (&layout, &laid_parts), &state.q, explicit, &method)?;
        if let Body::Belt(belt) = &model.body {
            (state.q, state.v) = (start.q, start.v);
            layout.springs = belt_springs(belt);
        }
        state.internal = start.internal;
        solved = Some(model);
    }
    (layout.display, layout.skins) =
        display::of(scene, (&layout, &laid_parts), &held, &state.q, solved.as_ref())?;
    let moved = initial_particles(scene, &root, &layout, &state.q)?;
    state
        .validate(mass.len())
        .map_err(|error| SceneError::Model { place: root.place(), message: error.to_string() })?;
    Ok(Model { system, constrained: solved, state, layout, initial_stress, meshes, warnings, moved })
}

/// The particles with their supports and forces; `elastic` with the springs and hinges of the parts. Also the particles that are
/// held or driven.
fn particles(
    scene: &Scene,
    root: &At<'_>,
    (layout, laid): (&Layout, &[Laid]),
    (mass, q): (&[f64], &[f64]),
    elastic: bool,
) -> Result<(ParticleSystem, Vec<usize>), SceneError> {
    let mut builder = ParticleSystemBuilder::new(mass.to_vec()).rest_positions(q.to_vec());
    if elastic {
        builder = layout.add_springs(builder);
        for (part, laid) in layout.parts.iter().zip(laid) {
            builder = forces::bending(laid, part.particles.start, builder);
        }
    }
    let held = supports(scene, root, layout, q, &mut builder)?;
    for (index, force) in scene.forces.iter().enumerate() {
        let at = root.field("force").index(index);
        builder = forces::add(force, &forces::Parts { layout, laid }, q, &at, builder)?;
    }
    let system = builder
        .build()
        .map_err(|error| SceneError::Model { place: root.place(), message: with_sources(&error) })?;
    Ok((system, held))
}

/// The segments of a belt drive as it was laid round its pulleys.
fn belt_springs(belt: &sim_pbd::BeltModel) -> Springs {
    let drive = belt.drive();
    let (n, rest_length) = (drive.particles as u32, drive.rest_length / drive.particles as f64);
    let stiffness = drive.axial_stiffness / rest_length;
    Springs::new((0..n).map(|i| sim_core::force::springs::Spring {
        ends: [i, (i + 1) % n],
        rest_length,
        stiffness,
        damping: 0.0,
    }))
}

/// Densities of solids in kg/m³, from foams to osmium: beyond these a unit is likelier wrong than the material rare.
const SOLID_DENSITY: std::ops::RangeInclusive<f64> = 10.0..=23_000.0;

/// Warns of a density that no solid has.
fn unusual_density(part: &Part, scene: &Scene) -> Option<String> {
    let own = match part {
        Part::Rope(part) => part.density,
        Part::Belt(part) => part.density,
        Part::Coil(part) => part.density,
        Part::Cloth(part) => part.density,
        Part::Mesh(part) => part.density,
        Part::Particles(_) => None,
    };
    let shared = part.material().and_then(|name| scene.materials.get(name)?.density);
    let density = own.or(shared).filter(|density| !SOLID_DENSITY.contains(density))?;
    Some(format!(
        "part {}: density {density} kg/m³ is that of no usual solid; densities are in kg/m³",
        part.id()
    ))
}

/// An error with everything that caused it, on one line.
pub(crate) fn with_sources(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(inner) = source {
        let inner_text = inner.to_string();
        // Transparent errors repeat themselves.
        if !text.ends_with(&inner_text) {
            text.push_str(": ");
            text.push_str(&inner_text);
        }
        source = inner.source();
    }
    text
}

/// Adds pins and drives to the builder; returns the particles that are held or driven.
fn supports(
    scene: &Scene,
    root: &At<'_>,
    layout: &Layout,
    q: &[f64],
    builder: &mut ParticleSystemBuilder,
) -> Result<Vec<usize>, SceneError> {
    let mut held = Vec::new();
    let mut driven_by = std::collections::HashMap::new();
    let mut taken = ParticleSystemBuilder::new(Vec::new());
    std::mem::swap(&mut taken, builder);
    for (index, pin) in scene.pins.iter().enumerate() {
        let at = root.field("pin").index(index).field("at");
        let particles = select::particles(&pin.at, layout.part(&pin.part), q, &at)?;
        held.extend(&particles);
        taken = taken.pin(particles);
    }
    for (index, drive) in scene.drives.iter().enumerate() {
        let at = root.field("drive").index(index).field("at");
        let particles = select::particles(&drive.at, layout.part(&drive.part), q, &at)?;
        if drive.origin == Origin::World && particles.len() > 1 {
            return Err(at.refuse(
                format!("{} particles", particles.len()),
                "one particle when `origin` is `world`; `initial` moves several",
            ));
        }
        for particle in particles {
            if let Some(first) = driven_by.insert(particle, index) {
                return Err(SceneError::Duplicate {
                    place: at.place(),
                    value: format!("particle {particle}"),
                    first: format!("drive[{first}]"),
                });
            }
            let shift = match drive.origin {
                Origin::World => [0.0; 3],
                Origin::Initial => select::position(q, particle),
            };
            held.push(particle);
            taken = taken.drive(particle, moved(&drive.motion, shift));
        }
    }
    *builder = taken;
    held.sort_unstable();
    held.dedup();
    Ok(held)
}

fn initial_particles(
    scene: &Scene,
    root: &At<'_>,
    layout: &Layout,
    q: &[f64],
) -> Result<Vec<Vec<usize>>, SceneError> {
    (scene.initial.iter().enumerate())
        .map(|(index, initial)| match initial {
            Initial::Velocity(velocity) => {
                let at = root.field("initial").index(index).field("at");
                select::particles(&velocity.at, layout.part(&velocity.part), q, &at)
            }
            Initial::Displacement(shape) => Ok(layout.part(&shape.part).particles.clone().collect()),
        })
        .collect()
}

/// The motion with all its positions shifted.
fn moved(motion: &Motion, by: [f64; 3]) -> Motion {
    let shift = |x: &[f64; 3]| [x[0] + by[0], x[1] + by[1], x[2] + by[2]];
    match motion.clone() {
        Motion::Linear { start, velocity } => Motion::Linear { start: shift(&start), velocity },
        Motion::Sinusoid { center, amplitude, frequency, phase } => {
            Motion::Sinusoid { center: shift(&center), amplitude, frequency, phase }
        }
        Motion::Circle { center, u, w, angular_velocity } => {
            Motion::Circle { center: shift(&center), u, w, angular_velocity }
        }
        Motion::Table { times, positions } => {
            Motion::Table { times, positions: positions.iter().map(shift).collect() }
        }
    }
}

fn stress(
    layout: &Layout,
    part: usize,
    (laid, q): (&Laid, &[f64]),
    reports: &mut Vec<PartStress>,
    warnings: &mut Vec<String>,
) {
    let id = &layout.parts[part].id;
    let springs = Springs::new(laid.springs.iter().copied());
    let mut report = InitialStressReport::new(&springs, laid.topology.positions.as_flattened());
    if let Some(stress) = layout.law_stress(part, q) {
        (report.max_strain, report.max_strain_spring) = stress.strain;
        (report.max_tension, report.max_tension_spring) = stress.tension;
        report.energy = stress.energy;
        if report.max_tension == 0.0 {
            return; // slack
        }
    }
    if report.max_strain <= NO_STRAIN {
        return;
    }
    if !laid.stress_intended {
        warnings.push(format!(
            "part {id} starts under stress: largest strain {:.3e} in spring {}, largest tension {:.4e} N in spring {}, \
             elastic energy {:.4e} J",
            report.max_strain,
            report.max_strain_spring,
            report.max_tension,
            report.max_tension_spring,
            report.energy
        ));
    }
    reports.push(PartStress {
        part: id.clone(),
        max_strain: report.max_strain,
        tension: report.max_tension,
        spring: report.max_tension_spring,
        energy: report.energy,
        intended: laid.stress_intended,
    });
}

/// The particles of a selection, for probes and forces.
pub(crate) fn select(
    selection: &Selection,
    part: &PartLayout,
    q: &[f64],
    at: &At<'_>,
) -> Result<Vec<usize>, SceneError> {
    select::particles(selection, part, q, at)
}
