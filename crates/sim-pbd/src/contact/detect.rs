//! Finding contacts along the way of a substep.

use super::broad::{Bounds, Grid};
use super::closest;
use super::collider::ColliderState;
use super::shapes::{Shape, Surface};
use super::{Collider, ContactOptions, Friction, Skin};
use nalgebra::Vector3;
use std::collections::BTreeSet;

/// What the near side touches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Partner {
    /// Piece of a collider.
    Collider { collider: u32, piece: u32 },
    /// Another feature.
    Skin { feature: u32 },
}

/// A contact during one substep: the point `Σ w_i x_i` (relative to the partner) must keep its distance.
#[derive(Clone, Debug)]
pub(crate) struct Contact {
    /// Feature and partner: its name while the substep lasts.
    pub key: (u32, Partner),
    pub particles: [u32; 4],
    pub weights: [f64; 4],
    pub count: usize,
    /// Normal where the surface was met; in the frame of the collider, or of space between skins.
    pub normal: Vector3<f64>,
    /// Offset of the plane through that place, same frame.
    pub offset: f64,
    pub thickness: f64,
    /// Distance beyond the thickness to be reached, ≤ 0.
    pub target: f64,
    pub limited: bool,
    pub friction: Friction,
    pub restitution: f64,
    pub normal_multiplier: f64,
    pub tangential_multiplier: Vector3<f64>,
    /// Normal of the last evaluation, in space.
    pub last_normal: Vector3<f64>,
    pub sliding: bool,
}

impl Contact {
    pub(crate) fn point(&self, x: &dyn Fn(u32) -> Vector3<f64>) -> Vector3<f64> {
        (0..self.count).map(|i| x(self.particles[i]) * self.weights[i]).sum()
    }
}

/// A ball, capsule or rounded triangle.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Feature {
    pub particles: [u32; 3],
    pub count: usize,
    pub radius: f64,
    /// A particle that belongs to no segment and no triangle.
    pub loose: bool,
}

impl Feature {
    fn corners(&self, x: &dyn Fn(u32) -> Vector3<f64>) -> [Vector3<f64>; 3] {
        self.particles.map(x)
    }
}

/// All features of a model, particles first, then segments, then triangles.
#[derive(Clone, Debug, Default)]
pub(crate) struct Features {
    pub list: Vec<Feature>,
    rest: Vec<Vector3<f64>>,
}

impl Features {
    /// `rest` holds unloaded positions: features that are closer than their thickness there never touch.
    pub(crate) fn new(skins: &[Skin], rest: Vec<Vector3<f64>>) -> Self {
        let mut list = Vec::new();
        let add = |list: &mut Vec<Feature>, particles: &[u32], radius, loose| {
            let mut padded = [particles[0]; 3];
            padded[..particles.len()].copy_from_slice(particles);
            list.push(Feature { particles: padded, count: particles.len(), radius, loose });
        };
        for skin in skins {
            let bound: BTreeSet<u32> =
                skin.segments.iter().flatten().chain(skin.triangles.iter().flatten()).copied().collect();
            skin.particles.iter().for_each(|p| add(&mut list, &[*p], skin.radius, !bound.contains(p)));
        }
        for skin in skins {
            skin.segments.iter().for_each(|s| add(&mut list, s, skin.radius, false));
        }
        for skin in skins {
            skin.triangles.iter().for_each(|t| add(&mut list, t, skin.radius, false));
        }
        Self { list, rest }
    }

    fn resting_together(&self, a: &Feature, b: &Feature) -> bool {
        if self.rest.is_empty() {
            return false;
        }
        let rest = |p: u32| self.rest[p as usize];
        let (_, _, distance) = nearest(a, &a.corners(&rest), b, &b.corners(&rest));
        distance.norm() < (a.radius + b.radius) * (1.0 + 1e-9)
    }
}

