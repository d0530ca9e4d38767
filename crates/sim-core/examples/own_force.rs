//! A force of your own: a charge in a magnetic field. `cargo run -p sim-core --example own_force`

use sim_core::force::{Force, ForceError, Kinematics};
use sim_core::{Dependence, ParticleSystemBuilder, System, Work, WorkTerm};

/// `f = charge * v × B` with B along z: it turns the velocity and does no work.
#[derive(Debug)]
struct Magnetic {
    charge_times_field: f64,
}

impl Force for Magnetic {
    fn id(&self) -> &'static str {
        "magnetic"
    }

    fn dependence(&self) -> Dependence {
        Dependence::VELOCITY
    }

    fn add_force(&self, at: Kinematics<'_>, f: &mut [f64]) {
        for (f, v) in f.chunks_exact_mut(3).zip(at.v.chunks_exact(3)) {
            f[0] += self.charge_times_field * v[1];
            f[1] -= self.charge_times_field * v[0];
        }
    }

    fn add_power(&self, at: Kinematics<'_>, velocity: &[f64], power: &mut Work) {
        let mut f = vec![0.0; velocity.len()];
        self.add_force(at, &mut f);
        power.add_term(WorkTerm::External, f.iter().zip(velocity).map(|(f, u)| f * u).sum());
    }

    fn validate(&self, _particle_count: usize) -> Result<(), ForceError> {
        Ok(())
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let system = ParticleSystemBuilder::new(vec![2.0]).force(Magnetic { charge_times_field: 3.0 }).build()?;
    let (q, v) = ([0.0; 3], [1.0, 2.0, 5.0]);
    let mut f = [0.0; 3];
    system.force(0.0, &q, &v, &mut f);
    let power = system.power(0.0, &q, &v, &v).external;
    println!("force {f:?} N, power {power} W");
    assert_eq!(f, [6.0, -3.0, 0.0]);
    assert_eq!(power, 0.0);
    Ok(())
}
