//! A rope in full slip over drums: what friction does to its tension, node by node.

use crate::verify::cases::{CaseError, advance, link, sweeps};
use sim_core::force::point_load::{PointLoad, PointLoads};
use sim_core::{ParticleSystemBuilder, TimeCurve};
use sim_pbd::contact::shapes::Cylinder;
use sim_pbd::{Collider, Friction, PbdSystem, Rotation, Skin};

/// Strain of the rope before it slips: small, so that nodes stay where the drums were laid for.
const STRAIN: f64 = 1e-6;
/// EA in N.
const STIFFNESS: f64 = 1e8;
/// Segments between and beyond the drums.
const FREE: usize = 3;
/// Steps until the tension no longer changes.
const STEPS: usize = 400;

/// What was measured.
pub(super) struct Slipping {
    /// Tension in N before the first drum, between drums, and after the last.
    pub tensions: Vec<f64>,
    /// Force (x, y) in N on every drum, and moment in N·m about its axis.
    pub loads: Vec<([f64; 2], f64)>,
    /// Contacts that slide, of all that carry a load.
    pub sliding: (usize, usize),
}

/// How the first end of the rope is held.
#[derive(Clone, Copy)]
pub(super) enum FirstEnd {
    Fixed,
    /// Pulled away from the drums with this force in N.
    Pulled(f64),
}

/// A rope in the xy plane around drums of `radius`, one per entry of `wraps` (rad, positive to the left), with `nodes` particles on each.
/// The drums turn so that their surfaces run backwards (`forward`: along the rope) below the rope until every contact slides.
pub(super) fn slipping(
    friction: f64,
    radius: f64,
    wraps: &[f64],
    nodes: usize,
    first: FirstEnd,
    forward: bool,
) -> Result<Slipping, CaseError> {
    let turn = wraps.first().copied().unwrap_or(0.0).abs() / nodes as f64;
    let chord = 2.0 * radius * (0.5 * turn).sin();
    // The way of the rope: at every node on a drum it turns by the same angle.
    let (mut place, mut heading) = ([0.0_f64; 2], 0.5 * std::f64::consts::PI);
    let (mut q, mut touching, mut drums, mut spans) = (vec![0.0; 3], Vec::new(), Vec::new(), vec![0]);
    let mut go = |place: &mut [f64; 2], heading: f64| {
        *place = [place[0] + chord * heading.cos(), place[1] + chord * heading.sin()];
        q.extend([place[0], place[1], 0.0]);
        (q.len() / 3 - 1) as u32
    };
    for wrap in wraps {
        (1..FREE).for_each(|_| _ = go(&mut place, heading));
        let side = wrap.signum();
        for node in 0..nodes {
            touching.push(go(&mut place, heading));
            if node == 0 {
                let inward = heading + side * 0.5 * (turn + std::f64::consts::PI);
                drums.push(([place[0] + radius * inward.cos(), place[1] + radius * inward.sin(), 0.0], side));
            }
            heading += side * turn;
        }
        spans.push(touching.last().map_or(0, |&last| last as usize));
    }
    (0..FREE).for_each(|_| _ = go(&mut place, heading));
    let count = q.len() / 3;
    let mass = 1e-3;
    let mut builder = ParticleSystemBuilder::new(vec![mass; count]).pin([count - 1]);
    builder = match first {
        FirstEnd::Fixed => builder.pin([0]),
        FirstEnd::Pulled(force) => builder.force(PointLoads::new([PointLoad {
            particle: 0,
            force: [0.0, -force, 0.0],
            curve: TimeCurve::Constant,
        }])),
    };
    let rest = chord / (1.0 + STRAIN);
    let links = (1..count).map(|i| link(i - 1, i, rest, rest / STIFFNESS));
    let mut builder = PbdSystem::builder(builder.build()?)
        .chain(links)
        .skin(Skin { particles: touching, ..Skin::default() });
    for &(center, side) in &drums {
        let backward = if forward { -1.0 } else { 1.0 };
        let angular_velocity = -side * backward * 1.0 / radius;
        builder = builder.collider(
            Collider::fixed(Cylinder { radius, half_length: radius }, center)
                .with_friction(Friction::coulomb(friction))
                .with_rotation(Rotation::Speed { axis: [0.0, 0.0, 1.0], angular_velocity }),
        );
    }
    let system = builder.build()?;
    let mut state = system.state_at_rest(q);
    // Steps of some periods of one link, more for a longer rope: waves along it die out within a few hundred of them.
    let touched = (nodes * wraps.len()) as f64;
    let dt = (3.0 + 0.125 * touched) * (mass * rest / STIFFNESS).sqrt();
    // Where the ends' tensions differ by thousands, or an end is free to move, it takes longer.
    let turned: f64 = wraps.iter().map(|wrap| wrap.abs()).sum();
    let long = matches!(first, FirstEnd::Pulled(_)) || friction * turned > 5.0;
    let steps = if long { 3 * STEPS } else { STEPS };
    let xpbd = advance(&system, &mut state, sweeps(1, 5), dt, steps)?;
    let report = xpbd.contact_report();
    Ok(Slipping {
        tensions: spans.into_iter().map(|link| xpbd.constraint_force(&system, 0, link)).collect(),
        loads: report.on_colliders.iter().map(|&(force, moment)| ([force[0], force[1]], moment)).collect(),
        sliding: (report.sliding, report.active),
    })
}
