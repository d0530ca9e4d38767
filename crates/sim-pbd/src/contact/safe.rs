//! The last word of a substep: nothing ends behind a collider that it was in front of.
//!
//! Contacts are planes at places where surfaces were met on the predicted way; constraints may then drag a part around or through.
//! Here the way that was made is followed again, and what would get through is stopped before it does. The way of a substep that
//! ended well starts outside of everything, so that stopping everything is always possible.
//!
//! # Limitations
//! Skins of radius 0 rest on the surface itself, where outside and inside are a matter of rounding: they are left alone. Give what
//! flies at thin things a thickness.

use super::Collider;
use super::collider::ColliderState;
use super::detect::{Feature, Features, distance};
use crate::kernel::Sweep;
use nalgebra::Vector3;

/// Share of its radius that is left of a skin at least.
const LEFT: f64 = 0.25;
/// Share of the way to the obstacle that is kept.
const KEPT: f64 = 0.9;
/// Rounds in which ways are cut, and rounds after which they are taken back as a whole: a cut way changes those of its neighbors.
const ROUNDS: usize = 24;
const CUTS: usize = 16;
/// Advances along one way; sliding along a surface takes many.
const MOST_ADVANCES: usize = 600;

/// Cuts the ways of particles until no feature gets through a collider; returns how many cuts it took.
pub(super) fn stop(
    features: &Features,
    colliders: &[Collider],
    states: &[ColliderState],
    sweep: &Sweep<'_>,
) -> usize {
    let mut cuts = 0;
    for round in 0..ROUNDS {
        let before = cuts;
        for feature in features.list.iter().filter(|feature| feature.count < 3 && feature.radius > 0.0) {
            for (collider, state) in colliders.iter().zip(states) {
                let Some(time) = crossing(feature, collider, state, sweep) else { continue };
                let kept = if round < CUTS { KEPT * time } else { 0.0 };
                for &particle in &feature.particles[..feature.count] {
                    if sweep.inverse_mass(particle) > 0.0 {
                        let way = sweep.position(particle) - sweep.start_position(particle);
                        sweep.shift(particle, way * (kept - 1.0));
                    }
                }
                cuts += 1;
            }
        }
        if cuts == before {
            break;
        }
    }
    cuts
}

/// When, as a share of its way, a feature gets too deep into a collider that it was outside of.
fn crossing(feature: &Feature, collider: &Collider, state: &ColliderState, sweep: &Sweep<'_>) -> Option<f64> {
    let limit = LEFT * feature.radius;
    let ends = [feature.particles[0], feature.particles[1]];
    let from = ends.map(|p| state.start.into_local(sweep.start_position(p)));
    let to = ends.map(|p| state.end.into_local(sweep.position(p)));
    let way = (0..feature.count).map(|i| (to[i] - from[i]).norm()).fold(0.0, f64::max);
    if way == 0.0 {
        return None;
    }
    let length = if feature.count == 2 { (from[1] - from[0]).norm() } else { 0.0 };
    let reach = way + length + limit;
    let mut first: Option<f64> = None;
    for piece in &collider.pieces {
        let shape = piece.shape.as_ref();
        let offset = Vector3::from(piece.offset);
        let (p0, p1) = (from.map(|p| p - offset), to.map(|p| p - offset));
        if let Some((low, high)) = shape.bounds()
            && (0..3).any(|k| p0[0][k] < low[k] - reach || p0[0][k] > high[k] + reach)
        {
            continue;
        }
        if shape.surface(p0[0]).distance > reach {
            continue;
        }
        let at = |time: f64| {
            let here = [p0[0] + (p1[0] - p0[0]) * time, p0[1] + (p1[1] - p0[1]) * time];
            distance(shape, feature, &here).1.distance - limit
        };
        let mut gap = at(0.0);
        // What starts inside is let out by its contacts.
        if gap <= 0.0 {
            continue;
        }
        let small = 1e-3 * limit + f64::EPSILON * length;
        let mut time = 0.0;
        for _ in 0..MOST_ADVANCES {
            if gap <= small {
                break;
            }
            time += gap / way;
            if time >= first.unwrap_or(1.0) {
                break;
            }
            gap = at(time);
        }
        if time < first.unwrap_or(1.0) {
            first = Some(time);
        }
    }
    first
}
