//! Large sets of springs are sorted into runs, joined, cut and worked off in lanes by several threads: against the same springs one by one.

use super::catalogue::Outcome;
use nalgebra::Matrix3;
use sim_core::force::springs::{Spring, Springs};
use sim_core::{
    Definiteness, ExplicitSystem as _, ImplicitSystem as _, ParticleSystem, ParticleSystemBuilder,
    System as _,
};
use sim_verify::Claim;
use std::collections::BTreeMap;

const PARTICLES: u32 = 20_000;

/// A repeatable stream of numbers in [-1, 1]: splitmix64.
struct Stream(u64);

impl Stream {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        2.0 * ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64 - 1.0
    }

    fn below(&mut self, n: u32) -> u32 {
        ((0.5 * self.next() + 0.5) * f64::from(n)) as u32
    }
}

/// A rope, a sheet, a rope with gaps, a net without any order, springs in parallel and turned around, and some that reach far.
fn springs() -> Vec<Spring> {
    let mut stream = Stream(7);
    let mut ends: Vec<[u32; 2]> = (0..4_000).map(|i| [i, i + 1]).collect();
    let at = |row: u32, col: u32| 4_001 + 60 * row + col;
    for (row, col) in (0..60).flat_map(|row| (0..60).map(move |col| (row, col))) {
        for (down, right) in [(0, 1), (1, 0), (1, 1), (0, 2), (2, 0)] {
            if row + down < 60 && col + right < 60 {
                ends.push([at(row, col), at(row + down, col + right)]);
            }
        }
        if row + 1 < 60 && col > 0 {
            ends.push([at(row + 1, col - 1), at(row, col)]);
        }
    }
    ends.extend((0..3_000).filter(|i| i % 23 > 1).map(|i| [8_000 + i, 8_001 + i]));
    ends.extend((0..3_000).filter(|i| i % 11 != 0).map(|i| [8_003 + i, 8_000 + i]));
    for _ in 0..3_000 {
        let (a, b) = (12_000 + stream.below(6_000), 12_000 + stream.below(6_000));
        if a != b {
            ends.push([a, b]);
        }
    }
    ends.extend((0..40).map(|i| [i, PARTICLES - 1 - 3 * i]));
    ends.extend((0..500).map(|i| [2 * i + 1, 2 * i]));
    // Half of them out of order.
    for i in (1..ends.len()).step_by(2) {
        let other = stream.below(ends.len() as u32) as usize;
        ends.swap(i, other);
    }
    (ends.into_iter().enumerate())
        .map(|(i, ends)| {
            let varied = i % 3 == 0;
            Spring {
                ends,
                rest_length: if varied { 1.0 + 0.3 * stream.next() } else { 1.0 },
                stiffness: if varied { 50.0 + 30.0 * stream.next() } else { 40.0 },
                damping: if i % 5 == 0 { 0.3 } else { 0.1 },
            }
        })
        .collect()
}

fn build(forces: impl IntoIterator<Item = Springs>) -> Option<ParticleSystem> {
    let builder = ParticleSystemBuilder::new(vec![1.0; PARTICLES as usize]);
    forces.into_iter().fold(builder, ParticleSystemBuilder::force).build().ok()
}

type Blocks = BTreeMap<(usize, usize), Matrix3<f64>>;

fn blocks(emit: impl FnOnce(&mut dyn FnMut(usize, usize, &Matrix3<f64>))) -> Blocks {
    let mut sum = Blocks::new();
    emit(&mut |row, col, block| {
        let (at, block) = if row <= col { ((row, col), *block) } else { ((col, row), block.transpose()) };
        *sum.entry(at).or_insert_with(Matrix3::zeros) += block;
    });
    sum
}

fn apart(a: &Blocks, b: &Blocks) -> f64 {
    if a.len() != b.len() {
        return f64::NAN;
    }
    let largest = b.values().fold(0.0_f64, |m, block| m.max(block.amax()));
    let distance = |(at, block): (&(usize, usize), &Matrix3<f64>)| {
        b.get(at).map_or(f64::NAN, |other| (block - other).amax())
    };
    a.iter().map(distance).fold(0.0, f64::max) / largest
}

/// The claims.
pub(super) fn judge() -> Outcome {
    let list = springs();
    let (whole, single) =
        (build([Springs::new(list.iter().copied())]), build(list.iter().map(|s| Springs::new([*s]))));
    let mut claims = Vec::new();
    let mut claim = |name: &str, what: &str, measured: f64| {
        claims.push(Claim::at_most(
            format!("force/spring/layout/{name}"),
            format!(
                "{} springs sorted into runs, against one by one: relative distance of {what}",
                list.len()
            ),
            1e-12,
            measured,
            "sum over single springs",
        ));
    };
    let (Some(whole), Some(single)) = (whole, single) else {
        claim("build", "anything", f64::NAN);
        return claims.into();
    };
    let mut stream = Stream(11);
    let mut vector = |scale: f64| (0..3 * PARTICLES).map(|_| scale * stream.next()).collect::<Vec<f64>>();
    let (q, v, velocity) = (vector(2.0), vector(1.0), vector(1.0));
    let force = |system: &ParticleSystem| {
        let mut f = vec![0.0; q.len()];
        system.force(0.0, &q, &v, &mut f);
        f
    };
    let (a, b) = (force(&whole), force(&single));
    let largest = b.iter().fold(0.0_f64, |m, f| m.max(f.abs()));
    claim("force", "the forces", a.iter().zip(&b).fold(0.0_f64, |m, (a, b)| m.max((a - b).abs())) / largest);
    let energy = |system: &ParticleSystem| system.energy(0.0, &q, &v).elastic;
    claim("energy", "the energy", (energy(&whole) / energy(&single) - 1.0).abs());
    let power = |system: &ParticleSystem| system.power(0.0, &q, &v, &velocity).total();
    claim("power", "the power", (power(&whole) / power(&single) - 1.0).abs());
    let stiffness = |system: &ParticleSystem| {
        blocks(|mut sink| system.stiffness_matrix(0.0, &q, &v, Definiteness::Exact, &mut sink))
    };
    claim("stiffness", "the stiffness matrix", apart(&stiffness(&whole), &stiffness(&single)));
    let damping = |system: &ParticleSystem| blocks(|mut sink| system.damping_matrix(0.0, &q, &v, &mut sink));
    claim("damping", "the damping matrix", apart(&damping(&whole), &damping(&single)));
    let bounds = |system: &ParticleSystem| {
        let (mut stiffness, mut damping, mut count) = (0.0, 0.0, 0_u32);
        system.stencil_bounds(&q, &mut |stencil| {
            // Weighted by the particles, so that no two springs can be confused.
            let place: f64 = stencil.particles.iter().map(|&p| (p + 1) as f64).sum();
            stiffness += stencil.stiffness * place;
            damping += stencil.damping * place;
            count += 1;
        });
        [stiffness, damping, f64::from(count)]
    };
    let (a, b) = (bounds(&whole), bounds(&single));
    claim("bounds", "the stencil bounds", (0..3).fold(0.0_f64, |m, k| m.max((a[k] / b[k] - 1.0).abs())));
    claims.into()
}
