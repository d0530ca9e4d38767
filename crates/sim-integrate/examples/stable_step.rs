//! How large may the step be, and which spring says so? `cargo run -p sim-integrate --example stable_step`

use sim_core::force::springs::{Spring, Springs};
use sim_core::{ParticleSystemBuilder, State, Stepper};
use sim_integrate::{SymplecticEuler, stable_dt, stepper_info};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Ten masses of 0.1 kg on a line; spring 6 is a thousand times stiffer than the others.
    let springs = (0..9_u32).map(|i| Spring {
        ends: [i, i + 1],
        rest_length: 0.1,
        stiffness: if i == 6 { 1e5 } else { 1e2 },
        damping: 0.05,
    });
    let system = ParticleSystemBuilder::new(vec![0.1; 10]).pin([0]).force(Springs::new(springs)).build()?;
    let mut q: Vec<f64> = (0..10).flat_map(|i| [0.1 * f64::from(i), 0.0, 0.0]).collect();
    q[27] += 1e-3;
    let state = State::at_rest(q);
    let report = stable_dt(&system, &state, stepper_info("symplectic_euler")?)?;
    println!(
        "guaranteed {:.6e} s, exact {:.6e} s, set by {:?}",
        report.dt_bound,
        report.dt_exact.unwrap_or(f64::NAN),
        report.culprit
    );

    let largest_speed = |dt: f64| {
        let mut state = state.clone();
        let mut stepper = SymplecticEuler::default();
        for _ in 0..2000 {
            // A state that leaves the numbers is an error, and as good an answer here.
            if stepper.step(&system, &mut state, dt).is_err() {
                return f64::INFINITY;
            }
        }
        state.v.iter().fold(0.0, |max: f64, v| max.max(v.abs()))
    };
    let exact = report.dt_exact.ok_or("small systems have an exact limit")?;
    println!(
        "largest speed at the bound {:.3} m/s, at 1.05 times the exact limit {:.3e} m/s",
        largest_speed(report.dt_bound),
        largest_speed(1.05 * exact)
    );
    assert_eq!(report.culprit, Some(("spring", 6)));
    assert!(report.dt_bound <= exact);
    assert!(largest_speed(report.dt_bound) < 1.0);
    assert!(largest_speed(1.05 * exact) > 1e3);
    Ok(())
}
