//! Criterion benches of the kernels a step spends its time in. `cargo bench -p sim-benches`

// The macros make a public function without documentation.
#![allow(missing_docs)]

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use sim_benches::cloth::{Cloth, ClothStiffness};
use sim_core::System;
use sim_linalg::workload::{SheetOptions, sheet};
use sim_linalg::{LinearOperator, LinearSolver, SolverChoice, SolverOptions};
use std::hint::black_box;

fn springs(criterion: &mut Criterion) {
    let cloth = Cloth::new(100, ClothStiffness::EXPLICIT);
    let system = cloth.system();
    let q = cloth.deformed();
    let (v, mut f) = (vec![0.0; q.len()], vec![0.0; q.len()]);
    let mut group = criterion.benchmark_group("springs");
    group.throughput(Throughput::Elements(cloth.springs.len() as u64));
    group.bench_function("force of 59,002 springs", |bencher| {
        bencher.iter(|| system.force(0.0, black_box(&q), &v, &mut f));
    });
    group.finish();
}

fn solvers(criterion: &mut Criterion) {
    let sheet = sheet(&SheetOptions::stiff(50)).expect("the workload is valid");
    let mut y = vec![0.0; sheet.rhs.len()];
    let mut group = criterion.benchmark_group("sheet of 50 x 50");
    group.bench_function("product", |bencher| {
        bencher.iter(|| sheet.matrix.apply(black_box(&sheet.rhs), &mut y));
    });
    for choice in [SolverChoice::Auto, SolverChoice::Direct, SolverChoice::BlockIncompleteCholesky] {
        let mut solver =
            LinearSolver::new(SolverOptions { choice, ..SolverOptions::default() }).expect("valid options");
        solver.prepare(sheet.matrix.pattern(), Some(&sheet.rest)).expect("a pattern");
        group.bench_function(format!("set-up and solve, {choice:?}"), |bencher| {
            bencher.iter(|| {
                solver.factor(&sheet.matrix).expect("positive definite");
                y.fill(0.0);
                solver.solve(&sheet.matrix, &sheet.rhs, &mut y, 1e-6).expect("solved")
            });
        });
    }
    group.finish();
}

criterion_group!(benches, springs, solvers);
criterion_main!(benches);