/// Weights of the closest points of two features, and the vector from the one on `b` to the one on `a`.
fn nearest(
    a: &Feature,
    x: &[Vector3<f64>; 3],
    b: &Feature,
    y: &[Vector3<f64>; 3],
) -> ([f64; 3], [f64; 3], Vector3<f64>) {
    let whole = [1.0, 0.0, 0.0];
    let (wa, wb) = match (a.count, b.count) {
        (1, 1) => (whole, whole),
        (1, 2) => {
            let s = closest::on_segment(x[0], y[0], y[1]);
            (whole, [1.0 - s, s, 0.0])
        }
        (1, _) => (whole, closest::on_triangle(x[0], y[0], y[1], y[2])),
        _ => {
            let [s, t] = closest::of_segments(x[0], x[1], y[0], y[1]);
            ([1.0 - s, s, 0.0], [1.0 - t, t, 0.0])
        }
    };
    let at = |w: &[f64; 3], p: &[Vector3<f64>; 3]| p[0] * w[0] + p[1] * w[1] + p[2] * w[2];
    (wa, wb, at(&wa, x) - at(&wb, y))
}

/// Positions at the start and the end of a substep.
pub(crate) struct Ways<'a> {
    pub start: &'a dyn Fn(u32) -> Vector3<f64>,
    pub end: &'a dyn Fn(u32) -> Vector3<f64>,
    pub dt: f64,
}

const MOST_ADVANCES: usize = 64;

/// Buffers of the search, kept between substeps.
#[derive(Clone, Debug, Default)]
pub(crate) struct Search {
    bounds: Vec<Bounds>,
    grid: Grid,
    candidates: Vec<u32>,
}

impl Search {
    /// Adds contacts whose keys are not in `found` yet.
    pub(crate) fn run(
        &mut self,
        features: &Features,
        colliders: &[Collider],
        states: &[ColliderState],
        options: &ContactOptions,
        ways: &Ways<'_>,
        found: &mut Vec<Contact>,
    ) {
        let known = found.len();
        for (number, feature) in (0_u32..).zip(&features.list) {
            if feature.count < 3 {
                for (c, (collider, state)) in (0_u32..).zip(colliders.iter().zip(states)) {
                    with_collider(number, feature, c, collider, state, options, ways, found);
                }
            }
        }
        if let Some(skins) = options.between_skins {
            self.between(features, options, ways, skins.friction, skins.restitution, found);
        }
        if known > 0 {
            let (old, new) = found.split_at(known);
            let fresh: Vec<Contact> = new
                .iter()
                .filter(|c| old.binary_search_by(|o| o.key.cmp(&c.key)).is_err())
                .cloned()
                .collect();
            found.truncate(known);
            found.extend(fresh);
        }
        found.sort_by_key(|contact| contact.key);
    }

    fn between(
        &mut self,
        features: &Features,
        options: &ContactOptions,
        ways: &Ways<'_>,
        friction: Friction,
        restitution: f64,
        found: &mut Vec<Contact>,
    ) {
        self.bounds.clear();
        for feature in &features.list {
            let mut bounds = Bounds::EMPTY;
            for i in 0..feature.count {
                bounds.add((ways.start)(feature.particles[i]));
                bounds.add((ways.end)(feature.particles[i]));
            }
            self.bounds.push(bounds.grown(feature.radius + 0.5 * options.margin.unwrap_or(feature.radius)));
        }
        self.grid.fill(&self.bounds);
        for (i, a) in (0_u32..).zip(&features.list) {
            self.candidates.clear();
            let candidates = &mut self.candidates;
            let (bounds, list) = (&self.bounds, &features.list);
            self.grid.near(&bounds[i as usize], |j| {
                let b = &list[j as usize];
                let pair = match (a.count, b.count) {
                    (1, 1) => a.loose && b.loose && i < j,
                    (1, 2) => a.loose,
                    (1, 3) => true,
                    (2, 2) => i < j,
                    _ => false,
                };
                if pair && bounds[i as usize].overlaps(&bounds[j as usize]) {
                    candidates.push(j);
                }
            });
            self.candidates.sort_unstable();
            self.candidates.dedup();
            for &j in &self.candidates {
                let b = &list[j as usize];
                let shares = a.particles[..a.count].iter().any(|p| b.particles[..b.count].contains(p));
                if !shares && let Some(mut contact) = with_feature(a, b, options, ways) {
                    if features.resting_together(a, b) {
                        continue;
                    }
                    contact.key = (i, Partner::Skin { feature: j });
                    (contact.friction, contact.restitution) = (friction, restitution);
                    found.push(contact);
                }
            }
        }
    }
}

