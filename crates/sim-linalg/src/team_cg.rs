//! Conjugate gradients on a renumbered block matrix with a block preconditioner and a coarse space, in one parallel region.
//!
//! The method is that of [`crate::conjugate_gradients`]; this loop fuses its vector passes with the phases of the
//! preconditioner and keeps vectors padded to four lanes.
//!
//! With a coarse space, y = M⁻¹ r and Q = P (Pᵀ A P)⁻¹ Pᵀ, the deflated form applies z = y + Q (r − A y) (A-DEF2 of Tang,
//! Nabben, Vuik, Erlangga, J. Sci. Comput. 39 (2009) 340, with the start Pᵀ r = 0 that it needs), the additive form
//! z = y + Q r. Both are positive definite whatever the spectrum of M⁻¹ A.

mod setup;
mod solve;
pub(crate) use solve::Target;

use crate::block_factor::{BlockFactor, FactorPattern};
use crate::chunked_matrix::ChunkedMatrix;
use crate::coarse_space::CoarseSpace;
use crate::lanes::{Lane32, Lane64};
use crate::team_kernel::{Partials, Shared, Worker};

/// How the coarse correction joins the smoother.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Combination {
    Deflated,
    Additive,
}

#[derive(Debug)]
pub(crate) enum Smoother {
    /// Inverse diagonal blocks.
    BlockJacobi(Shared<[f32; 12]>),
    Incomplete(Box<IncompleteFactor>),
}

/// The incomplete factor and where its blocks are.
#[derive(Debug)]
pub(crate) struct IncompleteFactor {
    pub(crate) pattern: FactorPattern,
    pub(crate) factor: BlockFactor,
}

#[derive(Debug)]
pub(crate) struct TeamCg {
    pub(crate) threads: usize,
    pub(crate) matrix: ChunkedMatrix,
    pub(crate) smoother: Smoother,
    pub(crate) coarse: Option<CoarseSpace>,
    pub(crate) combination: Combination,
    /// Whether the coarse space is worth its time for the current values and its matrix could be factored.
    coarse_usable: bool,
    shift: f64,
    scale: f64,
    vectors: Vectors,
    partials: TeamPartials,
    /// Held while the preconditioner is applied through a shared reference.
    applying: std::sync::Mutex<()>,
}

#[derive(Debug)]
struct Vectors {
    b: Shared<Lane64>,
    x: Shared<Lane64>,
    r: Shared<Lane64>,
    p: Shared<Lane64>,
    q: Shared<Lane64>,
    y: Shared<Lane32>,
}

/// One set of partial sums per phase, so that none is overwritten before every thread has read it.
#[derive(Debug)]
struct TeamPartials {
    curvature: Partials,
    residual: Partials,
    smoothed: Partials,
    discarded: Partials,
    coarse: Partials,
    misfits: Partials,
    failed: Partials,
}

impl TeamCg {
    /// The parts that a worker computes: its share of the interiors, then of the separators.
    fn parts_of(&self, worker: Worker<'_>) -> impl Iterator<Item = usize> + use<> {
        let (interiors, parts) = (self.matrix.chunked.interiors, self.matrix.parts());
        worker.share(interiors).chain(worker.share(parts - interiors).map(move |k| interiors + k))
    }

    fn separators_of(&self, worker: Worker<'_>) -> impl Iterator<Item = usize> + use<> {
        let interiors = self.matrix.chunked.interiors;
        worker.share(self.matrix.parts() - interiors).map(move |k| interiors + k)
    }

    fn has_separators(&self) -> bool {
        self.matrix.parts() > self.matrix.chunked.interiors
    }

    fn coarse(&self) -> Option<&CoarseSpace> {
        self.coarse.as_ref().filter(|_| self.coarse_usable)
    }
}
