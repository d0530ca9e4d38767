//! Ropes and cloths thrown at thin things: nothing passes through.
//!
//! Through a plate or a mesh: no particle is found on the other side. Through a rod, which a rope may go round: a closed line that was
//! not linked with the axis of the rod never is, after any substep; that is a rope closed to a ring, or the border of a cloth.

use super::catalogue::{Job, Outcome, Scope};
use nalgebra::{Rotation3, Vector3};
use rayon::prelude::*;
use sim_core::force::gravity::Gravity;
use sim_core::{ParticleSystemBuilder, State, Stepper};
use sim_pbd::constraints::distance::Distance;
use sim_pbd::contact::shapes::{Capsule, Cuboid};
use sim_pbd::{Bound, Collider, ContactOptions, Friction, PbdSystem, Skin, Xpbd, XpbdOptions};
use sim_verify::Claim;

/// Throws of each kind, in the quick and in the full run.
const THROWS: [u64; 2] = [30, 1_000];
/// m/s.
const SPEED: f64 = 50.0;
/// Substeps of a frame of 60 Hz.
const SUBSTEPS: u32 = 20;
const FRAMES: u32 = 4;
/// Half the thickness of plate and mesh, and the radius of the rod, in m.
const PLATE: f64 = 0.0005;
const ROD: f64 = 0.0025;

const SOURCE: &str = "two things cannot be in the same place; linking numbers change by passing through only";

#[derive(Clone, Copy, Debug, PartialEq)]
enum Obstacle {
    Plate,
    Mesh,
    Rod,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Thrown {
    Rope,
    Cloth,
}

/// What is thrown, around the origin: places, links, skin and a closed line.
struct Body {
    points: Vec<Vector3<f64>>,
    links: Vec<[u32; 2]>,
    skin: Skin,
    border: Vec<u32>,
}

/// Numbers in [0, 1) by splitmix64 (Steele, Lea, Flood 2014).
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.next()
    }

    fn turn(&mut self) -> Rotation3<f64> {
        let [a, b, c] = [0; 3].map(|_| std::f64::consts::TAU * self.next());
        Rotation3::from_euler_angles(a, b, c)
    }
}

fn rope(closed: bool, random: &mut Random) -> Body {
    let n = 24_u32;
    let points = (0..n)
        .map(|i| {
            let s = f64::from(i) / f64::from(n);
            if closed {
                let angle = std::f64::consts::TAU * s;
                Vector3::new(0.12 * angle.cos(), 0.12 * angle.sin(), 0.0)
            } else {
                Vector3::new(0.4 * (s - 0.5), 0.02 * (20.0 * s).sin(), 0.0)
            }
        })
        .collect();
    let segments = if closed { n } else { n - 1 };
    let links: Vec<[u32; 2]> = (0..segments).map(|i| [i, (i + 1) % n]).collect();
    let radius = random.between(0.0005, 0.003);
    let skin = Skin { radius, particles: (0..n).collect(), segments: links.clone(), triangles: Vec::new() };
    Body { points, links, skin, border: (0..n).collect() }
}

fn cloth(random: &mut Random) -> Body {
    let n = 8_u32;
    let index = |i: u32, j: u32| i * (n + 1) + j;
    let points = (0..=n)
        .flat_map(|i| (0..=n).map(move |j| (i, j)))
        .map(|(i, j)| {
            Vector3::new(f64::from(j), f64::from(i), 0.0) * (0.3 / f64::from(n))
                - Vector3::new(0.15, 0.15, 0.0)
        })
        .collect();
    let mut triangles = Vec::new();
    for i in 0..n {
        for j in 0..n {
            triangles.push([index(i, j), index(i, j + 1), index(i + 1, j + 1)]);
            triangles.push([index(i, j), index(i + 1, j + 1), index(i + 1, j)]);
        }
    }
    let skin = Skin::cloth(random.between(0.0003, 0.001), &triangles);
    let links = skin.segments.clone();
    let border = (0..n)
        .map(|k| index(0, k))
        .chain((0..n).map(|k| index(k, n)))
        .chain((0..n).map(|k| index(n, n - k)))
        .chain((0..n).map(|k| index(n - k, 0)))
        .collect();
    Body { points, links, skin, border }
}

fn obstacle(kind: Obstacle, random: &mut Random) -> Collider {
    let collider = match kind {
        Obstacle::Plate => Collider::fixed(Cuboid { half_extents: [3.0, 3.0, PLATE] }, [0.0; 3]),
        Obstacle::Rod => Collider::fixed(Capsule { half_length: 3.0, radius: ROD }, [0.0; 3]),
        Obstacle::Mesh => {
            let n = 12_u32;
            let points: Vec<[f64; 3]> = (0..=n)
                .flat_map(|i| (0..=n).map(move |j| (i, j)))
                .map(|(i, j)| {
                    let inside = |k: u32| (1..n).contains(&k);
                    let mut place = |k: u32| {
                        let jitter = if inside(i) && inside(j) { random.between(-0.15, 0.15) } else { 0.0 };
                        f64::from(k) * 0.5 - 3.0 + jitter
                    };
                    [place(j), place(i), 0.0]
                })
                .collect();
            let index = |i: u32, j: u32| i * (n + 1) + j;
            let triangles: Vec<[u32; 3]> = (0..n)
                .flat_map(|i| (0..n).map(move |j| (i, j)))
                .flat_map(|(i, j)| {
                    [
                        [index(i, j), index(i, j + 1), index(i + 1, j + 1)],
                        [index(i, j), index(i + 1, j + 1), index(i + 1, j)],
                    ]
                })
                .collect();
            Collider::mesh(&points, &triangles, [0.0; 3])
        }
    };
    let coefficient = random.between(0.0, 0.8);
    let friction = Friction { static_coefficient: coefficient, kinetic_coefficient: 0.8 * coefficient };
    collider.with_friction(friction).with_restitution(random.between(0.0, 0.6))
}

