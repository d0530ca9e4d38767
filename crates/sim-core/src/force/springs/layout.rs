//! The order in which springs are worked off: fixed when they are built, the same for any number of threads.

use super::Spring;
use super::kernel::{self, Loose, Run, Values, Work};
use super::matrix::{self, Blend};
use crate::system::BlockSink;
use std::ops::Range;

/// Particles per chunk: positions, velocities and forces of a chunk stay in the first and second cache level.
const BLOCK: u32 = 1024;
/// Springs that reach further than this are worked off last, by one thread.
const MAX_REACH: u32 = 16 * BLOCK;
/// Fewest springs for which threads pay. Two threads against one in whole steps of square cloths, best of 1,500 runs of
/// `examples/w4` on a busy machine: 1.04 × at 9,000 springs, 1.08 × at 21,000, 1.4 × at 48,000.
const PARALLEL_MIN: usize = 20_000;
/// Shortest run that is worked off as such.
const RUN_MIN: usize = 8;
/// Shortest run worth joining to the next one by idle springs.
const JOIN_MIN: usize = 16;
/// Longest gap between runs that idle springs bridge.
const JOIN_GAP: u32 = 2;

/// Springs sorted into runs, runs into chunks of neighboring particles, chunks into phases.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Layout {
    springs: usize,
    runs: Vec<Run>,
    loose: Loose,
    chunks: Vec<Chunk>,
    /// Chunks of a phase touch disjoint stretches of particles, in ascending order.
    phases: Vec<Range<usize>>,
}

/// Springs that start in one block of particles: runs, then those in no run.
#[derive(Clone, Debug, PartialEq)]
struct Chunk {
    runs: Range<usize>,
    loose: Range<usize>,
    /// Stretch of particles that the runs touch.
    particles: Range<usize>,
}

/// A run, or a part of one, before it has its place.
struct Piece {
    /// Block of the lower end, or the one after the last for springs that reach far.
    block: u32,
    /// First particle on either side, the lower one first.
    ends: [u32; 2],
    /// Indices into the list, or [`IDLE`].
    springs: Vec<usize>,
}

/// Marks a place without a spring.
const IDLE: usize = usize::MAX;

impl Piece {
    fn run(&self, springs: &[Spring]) -> Run {
        // An idle place takes the values of the spring before it, so that it does not break a row of equal values.
        let values = |field: fn(&Spring) -> f64| {
            let first = self.springs.iter().find_map(|&index| springs.get(index)).map_or(0.0, field);
            let mut all = Vec::with_capacity(self.springs.len());
            for &index in &self.springs {
                let before = all.last().copied().unwrap_or(first);
                all.push(springs.get(index).map_or(before, field));
            }
            let same = all.iter().all(|value| value.to_bits() == first.to_bits());
            if same { Values::Same(first) } else { Values::Each(all) }
        };
        Run {
            ends: self.ends,
            count: self.springs.len(),
            rest_length: values(|spring| spring.rest_length),
            stiffness: values(|spring| spring.stiffness),
            damping: values(|spring| spring.damping),
            idle: (0..)
                .zip(&self.springs)
                .filter(|&(_, &index)| index == IDLE)
                .map(|(place, _)| place)
                .collect(),
        }
    }
}

impl Layout {
    pub(super) fn new(springs: &[Spring]) -> Self {
        let mut pieces = pieces(springs);
        // Stable: within a block the runs stay in the order of their reach.
        pieces.sort_by_key(|piece| piece.block);
        let mut layout = Self { springs: springs.len(), ..Self::default() };
        let mut chunks: Vec<Chunk> = Vec::new();
        for group in pieces.chunk_by(|x, y| x.block == y.block) {
            let (first_run, first_loose) = (layout.runs.len(), layout.loose.ends.len());
            let (mut low, mut high) = (usize::MAX, 0);
            for piece in group {
                for end in piece.ends {
                    low = low.min(end as usize);
                    high = high.max(end as usize + piece.springs.len());
                }
                if piece.springs.len() >= RUN_MIN {
                    layout.runs.push(piece.run(springs));
                } else {
                    // Idle places only fill gaps of runs; where a cut left some in a short piece they are dropped.
                    for spring in piece.springs.iter().filter_map(|&index| springs.get(index)) {
                        let [a, b] = spring.ends;
                        layout.loose.ends.push([a.min(b), a.max(b)]);
                        layout.loose.rest_length.push(spring.rest_length);
                        layout.loose.stiffness.push(spring.stiffness);
                        layout.loose.damping.push(spring.damping);
                    }
                }
            }
            chunks.push(Chunk {
                runs: first_run..layout.runs.len(),
                loose: first_loose..layout.loose.ends.len(),
                particles: low..high,
            });
        }
        // Each chunk goes into the first phase whose last chunk ends before it starts.
        let mut phases: Vec<Vec<Chunk>> = Vec::new();
        for chunk in chunks {
            let free = phases
                .iter_mut()
                .find(|phase| phase.last().is_none_or(|last| last.particles.end <= chunk.particles.start));
            match free {
                Some(phase) => phase.push(chunk),
                None => phases.push(vec![chunk]),
            }
        }
        for phase in phases {
            let first = layout.chunks.len();
            layout.chunks.extend(phase);
            layout.phases.push(first..layout.chunks.len());
        }
        layout
    }

