//! The sheet matrices that performance is measured on. Hidden: for tests, examples and the bench task, which must all
//! measure the same input; no user needs it.
//!
//! A sheet of n × n vertices, side 1 m, 0.2 kg, with springs along rows, columns, both diagonals (stiffness ks) and every
//! second neighbor (kb), seen from a wavy, noisy state; A = M + dt² K + dt D with projected stiffness, two corners pinned.

use nalgebra::{Matrix3, Vector3};

use crate::assembler::{AssemblyError, BlockAssembler, BlockRecorder};
use crate::matrix::BlockSymmetric;

/// Stiffness, damping and step of a sheet.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SheetOptions {
    /// Vertices along one side.
    pub n: usize,
    /// Step, in s.
    pub dt: f64,
    /// Stretch and shear stiffness, in N/m.
    pub stretch: f64,
    /// Stiffness of the springs to second neighbors, in N/m.
    pub bend: f64,
    /// Damping coefficient per stiffness, in s.
    pub damping_time: f64,
}

impl SheetOptions {
    /// The stiff sheet at 60 Hz.
    pub fn stiff(n: usize) -> Self {
        Self { n, dt: 1.0 / 60.0, stretch: 1e5, bend: 1e3, damping_time: 0.01 }
    }

    /// The soft sheet at 600 Hz.
    pub fn soft(n: usize) -> Self {
        Self { n, dt: 1.0 / 600.0, stretch: 1e3, bend: 10.0, damping_time: 1e-4 }
    }
}

/// A linear system of one implicit step.
#[derive(Debug, Clone)]
pub struct Sheet {
    /// The matrix over the free vertices.
    pub matrix: BlockSymmetric,
    /// The right-hand side.
    pub rhs: Vec<f64>,
    /// Rest coordinates of the free vertices.
    pub rest: Vec<f64>,
}

/// The value in [−1, 1) of place `k` of the fixed pseudo-random sequence (the finaliser of `SplitMix64`).
pub fn noise(k: u64) -> f64 {
    let mut z = k.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^= z >> 31;
    2.0 * ((z >> 11) as f64 / 9_007_199_254_740_992.0) - 1.0
}

/// The springs of a sheet: (a, b, rest length, stiffness).
fn springs(o: &SheetOptions) -> Vec<(usize, usize, f64, f64)> {
    let (n, d) = (o.n, 1.0 / (o.n - 1) as f64);
    let mut list = Vec::new();
    let mut family = |di: usize, dj: usize, mirrored: bool, k: f64| {
        for i in 0..n - di {
            for j in 0..n - dj {
                let (a, b) = (i * n + j, (i + di) * n + j + dj);
                // The second diagonal runs from (i + 1, j) to (i, j + 1).
                let (a, b) = if mirrored { (a + di * n, b - di * n) } else { (a, b) };
                list.push((a, b, d * ((di * di + dj * dj) as f64).sqrt(), k));
            }
        }
    };
    family(0, 1, false, o.stretch);
    family(1, 0, false, o.stretch);
    family(1, 1, false, o.stretch);
    family(1, 1, true, o.stretch);
    family(0, 2, false, o.bend);
    family(2, 0, false, o.bend);
    list
}

/// Builds the system of a sheet.
///
/// # Errors
/// Never for n of at least 3; assembly errors are passed on.
pub fn sheet(o: &SheetOptions) -> Result<Sheet, AssemblyError> {
    let (n, d) = (o.n, 1.0 / (o.n - 1) as f64);
    let vertices = n * n;
    let mass = 0.2 / vertices as f64;
    let free: Vec<bool> = (0..vertices).map(|v| v != 0 && v != n - 1).collect();
    let springs = springs(o);
    let mut recorder = BlockRecorder::new(&free);
    for v in 0..vertices {
        recorder.add(v, v);
    }
    for &(a, b, ..) in &springs {
        recorder.add_edge(a, b);
    }
    let assembler = recorder.finish()?;
    let position = |v: usize| {
        let (s, t) = ((v % n) as f64 * d, (v / n) as f64 * d);
        let tau = std::f64::consts::TAU;
        let r = |k: u64| 0.01 * d * noise(3 * v as u64 + k);
        Vector3::new(s + r(0), t + r(1), 0.02 * (tau * s).sin() * (tau * t).sin() + r(2))
    };
    let x: Vec<Vector3<f64>> = (0..vertices).map(position).collect();
    let mut matrix = BlockSymmetric::zeros(assembler.pattern().clone());
    let mut refill = assembler.refill(&mut matrix);
    for v in 0..vertices {
        refill.add(v, v, &(Matrix3::identity() * mass));
    }
    for &(a, b, rest, k) in &springs {
        let e = x[b] - x[a];
        let length = e.norm();
        let u = e / length;
        let t = (1.0 - rest / length).max(0.0);
        let uu = u * u.transpose();
        let stiffness = (Matrix3::identity() * t + uu * (1.0 - t)) * k;
        refill.add_edge(a, b, 1.0, &(stiffness * (o.dt * o.dt) + uu * (o.dt * o.damping_time * k)));
    }
    refill.finish()?;
    let gravity = [0.0, 0.0, -9.81];
    let mut force = vec![0.0; 3 * vertices];
    for (k, f) in force.iter_mut().enumerate() {
        *f = o.dt * mass * (gravity[k % 3] + 5.0 * noise((3 * vertices + k) as u64));
    }
    let all_rest: Vec<f64> =
        (0..vertices).flat_map(|v| [(v % n) as f64 * d, (v / n) as f64 * d, 0.0]).collect();
    let gather = |assembler: &BlockAssembler, all: &[f64]| {
        let mut own = vec![0.0; assembler.pattern().dim()];
        assembler.gather(all, &mut own);
        own
    };
    let (rhs, rest) = (gather(&assembler, &force), gather(&assembler, &all_rest));
    Ok(Sheet { matrix, rhs, rest })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operator::LinearOperator;

    /// Norms of the definition's reference program for n = 50 at 60 Hz.
    #[test]
    fn matches_the_definition() {
        assert_eq!(noise(0), 0.7666216164272852);
        assert_eq!(noise(1000), -0.6486149862133519);
        let sheet = sheet(&SheetOptions::stiff(50)).unwrap();
        let close =
            |value: f64, expected: f64| assert!((value / expected - 1.0).abs() < 1e-11, "{value} {expected}");
        let norm2 = |b: &[[f64; 9]]| b.iter().flatten().map(|v| v * v).sum::<f64>();
        close((norm2(sheet.matrix.diagonal()) + 2.0 * norm2(sheet.matrix.upper())).sqrt(), 13824.39694153);
        close(sheet.matrix.diagonal().iter().map(|d| d[0] + d[4] + d[8]).sum(), 870696.2351984);
        close(crate::reduce::norm(&sheet.rhs), 0.0007325431704366);
        let mut y = vec![0.0; sheet.rhs.len()];
        close(sheet.matrix.apply_dot(&sheet.rhs, &mut y), 1.271971829826e-05);
        close(crate::reduce::dot(&sheet.rhs, &y), 1.271971829826e-05);
        assert_eq!((sheet.matrix.block_rows(), sheet.rhs.len()), (2498, 7494));
        assert_eq!(9 * (2 * sheet.matrix.upper().len() + sheet.matrix.block_rows()), 283338);
    }
}
