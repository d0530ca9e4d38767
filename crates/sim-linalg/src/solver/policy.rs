//! Which method for which system.
//!
//! 1. A chain, a closed chain or a tree: its own factorisation, linear in size and exact.
//! 2. Up to [`SMALL`] block rows: sparse Cholesky; exact, and iterations gain little.
//! 3. Else conjugate gradients with block incomplete Cholesky, and with a coarse space on top if the matrix is stiff, that
//!    is if its off-diagonal blocks outweigh the sums of its rows by more than [`SOFT`] (about dt² k / m).
//! 4. When the residual shows, after 6, 12, 24, … iterations, that more than [`worth`] are left at the rate of the last half: sparse
//!    Cholesky after all (sheets that are folded and slack). The trial costs about a fifth of the factorisation. It is made anew for every
//!    matrix: a choice remembered from the one before would make results depend on where a run was resumed.

use crate::cg::CgWorkspace;
use crate::direct::{
    BlockBanded, BlockPentadiagonal, BlockTree, BlockTridiagonal, ClosedLoop, DirectSolver, FactorError,
    SparseCholesky,
};
use crate::pattern::BlockPattern;
use crate::preconditioners::PreconditionerKind;
use crate::solver::{Method, SolverChoice, SolverError, SolverOptions};
use crate::team_cg::{Combination, TeamCg};

/// Block rows up to which sparse Cholesky is chosen.
const SMALL: usize = 200;
/// Stiffness below which incomplete Cholesky alone needs so few iterations that a coarse space does not pay.
pub(crate) const SOFT: f64 = 150.0;
/// Scalar unknowns up to which a failed or slow iteration may be repeated directly: about 1.3 GB of factor.
pub(crate) const LARGEST_DIRECT: usize = 400_000;

/// Iterations left at which sparse Cholesky is sooner done. It takes as long as 50 iterations of the two-level method on sheets of 2,500
/// nodes, as 57 to 96 on 8,000 to 40,000, as 98 to 137 on 90,000 to 130,000 (`cargo xtask bench grids garments`). More is granted because
/// the rate mostly gets better: with 65 on the small sheets, steps of W2 that need 35 iterations were given up.
pub(crate) fn worth(rows: usize) -> usize {
    match rows {
        0..5_000 => 80,
        5_000..60_000 => 90,
        _ => 130,
    }
}

const ASKED: &str = "asked for";

pub(crate) fn choose(
    options: &SolverOptions,
    pattern: &BlockPattern,
    rest: Option<&[f64]>,
) -> Result<(Method, &'static str), SolverError> {
    let team = |fill| TeamCg::on_pattern(pattern, fill, options.threads);
    let fill = Some(options.preconditioner.fill_level);
    let two_level = |combination| -> Result<Method, SolverError> {
        let size = options.preconditioner.patch_size;
        Ok(Method::Team(Box::new(team(fill).with_patches(pattern, rest, size, combination)?)))
    };
    let generic = |kind: PreconditionerKind| -> Result<Method, SolverError> {
        let preconditioner = kind.build(pattern, rest, &options.preconditioner)?;
        Ok(Method::Generic { preconditioner, workspace: CgWorkspace::default() })
    };
    let method = match options.choice {
        SolverChoice::Auto => return automatic(options, pattern, two_level),
        SolverChoice::Direct => Method::Direct(Box::new(SparseCholesky::new(pattern)?)),
        SolverChoice::BlockTridiagonal => Method::Direct(banded::<1>(pattern)?),
        SolverChoice::BlockPentadiagonal => Method::Direct(banded::<2>(pattern)?),
        SolverChoice::ClosedLoop => Method::Direct(closed_loop(pattern)?),
        SolverChoice::Tree => Method::Direct(Box::new(BlockTree::new(pattern)?)),
        SolverChoice::TwoLevel => two_level(Combination::Deflated)?,
        SolverChoice::TwoLevelAdditive => two_level(Combination::Additive)?,
        SolverChoice::BlockIncompleteCholesky => Method::Team(Box::new(team(fill))),
        SolverChoice::BlockJacobi => Method::Team(Box::new(team(None))),
        SolverChoice::IncompleteCholesky => generic(PreconditionerKind::IncompleteCholesky)?,
        SolverChoice::ThresholdIncompleteCholesky => {
            generic(PreconditionerKind::ThresholdIncompleteCholesky)?
        }
        SolverChoice::Jacobi => generic(PreconditionerKind::Jacobi)?,
        SolverChoice::Identity => generic(PreconditionerKind::Identity)?,
    };
    Ok((method, ASKED))
}

fn automatic(
    options: &SolverOptions,
    pattern: &BlockPattern,
    two_level: impl FnOnce(Combination) -> Result<Method, SolverError>,
) -> Result<(Method, &'static str), SolverError> {
    if let Some((direct, reason)) = structured(pattern) {
        return Ok((Method::Direct(direct), reason));
    }
    if pattern.block_rows() <= SMALL {
        return Ok((Method::Direct(Box::new(SparseCholesky::new(pattern)?)), "small"));
    }
    debug_assert_eq!(options.choice, SolverChoice::Auto);
    Ok((two_level(Combination::Deflated)?, reason_for_large(true)))
}

/// Why a large system is solved as it is, once its values have been seen.
pub(crate) fn reason_for_large(coarse: bool) -> &'static str {
    if coarse { "large and stiff" } else { "large, but soft: a coarse space does not pay" }
}

/// The factorisation of linear cost that a pattern allows.
fn structured(pattern: &BlockPattern) -> Option<(Box<dyn DirectSolver>, &'static str)> {
    if BlockTridiagonal::fits(pattern) {
        let chain = BlockTridiagonal::with_capacity(pattern.block_rows());
        return Some((Box::new(chain), "the graph is a chain"));
    }
    if BlockPentadiagonal::fits(pattern) {
        let chain = BlockPentadiagonal::with_capacity(pattern.block_rows());
        return Some((Box::new(chain), "the graph is a chain with skip-one couplings"));
    }
    if let Ok(tree) = BlockTree::new(pattern) {
        return Some((Box::new(tree), "the graph is a tree"));
    }
    closed_loop(pattern).ok().map(|direct| (direct, "the graph is a closed loop"))
}

fn banded<const B: usize>(pattern: &BlockPattern) -> Result<Box<dyn DirectSolver>, SolverError> {
    for row in 0..pattern.block_rows() {
        if let Some(&col) = pattern.row(row).iter().find(|&&col| col as usize - row > B) {
            let expected = if B == 1 { "a chain" } else { "a chain with skip-one couplings" };
            return Err(FactorError::Structure { expected, row, col: col as usize }.into());
        }
    }
    Ok(Box::new(BlockBanded::<B>::with_capacity(pattern.block_rows())))
}

fn closed_loop(pattern: &BlockPattern) -> Result<Box<dyn DirectSolver>, FactorError> {
    match ClosedLoop::<1>::new(pattern) {
        Ok(direct) => Ok(Box::new(direct)),
        Err(_) => Ok(Box::new(ClosedLoop::<2>::new(pattern)?)),
    }
}
