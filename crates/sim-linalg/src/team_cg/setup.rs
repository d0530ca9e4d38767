//! Building the structures once per pattern, and refilling them with values.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::block_factor::{BlockFactor, Breakdown, FactorPattern, Tuning};
use crate::block3::inverse_positive_definite;
use crate::chunked_matrix::ChunkedMatrix;
use crate::coarse_space::CoarseSpace;
use crate::direct::FactorError;
use crate::matrix::BlockSymmetric;
use crate::ordering::{ChunkedOrder, PermutedPattern, base_order};
use crate::partition::graph_patches;
use crate::pattern::BlockPattern;
use crate::preconditioners::{BLOCK_SHIFTS, PreconditionerError, with_shifts};
use crate::team_cg::{Combination, IncompleteFactor, Smoother, TeamCg, TeamPartials, Vectors};
use crate::team_kernel::{Partials, Shared, Worker, run};

/// A sheet of n × n nodes is cut into n over this many chunks: their separators, about two lines of n nodes each, then stay
/// below a tenth of the rows.
const LINES_PER_CHUNK: f64 = 25.0;
/// As many threads can share a solve. Fixed, because the numbering, hence every bit, depends on the number of chunks.
const MAX_CHUNKS: usize = 8;

/// What a refill found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct RefillReport {
    pub(crate) shift: f64,
    pub(crate) coarse_usable: bool,
}

/// Why a refill stops before it factors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Refusal {
    /// A block does not suit the storage, which must change.
    GeneralBlocks,
    NotFinite,
}

#[derive(Debug, Clone, Copy)]
struct FirstAttempt {
    coarse_usable: bool,
    scale: f64,
    broken: Option<Breakdown>,
}

impl TeamCg {
    /// `smoother_fill`: `None` for block Jacobi, else the fill level of the incomplete factor.
    pub(crate) fn new(mut matrix: ChunkedMatrix, smoother_fill: Option<u8>, threads: usize) -> Self {
        let smoother = match smoother_fill {
            None => Smoother::BlockJacobi(Shared::new([0.0; 12], &matrix.chunked.bounds)),
            Some(level) => {
                let mut chunked = matrix.chunked.clone();
                let pattern = FactorPattern::new(&matrix.permuted, &mut chunked, level);
                if chunked != matrix.chunked {
                    matrix = ChunkedMatrix::new(chunked, matrix.permuted);
                }
                let factor = BlockFactor::new(&pattern, &matrix.chunked);
                Smoother::Incomplete(Box::new(IncompleteFactor { pattern, factor }))
            }
        };
        let bounds = matrix.chunked.bounds.clone();
        let vector = || Shared::new([0.0_f64; 4], &bounds);
        let parts = matrix.parts();
        Self {
            vectors: Vectors {
                b: vector(),
                x: vector(),
                r: vector(),
                p: vector(),
                q: vector(),
                y: Shared::new([0.0_f32; 4], &bounds),
            },
            partials: TeamPartials {
                curvature: Partials::new(parts),
                residual: Partials::new(parts),
                smoothed: Partials::new(parts),
                discarded: Partials::new(parts),
                coarse: Partials::new(1),
                misfits: Partials::new(parts),
                failed: Partials::new(parts),
            },
            applying: std::sync::Mutex::new(()),
            threads,
            matrix,
            smoother,
            coarse: None,
            combination: Combination::Deflated,
            coarse_usable: false,
            shift: 0.0,
            scale: 1.0,
        }
    }

    /// On a pattern in any order: renumbers it if that helps, and cuts it into chunks.
    pub(crate) fn on_pattern(pattern: &BlockPattern, smoother_fill: Option<u8>, threads: usize) -> Self {
        let adjacency = pattern.adjacency();
        let base = base_order(pattern, &adjacency);
        let chunks = (((pattern.block_rows() as f64).sqrt() / LINES_PER_CHUNK) as usize).clamp(1, MAX_CHUNKS);
        let chunked = ChunkedOrder::new(&adjacency, &base, chunks);
        let permuted = PermutedPattern::new(pattern, &chunked.order);
        Self::new(ChunkedMatrix::new(chunked, permuted), smoother_fill, threads)
    }

    /// Adds a coarse space on patches of about `patch_size` nodes; `rest` in the caller's numbering.
    pub(crate) fn with_patches(
        self,
        pattern: &BlockPattern,
        rest: Option<&[f64]>,
        patch_size: usize,
        combination: Combination,
    ) -> Result<Self, FactorError> {
        let adjacency = pattern.adjacency();
        if let Some(rest) = rest {
            assert_eq!(rest.len(), pattern.dim(), "{} rest coordinates for {}", rest.len(), pattern.dim());
        }
        let (patch, count) = graph_patches(&adjacency, &base_order(pattern, &adjacency), rest, patch_size);
        let coarse = CoarseSpace::new(pattern, &patch, count, rest, &self.matrix.chunked.order)?;
        Ok(self.with_coarse(coarse, combination))
    }

    /// Number of coarse unknowns.
    pub(crate) fn coarse_dim(&self) -> usize {
        self.coarse.as_ref().map_or(0, CoarseSpace::dim)
    }

    /// Adds a coarse space; its nodes are numbered as in `self.matrix`.
    pub(crate) fn with_coarse(mut self, coarse: CoarseSpace, combination: Combination) -> Self {
        self.coarse = Some(coarse);
        self.combination = combination;
        self
    }

