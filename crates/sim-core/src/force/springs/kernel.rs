//! The spring force on eight springs at a time, compiled for the processor found at run time.
//!
//! A *run* is a sequence of springs `(a, b), (a + 1, b + 1), …`: ropes, belts and grids consist of them. Positions of eight
//! consecutive particles are 24 consecutive numbers, so that a run needs no index per spring and no gathering. Only sums,
//! products, one square root and one division occur, each correctly rounded on every processor: the bits depend neither
//! on the lane width nor on the number of threads.

use std::ops::Range;

/// Springs per block.
const LANES: usize = 8;
/// Coordinates of a block.
const WIDE: usize = 3 * LANES;

/// Consecutive springs between consecutive particles.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Run {
    /// First particle on either side.
    pub ends: [u32; 2],
    /// Place of the parameters.
    pub springs: Range<usize>,
}

/// Parameters in the order of the runs.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Parameters {
    pub rest_length: Vec<f64>,
    pub stiffness: Vec<f64>,
    pub damping: Vec<f64>,
}

/// Tension over length: `(k (l - l0) + c rate / l) / l`, and 0 where the ends coincide (there the force is zero anyway).
#[inline(always)]
fn tension_over_length(square: f64, rate: f64, rest_length: f64, stiffness: f64, damping: f64) -> f64 {
    let length = square.sqrt();
    let inverse = if length > 0.0 { 1.0 / length } else { 0.0 };
    (stiffness * (length - rest_length) + damping * (rate * inverse)) * inverse
}

/// Pulls of one block along the springs.
#[inline(always)]
fn block(
    [qa, qb, va, vb]: [&[f64; WIDE]; 4],
    rest_length: &[f64; LANES],
    stiffness: &[f64; LANES],
    damping: &[f64; LANES],
) -> [f64; WIDE] {
    let mut d = [0.0; WIDE];
    let mut squares = [0.0; WIDE];
    let mut rates = [0.0; WIDE];
    for i in 0..WIDE {
        d[i] = qb[i] - qa[i];
        squares[i] = d[i] * d[i];
        rates[i] = (vb[i] - va[i]) * d[i];
    }
    let mut scale = [0.0; LANES];
    for i in 0..LANES {
        let square = squares[3 * i] + squares[3 * i + 1] + squares[3 * i + 2];
        let rate = rates[3 * i] + rates[3 * i + 1] + rates[3 * i + 2];
        scale[i] = tension_over_length(square, rate, rest_length[i], stiffness[i], damping[i]);
    }
    for i in 0..WIDE {
        d[i] *= scale[i / 3];
    }
    d
}

#[inline(always)]
fn lanes<const N: usize>(x: &[f64], start: usize) -> &[f64; N] {
    x[start..start + N].try_into().expect("the slice has that length")
}

/// Adds the forces of runs. `f` starts at particle `first`.
#[inline(always)]
fn add_runs(runs: &[Run], parameters: &Parameters, q: &[f64], v: &[f64], f: &mut [f64], first: usize) {
    for run in runs {
        let [a, b] = run.ends.map(|end| 3 * end as usize);
        let count = run.springs.len();
        let mut done = 0;
        while done + LANES <= count {
            let (a, b, s) = (a + 3 * done, b + 3 * done, run.springs.start + done);
            let pull = block(
                [lanes(q, a), lanes(q, b), lanes(v, a), lanes(v, b)],
                lanes(&parameters.rest_length, s),
                lanes(&parameters.stiffness, s),
                lanes(&parameters.damping, s),
            );
            for (f, pull) in f[a - 3 * first..][..WIDE].iter_mut().zip(&pull) {
                *f += pull;
            }
            for (f, pull) in f[b - 3 * first..][..WIDE].iter_mut().zip(&pull) {
                *f -= pull;
            }
            done += LANES;
        }
        while done < count {
            let (a, b, s) = (a + 3 * done, b + 3 * done, run.springs.start + done);
            let d = [q[b] - q[a], q[b + 1] - q[a + 1], q[b + 2] - q[a + 2]];
            let w = [v[b] - v[a], v[b + 1] - v[a + 1], v[b + 2] - v[a + 2]];
            let scale = tension_over_length(
                d[0] * d[0] + d[1] * d[1] + d[2] * d[2],
                w[0] * d[0] + w[1] * d[1] + w[2] * d[2],
                parameters.rest_length[s],
                parameters.stiffness[s],
                parameters.damping[s],
            );
            for k in 0..3 {
                f[a - 3 * first + k] += scale * d[k];
                f[b - 3 * first + k] -= scale * d[k];
            }
            done += 1;
        }
    }
}

/// Adds the forces of `runs` to `f`, which starts at particle `first`.
pub(super) fn add_forces(
    runs: &[Run],
    parameters: &Parameters,
    q: &[f64],
    v: &[f64],
    f: &mut [f64],
    first: usize,
) {
    pulp::Arch::new().dispatch(Kernel { runs, parameters, q, v, f, first });
}

struct Kernel<'a> {
    runs: &'a [Run],
    parameters: &'a Parameters,
    q: &'a [f64],
    v: &'a [f64],
    f: &'a mut [f64],
    first: usize,
}

impl pulp::NullaryFnOnce for Kernel<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        add_runs(self.runs, self.parameters, self.q, self.v, self.f, self.first);
    }
}
