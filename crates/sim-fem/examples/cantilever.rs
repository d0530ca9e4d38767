//! A cantilever of beams: tip deflection, support moment and lowest frequency against beam theory.

use sim_fem::StructureBuilder;
use sim_fem::analysis::linear_static::linear_static;
use sim_fem::analysis::modal::{ModalOptions, modal};
use sim_fem::beam::Orientation;
use sim_fem::elements::euler_bernoulli_beam::EulerBernoulliBeam;
use sim_fem::factor::FactorKind;
use sim_fem::load::Direction::{Ry, Z};
use sim_fem::material::{Material, Section};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (length, side, force, n) = (2.0, 0.05, -500.0, 20);
    let material = Material::new(210e9).with_poissons_ratio(0.3).with_density(7850.0);
    let section = Section::Rectangle { width: side, height: side };
    let mut builder = StructureBuilder::new();
    builder.nodes((0..=n).map(|i| [length * i as f64 / n as f64, 0.0, 0.0]));
    for i in 0..n {
        let beam = EulerBernoulliBeam::new(&material, &section, Orientation::Upright)?;
        builder.element(beam, &[i, i + 1]);
    }
    builder.clamp(0).force(n, Z, force);
    let structure = builder.build()?;
    let report = linear_static(&structure, 0.0, FactorKind::Auto)?;
    let inertia = side.powi(4) / 12.0;
    let stiffness = 210e9 * inertia;
    let tip = structure.value(&report.displacement, n, Z);
    let moment = structure.value(&report.reaction, 0, Ry);
    println!("tip {tip:.6e} m, support moment {moment:.4} N·m");
    assert!((tip - force * length.powi(3) / (3.0 * stiffness)).abs() < 1e-9);
    assert!((moment.abs() - force.abs() * length).abs() < 1e-6);
    // Lowest frequency of a clamped beam: (1.875104 / L)² √(EI/m).
    let modes = modal(&structure, None, &ModalOptions { modes: 1, ..ModalOptions::default() })?;
    let mass = 7850.0 * side * side;
    let expected = (1.875_104_068_711_961 / length).powi(2) * (stiffness / mass).sqrt();
    let found = modes.modes[0].angular_frequency();
    println!("lowest angular frequency {found:.4} rad/s, theory {expected:.4}");
    assert!((found / expected - 1.0).abs() < 1e-4);
    Ok(())
}