    /// Copies new values in and factors them. The coarse space is left out if the matrix is softer than `soft_limit`, the
    /// ratio of what nodes hold each other with to what they resist moving together with (about dt² k / m).
    pub(crate) fn refill(
        &mut self,
        values: &BlockSymmetric,
        soft_limit: f64,
    ) -> Result<RefillReport, PreconditionerError> {
        let threads = self.threads;
        let attempt = |this: &Self| {
            let next_part = AtomicUsize::new(0);
            run(threads, |worker| this.refill_on(worker, values, soft_limit, &next_part))
        };
        let mut first = attempt(self);
        while matches!(first, Err(Refusal::GeneralBlocks)) && self.matrix.generalize() {
            first = attempt(self);
        }
        let Ok(FirstAttempt { coarse_usable, scale, mut broken }) = first else {
            let block_row = values.first_non_finite().unwrap_or(0);
            return Err(PreconditionerError::NotFinite { block_row });
        };
        let this = &*self;
        let order = &this.matrix.chunked.order;
        let shift = with_shifts(BLOCK_SHIFTS, |shift| {
            if shift > 0.0 {
                broken = run(threads, |worker| {
                    this.factor_smoother(worker, values, Tuning { shift, scale }, None)
                });
            }
            broken.map_or(Ok(()), |b| Err(order[b.row] as usize))
        })?;
        self.coarse_usable = coarse_usable;
        (self.shift, self.scale) = (shift, scale);
        Ok(RefillReport { shift, coarse_usable: self.coarse_usable })
    }

    /// Everything up to the first factorisation without shift.
    fn refill_on(
        &self,
        worker: Worker<'_>,
        values: &BlockSymmetric,
        soft_limit: f64,
        queue: &AtomicUsize,
    ) -> Result<FirstAttempt, Refusal> {
        let TeamPartials { residual: diagonal, smoothed: upper, curvature: absolute, misfits, .. } =
            &self.partials;
        for part in self.parts_of(worker) {
            let sums = self.matrix.fill_part(values, part);
            diagonal.set(part, sums.diagonal);
            upper.set(part, sums.upper);
            absolute.set(part, sums.absolute);
            misfits.set(part, f64::from(u8::from(!sums.fits)));
        }
        worker.barrier();
        if misfits.sum() > 0.0 {
            return Err(Refusal::GeneralBlocks);
        }
        if !absolute.sum().is_finite() {
            return Err(Refusal::NotFinite);
        }
        let (diagonal, upper) = (diagonal.sum(), 2.0 * upper.sum());
        let scale = power_of_two(diagonal / (3 * self.matrix.rows().max(1)) as f64);
        let stiff = upper > soft_limit * (diagonal - upper).max(0.0);
        let wanted = self.coarse.as_ref().filter(|_| stiff);
        if let Some(coarse) = wanted {
            for group in worker.share(coarse.groups()) {
                coarse.galerkin_group(values, group);
            }
            worker.barrier();
            if worker.is_first() {
                self.partials.coarse.set(0, f64::from(u8::from(coarse.factor().is_ok())));
            }
        }
        let broken = self.factor_smoother(worker, values, Tuning { shift: 0.0, scale }, Some(queue));
        let coarse_usable = wanted.is_some() && self.partials.coarse.get(0) == 1.0;
        Ok(FirstAttempt { coarse_usable, scale, broken })
    }

    /// Factors all parts; every thread returns the same verdict. With `queue`, threads take interiors as they come, so
    /// that others work while the first one factors the coarse matrix.
    fn factor_smoother(
        &self,
        worker: Worker<'_>,
        values: &BlockSymmetric,
        tuning: Tuning,
        queue: Option<&AtomicUsize>,
    ) -> Option<Breakdown> {
        let interiors = self.matrix.chunked.interiors;
        if let Some(queue) = queue {
            loop {
                let part = queue.fetch_add(1, Ordering::Relaxed);
                if part >= interiors {
                    break;
                }
                self.factor_part(values, tuning, part);
            }
        } else {
            for part in worker.share(interiors) {
                self.factor_part(values, tuning, part);
            }
        }
        worker.barrier();
        if let Some(row) = first_failure(&self.partials.failed, 0..interiors) {
            return Some(row);
        }
        for part in self.separators_of(worker) {
            self.factor_part(values, tuning, part);
        }
        worker.barrier();
        first_failure(&self.partials.failed, interiors..self.matrix.parts())
    }

    fn factor_part(&self, values: &BlockSymmetric, tuning: Tuning, part: usize) {
        let chunked = &self.matrix.chunked;
        let result = match &self.smoother {
            Smoother::Incomplete(ic) => ic.factor.factor_part(&ic.pattern, chunked, values, tuning, part),
            Smoother::BlockJacobi(inverse) => {
                let mut inverse = inverse.write(part..part + 1);
                let rows = chunked.part(part);
                rows.clone().zip(inverse.iter_mut()).try_for_each(|(row, padded)| {
                    let d = tuning.shifted(values.diagonal[chunked.order[row] as usize]);
                    let block = inverse_positive_definite(&d).ok_or(Breakdown { row })?;
                    padded.iter_mut().zip(block).for_each(|(p, v)| *p = (v * tuning.scale) as f32);
                    Ok(())
                })
            }
        };
        self.partials.failed.set(part, result.map_or_else(|b| b.row as f64 + 1.0, |()| 0.0));
    }
}

fn first_failure(failed: &Partials, mut parts: std::ops::Range<usize>) -> Option<Breakdown> {
    parts.find_map(|part| {
        let row = failed.get(part);
        (row > 0.0).then(|| Breakdown { row: row as usize - 1 })
    })
}

/// The power of two at or below a positive number; 1 for anything else.
fn power_of_two(value: f64) -> f64 {
    if value.is_normal() && value > 0.0 {
        f64::from_bits(value.to_bits() & 0x7FF0_0000_0000_0000)
    } else {
        1.0
    }
}