/// One throw; what went wrong, if anything.
fn throw(kind: Obstacle, thrown: Thrown, seed: u64) -> Result<(), String> {
    let mut random = Random(seed.wrapping_mul(0x5851_F42D_4C95_7F2D) ^ (kind as u64) << 8 ^ thrown as u64);
    let closed = kind == Obstacle::Rod;
    let body = match thrown {
        Thrown::Rope => rope(closed, &mut random),
        Thrown::Cloth => cloth(&mut random),
    };
    // Towards the obstacle, within 40° of its normal: −z for sheets, −x for the rod along z.
    let normal = if closed { Vector3::x() } else { Vector3::z() };
    let lean = Vector3::new(random.between(-0.8, 0.8), random.between(-0.8, 0.8), random.between(-0.8, 0.8));
    let direction = (-normal + lean - normal * normal.dot(&lean)).normalize();
    let turn = random.turn();
    let start = normal * random.between(0.4, 1.1);
    // Aimed at the middle, give or take a few centimetres.
    let aim =
        Vector3::new(random.between(-0.06, 0.06), random.between(-0.06, 0.06), random.between(-0.06, 0.06));
    let from = start - direction * (start.dot(&normal) / direction.dot(&normal)) + aim;
    let origin = from + direction * (start.dot(&normal) / direction.dot(&normal));
    let count = body.points.len();
    let q: Vec<f64> = body.points.iter().flat_map(|p| <[f64; 3]>::from(origin + turn * p)).collect();
    let stiffness = 10_f64.powf(random.between(3.0, 5.0));
    let links = body.links.iter().map(|&[a, b]| {
        let rest_length = (body.points[a as usize] - body.points[b as usize]).norm();
        Bound::compliant([a, b], Distance { rest_length }, 1.0 / stiffness)
    });
    let particles = ParticleSystemBuilder::new(vec![0.001; count])
        .force(Gravity::new([0.0, 0.0, -9.81]))
        .build()
        .map_err(|error| error.to_string())?;
    let system = PbdSystem::builder(particles)
        .distances(links)
        .collider(obstacle(kind, &mut random))
        .skin(body.skin.clone())
        .contact_options(ContactOptions::default())
        .build()
        .map_err(|error| error.to_string())?;
    let mut state = system.state_at_rest(q);
    let spin =
        Vector3::new(random.between(-20.0, 20.0), random.between(-20.0, 20.0), random.between(-20.0, 20.0));
    for (v, p) in state.v.chunks_exact_mut(3).zip(&body.points) {
        v.copy_from_slice((direction * SPEED + spin.cross(&(turn * p))).as_slice());
    }
    // A frame of 60 Hz in one step; for the rod its substeps one by one, which are the same.
    let (substeps, dt, steps) = if closed {
        (1, 1.0 / (60.0 * f64::from(SUBSTEPS)), FRAMES * SUBSTEPS)
    } else {
        (SUBSTEPS, 1.0 / 60.0, FRAMES)
    };
    let options = XpbdOptions { substeps, ..XpbdOptions::default() };
    let mut xpbd = Xpbd::new(&system, options).map_err(|error| error.to_string())?;
    if closed && winding(&state, &body.border) != 0 {
        return Err("linked at the start".to_owned());
    }
    for step in 0..steps {
        xpbd.step(&system, &mut state, dt).map_err(|error| error.to_string())?;
        if closed {
            let linked = winding(&state, &body.border);
            if linked != 0 {
                return Err(format!("linked {linked} times with the rod after substep {step}"));
            }
        } else if let Some(deep) = (0..count).find(|i| state.q[3 * i + 2] < -PLATE) {
            return Err(format!("particle {deep} at {} m after frame {step}", state.q[3 * deep + 2]));
        }
    }
    Ok(())
}

/// How many times a closed line goes round the z axis.
fn winding(state: &State, line: &[u32]) -> i64 {
    let at = |k: usize| {
        let i = 3 * line[k % line.len()] as usize;
        [state.q[i], state.q[i + 1]]
    };
    let turn: f64 = (0..line.len())
        .map(|k| {
            let (a, b) = (at(k), at(k + 1));
            (a[0] * b[1] - a[1] * b[0]).atan2(a[0] * b[0] + a[1] * b[1])
        })
        .sum();
    (turn / std::f64::consts::TAU).round() as i64
}

/// One job for each obstacle and each thing that is thrown.
pub fn jobs(_: Scope) -> Vec<Job> {
    let obstacles = [
        (Obstacle::Plate, "plate", "a plate of 1 mm"),
        (Obstacle::Mesh, "mesh", "a triangle mesh without thickness"),
        (Obstacle::Rod, "rod", "a capsule of 5 mm diameter"),
    ];
    let mut jobs = Vec::new();
    for (kind, name, words) in obstacles {
        for (thrown, what) in [(Thrown::Rope, "rope"), (Thrown::Cloth, "cloth")] {
            let id = format!("tunnelling/{what}_{name}");
            let job = id.clone();
            jobs.push(Job::new(job, move |scope| {
                let count = THROWS[usize::from(!scope.quick)];
                let complaints: Vec<String> = (0..count)
                    .into_par_iter()
                    .filter_map(|seed| throw(kind, thrown, seed).err().map(|why| format!("seed {seed}: {why}")))
                    .collect();
                Outcome::from(vec![Claim::no_complaint(
                    id.clone(),
                    format!("a {what} thrown {count} times at 50 m/s through {words}, 60 Hz, {SUBSTEPS} substeps: none passes"),
                    complaints,
                    SOURCE,
                )])
            }));
        }
    }
    jobs
}