    /// Adds the forces to `f`, with as many threads as the current pool has when there are springs enough.
    pub(super) fn add_forces(&self, q: &[f64], v: &[f64], f: &mut [f64]) {
        let threads = if self.springs < PARALLEL_MIN { 1 } else { rayon::current_num_threads() };
        for phase in &self.phases {
            self.add_chunks(&self.chunks[phase.clone()], threads, q, v, f, 0);
        }
    }

    /// Emits the weighted matrix of every spring once, in the order of the layout.
    pub(super) fn emit_blocks(&self, blend: Blend<'_>, sink: &mut dyn BlockSink) {
        for chunk in &self.chunks {
            for run in &self.runs[chunk.runs.clone()] {
                matrix::emit_run(run, blend, sink);
            }
            matrix::emit_loose(&self.loose, chunk.loose.clone(), blend, sink);
        }
    }

    /// `f` starts at particle `first`.
    fn add_chunks(
        &self,
        chunks: &[Chunk],
        threads: usize,
        q: &[f64],
        v: &[f64],
        f: &mut [f64],
        first: usize,
    ) {
        if threads > 1 && chunks.len() > 1 {
            let (left_threads, middle) = (threads / 2, chunks.len() * (threads / 2) / threads);
            let middle = middle.max(1);
            let (left, right) = chunks.split_at(middle);
            let cut = right[0].particles.start;
            let (low, high) = f.split_at_mut(3 * (cut - first));
            rayon::join(
                || self.add_chunks(left, left_threads, q, v, low, first),
                || self.add_chunks(right, threads - left_threads, q, v, high, cut),
            );
            return;
        }
        for chunk in chunks {
            let work = Work {
                runs: &self.runs[chunk.runs.clone()],
                loose: &self.loose,
                range: (chunk.loose.start, chunk.loose.end),
            };
            kernel::add_forces(work, q, v, f, first);
        }
    }
}

/// Sorts the springs into runs between consecutive particles, joined over short gaps and cut at blocks.
///
/// The order of the list does not matter: springs of one reach come together, whether they were listed by family (as
/// grids are made) or edge by edge (as meshes are imported). Ends are taken in ascending order; turning a spring around
/// changes no bit of its force.
fn pieces(springs: &[Spring]) -> Vec<Piece> {
    let ends = |index: usize| {
        let [a, b] = springs[index].ends;
        [a.min(b), a.max(b)]
    };
    let mut order: Vec<usize> = (0..springs.len()).collect();
    // The index last: springs in parallel keep the order of the list.
    order.sort_unstable_by_key(|&index| {
        let [low, high] = ends(index);
        (high - low, low, index)
    });
    let mut whole: Vec<Piece> = Vec::new();
    for index in order {
        let next = ends(index);
        if let Some(run) = whole.last_mut() {
            let count = run.springs.len();
            let last = run.ends.map(|end| end + (count - 1) as u32);
            let same_reach = last[1] - last[0] == next[1] - next[0];
            let step = next[0].wrapping_sub(last[0]);
            if same_reach && (step == 1 || (2..=JOIN_GAP + 1).contains(&step) && count >= JOIN_MIN) {
                run.springs.extend(std::iter::repeat_n(IDLE, step as usize - 1));
                run.springs.push(index);
                continue;
            }
        }
        whole.push(Piece { block: 0, ends: next, springs: vec![index] });
    }
    let mut pieces = Vec::with_capacity(whole.len());
    for run in whole {
        let far = run.ends[1] - run.ends[0] > MAX_REACH;
        let mut done = 0;
        while done < run.springs.len() {
            let start = run.ends[0] + done as u32;
            let room = if far { run.springs.len() } else { (BLOCK - start % BLOCK) as usize };
            let count = room.min(run.springs.len() - done);
            pieces.push(Piece {
                block: if far { u32::MAX } else { start / BLOCK },
                ends: run.ends.map(|end| end + done as u32),
                springs: run.springs[done..done + count].to_vec(),
            });
            done += count;
        }
    }
    pieces
}
