//! Convergence factors of stationary iterations, from the map that one sweep is.

use super::direct::laplacian;
use super::{blocks, dense_of};
use crate::verify::cases::{
    CaseError, Verdict, advance, at_most, expected, input, link, particles, relative, sweeps, worst,
};
use nalgebra::DMatrix;
use sim_linalg::{BlockSymmetric, Jacobi, LinearOperator, MatrixPreconditioner, Preconditioner};
use sim_pbd::{PbdSystem, XpbdOptions};
use sim_verify::reference::Case;

/// Largest modulus of the eigenvalues of I − M⁻¹A with Jacobi's M.
fn jacobi(matrix: &BlockSymmetric) -> Result<f64, CaseError> {
    let mut jacobi = Jacobi::new(matrix.pattern());
    jacobi.refill(matrix)?;
    let mut scaled = vec![0.0; matrix.dim()];
    let map = dense_of(matrix.dim(), |x, y| {
        matrix.apply(x, &mut scaled);
        jacobi.apply(&scaled, y);
        y.iter_mut().zip(x).for_each(|(y, x)| *y = x - *y);
    });
    // Symmetric: the diagonal is the same everywhere.
    Ok(worst(map.symmetric_eigenvalues().iter().map(|lambda| lambda.abs())))
}

/// The map of the violations of a straight chain of rigid links that one visit of every link is.
///
/// Along a line the links are linear, with the matrix tridiag(-1, 2, -1) for equal masses: a Gauss-Seidel sweep, in the order of the
/// solver's own layout, over-relaxed by `factor`.
fn sweep(links: usize, factor: f64) -> Result<DMatrix<f64>, CaseError> {
    let system = PbdSystem::builder(particles(&vec![1.0; links + 1], &[], [0.0; 3])?)
        .distances((0..links).map(|i| link(i, i + 1, 1.0, 0.0)))
        .build()?;
    let options = XpbdOptions { over_relaxation: factor, ..sweeps(1, 1) };
    let mut failed = None;
    // Small against the links; the map is linear, so that its size does not matter otherwise.
    let size = 0.25;
    let map = dense_of(links, |violation, after| {
        let mut x = 0.0;
        let mut q = vec![0.0; 3];
        for violation in violation {
            x += 1.0 + size * violation;
            q.extend([x, 0.0, 0.0]);
        }
        let mut state = system.state_at_rest(q);
        if let Err(error) = advance(&system, &mut state, options.clone(), 0.01, 1) {
            failed = Some(error);
        }
        for (i, after) in after.iter_mut().enumerate() {
            *after = (state.q[3 * i + 3] - state.q[3 * i] - 1.0) / size;
        }
    });
    failed.map_or(Ok(map), Err)
}

fn spectral_radius(map: &DMatrix<f64>) -> f64 {
    worst(map.complex_eigenvalues().iter().map(|lambda| lambda.norm()))
}

pub(super) fn stationary(case: &'static Case) -> Verdict {
    let n = input(case, "n")? as usize;
    let limit = case.suggested_rtol.ok_or("no tolerance")?;
    let chain = laplacian(n, false);
    let plane = DMatrix::identity(n, n).kronecker(&chain) + chain.kronecker(&DMatrix::identity(n, n));
    let exact = expected(case, "rho_jacobi")?;
    // The plane in one of three components is enough.
    let plane_rate = {
        let matrix = blocks(&plane)?;
        let mut jacobi = Jacobi::new(matrix.pattern());
        jacobi.refill(&matrix)?;
        let size = n * n;
        let (mut x, mut product, mut scaled) =
            (vec![0.0; 3 * size], vec![0.0; 3 * size], vec![0.0; 3 * size]);
        let map = dense_of(size, |unit, y| {
            (0..size).for_each(|i| x[3 * i] = unit[i]);
            matrix.apply(&x, &mut product);
            jacobi.apply(&product, &mut scaled);
            (0..size).for_each(|i| y[i] = unit[i] - scaled[3 * i]);
        });
        worst(map.symmetric_eigenvalues().iter().map(|lambda| lambda.abs()))
    };
    let seidel = spectral_radius(&sweep(n, 1.0)?);
    let omega = expected(case, "omega_opt")?;
    let relaxed = sweep(n, omega)?;
    let wanted = expected(case, "rho_sor")?;
    // At the best factor all eigenvalues have one modulus, so that the determinant gives it; an eigenvalue of its own is known only
    // to the root of the digits, because they meet there.
    let modulus = relaxed.determinant().abs().powf(1.0 / n as f64);
    let radius = spectral_radius(&relaxed);
    let neighbors =
        [omega - 0.01, omega + 0.01].map(|factor| sweep(n, factor).map(|map| spectral_radius(&map)));
    let [below, above] = neighbors;
    Ok(vec![
        at_most(case, "jacobi", "Jacobi on the chain and on the plane, relative distance", limit, {
            worst([relative(jacobi(&blocks(&chain)?)?, exact), relative(plane_rate, exact)])
        }),
        // The map is not symmetric: its eigenvalues are known to fewer digits than its entries.
        at_most(case, "gauss_seidel", "sweep over a chain of rigid links, relative distance", 1e-10, {
            worst([
                relative(seidel, expected(case, "rho_gauss_seidel")?),
                relative(-1.0 / seidel.log10(), expected(case, "gs_iterations_per_digit")?) / 100.0,
            ])
        }),
        at_most(case, "sor", "mean modulus with the best over-relaxation, relative distance", limit, {
            relative(modulus, wanted)
        }),
        at_most(
            case,
            "sor_radius",
            "largest modulus there, relative distance",
            1e-4,
            relative(radius, wanted),
        ),
        at_most(case, "sor_best", "the same over that of a factor 0.01 smaller or larger", 1.0, {
            radius / below?.min(above?)
        }),
    ])
}
