//! A rope with an end a hundred thousand times as heavy as one of its particles, at 60 Hz in one substep: by sweeps it stretches like
//! rubber, solved as a chain it does not.

use sim_core::force::gravity::Gravity;
use sim_core::{ParticleSystemBuilder, Stepper};
use sim_pbd::constraints::distance::Distance;
use sim_pbd::{Bound, PbdSystem, Xpbd, XpbdOptions};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (n, length) = (40, 2.0);
    let segment = length / n as f64;
    let mut stretched = Vec::new();
    for direct in [false, true] {
        let mut mass = vec![1e-4; n + 1];
        mass[n] = 10.0;
        let particles =
            ParticleSystemBuilder::new(mass).pin([0]).force(Gravity::new([0.0, -9.81, 0.0])).build()?;
        let links = (0..n as u32).map(|i| Bound::rigid([i, i + 1], Distance { rest_length: segment }));
        let builder = PbdSystem::builder(particles);
        let system = if direct { builder.chain(links) } else { builder.distances(links) }.build()?;
        let mut state = system.state_at_rest((0..=n).flat_map(|i| [segment * i as f64, 0.0, 0.0]).collect());
        let mut xpbd = Xpbd::new(&system, XpbdOptions { substeps: 1, ..XpbdOptions::default() })?;
        let mut longest = 0.0_f64;
        for _ in 0..180 {
            xpbd.step(&system, &mut state, 1.0 / 60.0)?;
            let links = state
                .q
                .windows(6)
                .step_by(3)
                .map(|x| (0..3).map(|c| (x[3 + c] - x[c]).powi(2)).sum::<f64>().sqrt());
            longest = longest.max(links.sum::<f64>() / length - 1.0);
        }
        let way = if direct { "as a chain" } else { "by sweeps" };
        println!("{way}: at most {:.3e} % longer, converged: {}", 100.0 * longest, xpbd.report().converged);
        stretched.push(longest);
    }
    assert!(stretched[0] > 0.5, "sweeps are expected to fail here");
    assert!(stretched[1] < 1e-6);
    Ok(())
}