/// A contact of `a` with `b` when they come within reach during the substep.
fn with_feature(a: &Feature, b: &Feature, options: &ContactOptions, ways: &Ways<'_>) -> Option<Contact> {
    let thickness = a.radius + b.radius;
    let reach = thickness + options.margin.unwrap_or(0.5 * thickness);
    let (x0, x1) = (a.corners(ways.start), a.corners(ways.end));
    let (y0, y1) = (b.corners(ways.start), b.corners(ways.end));
    let at = |from: &[Vector3<f64>; 3], to: &[Vector3<f64>; 3], s: f64| {
        std::array::from_fn::<_, 3, _>(|i| from[i] + (to[i] - from[i]) * s)
    };
    // Relative speed: the common part of the motion brings nothing closer.
    let common = (x1[0] - x0[0] + y1[0] - y0[0]) * 0.5;
    let fastest = |from: &[Vector3<f64>; 3], to: &[Vector3<f64>; 3]| {
        (0..3).map(|i| (to[i] - from[i] - common).norm()).fold(0.0, f64::max)
    };
    let closing = fastest(&x0, &x1) + fastest(&y0, &y1);
    let (mut wa, mut wb, mut d) = nearest(a, &x0, b, &y0);
    let start_distance = d.norm();
    let mut time = 0.0;
    if start_distance > reach {
        for _ in 0..MOST_ADVANCES {
            let gap = d.norm() - thickness;
            if gap <= 1e-3 * thickness {
                break;
            }
            if closing <= 0.0 || time + gap / closing > 1.0 {
                let end = nearest(a, &x1, b, &y1);
                if end.2.norm() > reach {
                    return None;
                }
                (wa, wb, d) = end;
                break;
            }
            time += gap / closing;
            (wa, wb, d) = nearest(a, &at(&x0, &x1, time), b, &at(&y0, &y1, time));
        }
    } else if start_distance > thickness {
        // Near at the start: the place of the end, if the sides did not change.
        let end = nearest(a, &x1, b, &y1);
        if end.2.dot(&d) > 0.7 * end.2.norm() * d.norm() {
            (wa, wb, d) = end;
        }
    }
    let (_, mut normal) = crate::constraint::direction(d);
    if d.norm_squared() == 0.0 && a.count == 2 && b.count == 2 {
        // Segments that cross part along their common normal.
        let across = (x0[1] - x0[0]).cross(&(y0[1] - y0[0]));
        normal = crate::constraint::direction(across).1;
    }
    let (target, limited) = target(start_distance - thickness, options, ways.dt);
    let (mut particles, mut weights) = ([0; 4], [0.0; 4]);
    let all =
        (0..a.count).map(|i| (a.particles[i], wa[i])).chain((0..b.count).map(|i| (b.particles[i], -wb[i])));
    let mut count = 0;
    for (particle, weight) in all {
        (particles[count], weights[count]) = (particle, weight);
        count += 1;
    }
    Some(Contact {
        key: (0, Partner::Skin { feature: 0 }),
        particles,
        weights,
        count,
        normal,
        offset: 0.0,
        thickness,
        target,
        limited,
        friction: Friction::NONE,
        restitution: 0.0,
        normal_multiplier: 0.0,
        tangential_multiplier: Vector3::zeros(),
        last_normal: normal,
        sliding: false,
    })
}

/// How far outside a contact must end that starts `gap` outside, and whether the speed limit decides it.
fn target(gap: f64, options: &ContactOptions, dt: f64) -> (f64, bool) {
    match options.depenetration_speed {
        Some(speed) if gap + speed * dt < 0.0 => (gap + speed * dt, true),
        _ => (0.0, false),
    }
}

