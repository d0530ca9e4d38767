//! Drawing a state.

use super::constrained::{Body, Constrained};
use super::lay::Laid;
use super::solid::{self, Solid};
use super::{Layout, collide};
use crate::run::result::{Display, DisplayPart, Frame};
use crate::run::xpbd::SolverView;
use crate::scene::check::At;
use crate::scene::contact::RotationSpec;
use crate::scene::document::Scene;
use crate::scene::error::SceneError;
use crate::scene::force::ForceSpec;
use crate::scene::part::Part;
use nalgebra::{UnitQuaternion, Vector3};
use sim_core::{Motion, State};
use std::ops::Range;

/// Points per turn of a drawn helix, and the most points it gets.
const POINTS_PER_TURN: f64 = 24.0;
const MAX_HELIX_POINTS: f64 = 20_000.0;

/// How a part's display points follow from its particles.
#[derive(Clone, Debug)]
pub(crate) enum Skin {
    /// One point per particle.
    Particles(Range<usize>),
    /// A helix round a chain of particles.
    Helix { particles: Range<usize>, turns: f64, radius: f64, across: [Vector3<f64>; 2], points: usize },
    /// Points of a rigid body.
    Rigid(Box<Rigid>),
}

/// A rigid body: its points in its own frame, and where its angle stands in `State::internal`.
#[derive(Clone, Debug)]
pub(crate) struct Rigid {
    points: Vec<Vector3<f64>>,
    path: Motion,
    orientation: UnitQuaternion<f64>,
    axis: Vector3<f64>,
    angle: usize,
}

impl Skin {
    fn len(&self) -> usize {
        match self {
            Self::Particles(particles) => particles.len(),
            Self::Helix { points, .. } => *points,
            Self::Rigid(body) => body.points.len(),
        }
    }
}

pub(super) fn of(
    scene: &Scene,
    (layout, laid): (&Layout, &[Laid]),
    held: &[usize],
    q: &[f64],
    constrained: Option<&Constrained>,
) -> Result<(Display, Vec<Skin>), SceneError> {
    let (mut display, mut skins) = (Display::default(), Vec::new());
    let gravity: Vector3<f64> = (scene.forces.iter())
        .filter_map(|force| {
            if let ForceSpec::Gravity(spec) = force { Some(Vector3::from(spec.acceleration)) } else { None }
        })
        .sum();
    if let Some(down) = gravity.try_normalize(0.0) {
        display.up = (-down).into();
    }
    for ((part, place), laid) in scene.parts.iter().zip(&layout.parts).zip(laid) {
        let first = display.points as u32;
        let skin = if let Part::Coil(coil) = part {
            let axis = Vector3::from(coil.axis).normalize();
            let u = any_normal(axis);
            let points = (coil.turns * POINTS_PER_TURN).clamp(8.0, MAX_HELIX_POINTS) as usize + 1;
            display.lines.extend((1..points as u32).map(|i| [first + i - 1, first + i]));
            Skin::Helix {
                particles: place.particles.clone(),
                turns: coil.turns,
                radius: 0.5 * coil.coil_diameter,
                across: [u, axis.cross(&u)],
                points,
            }
        } else {
            let topology = &laid.topology;
            display.lines.extend(topology.segments.iter().map(|ends| ends.map(|i| i + first)));
            display.triangles.extend(topology.triangles.iter().map(|t| t.map(|i| i + first)));
            let halves = topology.quads.iter().flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]);
            display.triangles.extend(halves.map(|t| t.map(|i| i + first)));
            let own = held.iter().filter(|particle| place.particles.contains(particle));
            display.held.extend(own.map(|particle| first + (particle - place.particles.start) as u32));
            Skin::Particles(place.particles.clone())
        };
        display.points += skin.len();
        display.parts.push(DisplayPart { id: place.id.clone(), points: first as usize..display.points });
        skins.push(skin);
    }
    if let Some(constrained) = constrained {
        for cable in &constrained.cables {
            let points: Vec<u32> =
                cable.iter().filter_map(|&particle| display_point(particle, &display, &skins)).collect();
            display.lines.extend(points.windows(2).map(|pair| [pair[0], pair[1]]));
        }
        rigid_bodies(scene, constrained, q, &mut display, &mut skins)?;
    }
    Ok((display, skins))
}

/// Where a particle is drawn; those of a coil lie on its axis and are not.
fn display_point(particle: u32, display: &Display, skins: &[Skin]) -> Option<u32> {
    display.parts.iter().zip(skins).find_map(|(part, skin)| match skin {
        Skin::Particles(particles) if particles.contains(&(particle as usize)) => {
            Some((part.points.start + particle as usize - particles.start) as u32)
        }
        _ => None,
    })
}

