//! Drawing a state.

use super::Layout;
use super::lay::Laid;
use crate::run::result::{Display, DisplayPart, Frame};
use crate::scene::document::Scene;
use crate::scene::force::ForceSpec;
use crate::scene::part::Part;
use nalgebra::Vector3;
use sim_core::State;
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
}

impl Skin {
    fn len(&self) -> usize {
        match self {
            Self::Particles(particles) => particles.len(),
            Self::Helix { points, .. } => *points,
        }
    }
}

pub(super) fn of(scene: &Scene, layout: &Layout, laid: &[Laid], held: &[usize]) -> (Display, Vec<Skin>) {
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
    (display, skins)
}

/// A unit vector at right angles to a unit vector.
fn any_normal(axis: Vector3<f64>) -> Vector3<f64> {
    // The coordinate axis that is least along it.
    axis.cross(&Vector3::ith(axis.iamin(), 1.0)).normalize()
}

impl Layout {
    /// Records a state for pictures.
    pub(crate) fn frame(&self, state: &State) -> Frame {
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
        Frame { t: state.t, positions, speeds }
    }
}