/// Distance of a feature from a shape: place along the segment, and surface there.
pub(super) fn distance(shape: &dyn Shape, feature: &Feature, p: &[Vector3<f64>; 2]) -> (f64, Surface) {
    if feature.count == 1 {
        return (0.0, shape.surface(p[0]));
    }
    // Golden section on a convex function.
    let ratio = 0.618_033_988_749_894_9;
    let at = |s: f64| shape.surface(p[0] + (p[1] - p[0]) * s);
    let (mut low, mut high) = (0.0, 1.0);
    let (mut s, mut t) = (1.0 - ratio, ratio);
    let (mut fs, mut ft) = (at(s).distance, at(t).distance);
    for _ in 0..32 {
        if fs <= ft {
            (high, t, ft) = (t, s, fs);
            s = high - ratio * (high - low);
            fs = at(s).distance;
        } else {
            (low, s, fs) = (s, t, ft);
            t = low + ratio * (high - low);
            ft = at(t).distance;
        }
    }
    let middle = 0.5 * (low + high);
    let best =
        [0.0, 1.0].into_iter().fold(middle, |b, e| if at(e).distance <= at(b).distance { e } else { b });
    (best, at(best))
}

#[allow(clippy::too_many_arguments)]
fn with_collider(
    number: u32,
    feature: &Feature,
    c: u32,
    collider: &Collider,
    state: &ColliderState,
    options: &ContactOptions,
    ways: &Ways<'_>,
    found: &mut Vec<Contact>,
) {
    let pair = |x: &dyn Fn(u32) -> Vector3<f64>| [x(feature.particles[0]), x(feature.particles[1])];
    let from = pair(ways.start).map(|p| state.start.into_local(p));
    let to = pair(ways.end).map(|p| state.end.into_local(p));
    let way = (0..feature.count).map(|i| (to[i] - from[i]).norm()).fold(0.0, f64::max);
    let length = if feature.count == 2 { (from[1] - from[0]).norm() } else { 0.0 };
    let thickness = feature.radius;
    let margin = options.margin.unwrap_or(feature.radius);
    for (piece, placed) in (0_u32..).zip(&collider.pieces) {
        let shape = placed.shape.as_ref();
        let offset = Vector3::from(placed.offset);
        let (p0, p1) = (from.map(|p| p - offset), to.map(|p| p - offset));
        // The cheapest bound first: a point moves by `way`, and no point of a segment is farther than its length.
        if let Some((low, high)) = shape.bounds() {
            let reach = way + length + thickness + margin;
            if (0..3).any(|k| p0[0][k] < low[k] - reach || p0[0][k] > high[k] + reach) {
                continue;
            }
        }
        if shape.surface(p0[0]).distance > way + length + thickness + margin {
            continue;
        }
        let (mut s, mut surface) = distance(shape, feature, &p0);
        let start_gap = surface.distance - thickness;
        let mut here = p0;
        if start_gap > 0.0 {
            let mut time = 0.0;
            let small = 1e-6 * (way + thickness);
            for _ in 0..MOST_ADVANCES {
                let gap = surface.distance - thickness;
                if gap <= small {
                    break;
                }
                if way <= 0.0 || time + gap / way > 1.0 {
                    here = p1;
                    (s, surface) = distance(shape, feature, &p1);
                    break;
                }
                time += gap / way;
                here = [p0[0] + (p1[0] - p0[0]) * time, p0[1] + (p1[1] - p0[1]) * time];
                (s, surface) = distance(shape, feature, &here);
            }
            if surface.distance - thickness > margin.max(small) {
                continue;
            }
        }
        // The ends of a segment are particles, which have their own contacts.
        if feature.count == 2 && !(1e-6..=1.0 - 1e-6).contains(&s) {
            continue;
        }
        let place = here[0] + (here[1] - here[0]) * s - surface.normal * surface.distance;
        let (target, limited) = target(start_gap, options, ways.dt);
        let [a, b, _] = feature.particles;
        found.push(Contact {
            key: (number, Partner::Collider { collider: c, piece }),
            particles: [a, b, a, a],
            weights: [1.0 - s, s, 0.0, 0.0],
            count: feature.count,
            normal: surface.normal,
            offset: surface.normal.dot(&(place + offset)),
            thickness,
            target,
            limited,
            friction: collider.friction,
            restitution: collider.restitution,
            normal_multiplier: 0.0,
            tangential_multiplier: Vector3::zeros(),
            last_normal: state.end.orientation * surface.normal,
            sliding: false,
        });
    }
}