/// Adds colliders, or the pulleys of a belt drive.
fn rigid_bodies(
    scene: &Scene,
    constrained: &Constrained,
    q: &[f64],
    display: &mut Display,
    skins: &mut Vec<Skin>,
) -> Result<(), SceneError> {
    let root = At::root(&scene.source);
    let mut add = |index: usize, id: String, solid: Solid, path: Motion, orientation, axis| {
        let first = display.points as u32;
        display.solids.extend(solid.triangles.iter().map(|t| t.map(|i| i + first)));
        display.outlines.extend(solid.lines.iter().map(|t| t.map(|i| i + first)));
        display.points += solid.points.len();
        display.parts.push(DisplayPart { id, points: first as usize..display.points });
        let points = solid.points.into_iter().map(Vector3::from).collect();
        let angle = constrained.system().collider_internal(index);
        skins.push(Skin::Rigid(Box::new(Rigid { points, path, orientation, axis, angle })));
    };
    if let Body::Belt(belt) = &constrained.body {
        for (index, pulley) in belt.drive().pulleys.iter().enumerate() {
            let [x, y] = pulley.center;
            let path = Motion::Linear { start: [x, y, 0.0], velocity: [0.0; 3] };
            let wheel = Solid::wheel(pulley.radius);
            add(index, format!("pulley_{index}"), wheel, path, UnitQuaternion::identity(), Vector3::z());
        }
        display.quantity = "tension";
        return Ok(());
    }
    let places = || q.chunks_exact(3).map(|x| Vector3::new(x[0], x[1], x[2]));
    let low = places().fold(Vector3::repeat(f64::INFINITY), |a, b| a.inf(&b));
    let high = places().fold(Vector3::repeat(f64::NEG_INFINITY), |a, b| a.sup(&b));
    let (middle, reach) = (0.5 * (low + high), 0.7 * (high - low).norm().max(1e-3));
    for (index, spec) in scene.colliders.iter().enumerate() {
        let at = root.field("collider").index(index);
        let path = collide::path(spec);
        let orientation = collide::orientation(spec);
        let local = orientation.inverse() * (middle - Vector3::from(path.at(scene.time.start).0));
        let solid = solid::of(&spec.shape, scene, &at, (local, reach))?;
        let axis = match &spec.rotation {
            None => Vector3::z(),
            Some(RotationSpec::Speed(speed)) => collide::unit(speed.axis),
            Some(RotationSpec::Torque(torque)) => collide::unit(torque.axis),
        };
        add(index, spec.id.clone(), solid, path, orientation, axis);
    }
    Ok(())
}

/// A unit vector at right angles to a unit vector.
fn any_normal(axis: Vector3<f64>) -> Vector3<f64> {
    // The coordinate axis that is least along it.
    axis.cross(&Vector3::ith(axis.iamin(), 1.0)).normalize()
}

impl Layout {
    /// Records a state for pictures.
    pub(crate) fn frame(&self, state: &State, solver: Option<&SolverView<'_>>) -> Frame {
        let count = self.display.points;
        let (mut positions, mut speeds) = (Vec::with_capacity(count), Vec::with_capacity(count));
        let at = |values: &[f64], particle: usize| {
            Vector3::new(values[3 * particle], values[3 * particle + 1], values[3 * particle + 2])
        };
        let mut push = |x: Vector3<f64>, speed: f64| {
            positions.push([x.x as f32, x.y as f32, x.z as f32]);
            speeds.push(speed as f32);
        };
        for skin in &self.skins {
            match skin {
                Skin::Particles(particles) => {
                    particles.clone().for_each(|i| push(at(&state.q, i), at(&state.v, i).norm()));
                }
                Skin::Rigid(body) => {
                    let turn = UnitQuaternion::from_scaled_axis(body.axis * state.internal[body.angle]);
                    let (turn, origin) = (turn * body.orientation, Vector3::from(body.path.at(state.t).0));
                    body.points.iter().for_each(|point| push(origin + turn * point, 0.0));
                }
                Skin::Helix { particles, turns, radius, across: [u, w], points } => {
                    for point in 0..*points {
                        let s = point as f64 / (points - 1) as f64;
                        let place = s * (particles.len() - 1) as f64;
                        let below = (place as usize).min(particles.len() - 2);
                        let (i, share) = (particles.start + below, place - below as f64);
                        let mix = |values| at(values, i) * (1.0 - share) + at(values, i + 1) * share;
                        let (sin, cos) = (std::f64::consts::TAU * turns * s).sin_cos();
                        push(mix(&state.q) + (u * cos + w * sin) * *radius, mix(&state.v).norm());
                    }
                }
            }
        }
        if self.display.quantity == "tension" {
            self.color_by_tension(state, solver, &mut speeds);
        }
        Frame { t: state.t, positions, speeds }
    }

    /// The mean tension in N of the two segments at each particle of a belt.
    fn color_by_tension(&self, state: &State, solver: Option<&SolverView<'_>>, colors: &mut [f32]) {
        let count = self.springs.len();
        let tension = |spring: usize| {
            let solved = solver.and_then(|solver| solver.tension(spring));
            solved.unwrap_or_else(|| self.tension(spring, state))
        };
        for (i, color) in colors.iter_mut().enumerate().take(count) {
            *color = (0.5 * (tension(i) + tension((i + count - 1) % count))) as f32;
        }
    }
}
