//! Shapes of cables and nets against closed forms and against each other.

use sim_fem::analysis::nonlinear_static::{NonlinearStaticOptions, Stage, nonlinear_static};
use sim_fem::elements::nonlinear_truss::Unstretched;
use sim_fem::elements::tension_cable::TensionCable;
use sim_fem::form_finding::dynamic_relaxation::{RelaxationError, RelaxationOptions, dynamic_relaxation};
use sim_fem::form_finding::force_density::{Net, NetError, force_density};
use sim_fem::load::Direction::{Y, Z};
use sim_fem::material::{Material, Section};
use sim_fem::{Structure, StructureBuilder};

/// Equal densities and equal loads on equal spacing: a parabola, exactly.
#[test]
fn hanging_chain_is_a_parabola() {
    let (n, q, p) = (10, 50.0, -4.0);
    let mut net = Net {
        nodes: vec![[0.0; 3]; n + 1],
        fixed: vec![false; n + 1],
        segments: (0..n).map(|i| [i, i + 1]).collect(),
        force_densities: vec![q; n],
        loads: vec![[0.0, 0.0, p]; n + 1],
    };
    net.nodes[n] = [10.0, 0.0, 0.0];
    (net.fixed[0], net.fixed[n]) = (true, true);
    let report = force_density(&net).unwrap();
    assert!(report.residual < 1e-12);
    for (i, node) in report.nodes.iter().enumerate() {
        let z = p / (2.0 * q) * (i * (n - i)) as f64;
        assert!((node[0] - i as f64).abs() < 1e-12 && (node[2] - z).abs() < 1e-12, "{node:?} {z}");
    }
    for ((tension, length), density) in report.tensions.iter().zip(&report.lengths).zip(&net.force_densities)
    {
        assert!((tension - density * length).abs() < 1e-12);
    }
}

/// Equal densities on a grid whose straight edges lie on z = c x y: the hyperbolic paraboloid, exactly.
#[test]
fn hypar_net() {
    let n = 8;
    let at = |i: usize, j: usize| i * (n + 1) + j;
    let shape = |i: usize, j: usize| {
        let (x, y) = (i as f64 / n as f64 - 0.3, j as f64 / n as f64 + 0.2);
        [x, y, 0.7 * x * y]
    };
    let count = (n + 1) * (n + 1);
    let mut net = Net {
        nodes: vec![[0.0; 3]; count],
        fixed: vec![false; count],
        segments: Vec::new(),
        force_densities: Vec::new(),
        loads: vec![[0.0; 3]; count],
    };
    for i in 0..=n {
        for j in 0..=n {
            if i == 0 || j == 0 || i == n || j == n {
                net.nodes[at(i, j)] = shape(i, j);
                net.fixed[at(i, j)] = true;
            }
            if i < n {
                net.segments.push([at(i, j), at(i + 1, j)]);
            }
            if j < n {
                net.segments.push([at(i, j), at(i, j + 1)]);
            }
        }
    }
    net.force_densities = vec![3.0; net.segments.len()];
    let report = force_density(&net).unwrap();
    for i in 0..=n {
        for j in 0..=n {
            for k in 0..3 {
                assert!((report.nodes[at(i, j)][k] - shape(i, j)[k]).abs() < 1e-12);
            }
        }
    }
}

#[test]
fn impossible_nets_are_named() {
    let net = Net {
        nodes: vec![[0.0; 3], [1.0, 0.0, 0.0], [2.0, 0.0, 0.0], [3.0, 0.0, 0.0]],
        fixed: vec![true, false, false, false],
        segments: vec![[0, 1], [2, 3]],
        force_densities: vec![1.0, 1.0],
        loads: vec![[0.0; 3]; 4],
    };
    let error = force_density(&net).unwrap_err();
    assert!(matches!(error, NetError::Undetermined { node: 2 | 3, .. }), "{error}");
    let error = force_density(&Net { loads: vec![], ..net.clone() }).unwrap_err();
    assert_eq!(error, NetError::Length { what: "loads", found: 0, expected: 4 });
    let error = force_density(&Net { segments: vec![[0, 1], [2, 9]], ..net.clone() }).unwrap_err();
    assert!(matches!(error, NetError::Segment { segment: 1, .. }));
    let error = force_density(&Net { fixed: vec![true; 4], ..net }).unwrap_err();
    assert_eq!(error, NetError::NothingFree);
}

/// A cable of 20 segments with its unstretched length as a share of the length of a shallow start, under its load.
fn cable(factor: f64) -> Structure {
    let n = 20;
    let element = TensionCable::new(&Material::new(1e5), &Section::area(1.0))
        .unwrap()
        .with_unstretched(Unstretched::Factor(factor));
    let mut builder = StructureBuilder::new();
    // A shallow start, so that no segment is slack.
    builder.nodes((0..=n).map(|i| {
        let s = f64::from(i) / f64::from(n);
        [10.0 * s, 0.0, -1.2 * s * (1.0 - s)]
    }));
    for i in 0..n as usize {
        builder.element(element, &[i, i + 1]);
        builder.fix(i, Y);
        builder.force(i, Z, -20.0);
    }
    builder.fix(n as usize, Y);
    for end in [0, n as usize] {
        builder.fix(end, Z).fix(end, sim_fem::load::Direction::X);
    }
    builder.build().unwrap()
}

#[test]
fn relaxation_agrees_with_newton() {
    for factor in [0.98, 0.99, 1.0] {
        let structure = cable(factor);
        let stage = Stage::new(&structure);
        let options = NonlinearStaticOptions { relative_tolerance: 1e-13, ..Default::default() };
        let newton = nonlinear_static(&structure, &stage, &options).unwrap();
        let relaxed = dynamic_relaxation(&structure, &stage, &RelaxationOptions::default()).unwrap();
        assert!(relaxed.peaks > 1);
        for (a, b) in newton.end.displacement.iter().zip(&relaxed.equilibrium.displacement) {
            assert!((a - b).abs() < 1e-10, "factor {factor}: {a} {b}");
        }
        let weight: f64 = relaxed.equilibrium.reaction.iter().skip(2).step_by(3).sum();
        assert!((weight - 20.0 * 20.0).abs() < 1e-8, "{weight}");
    }
    let structure = cable(1.0);
    let options = RelaxationOptions { max_steps: 50, ..Default::default() };
    let error = dynamic_relaxation(&structure, &Stage::new(&structure), &options).unwrap_err();
    assert!(matches!(error, RelaxationError::NotSettled { steps: 50, .. }), "{error}");
}
