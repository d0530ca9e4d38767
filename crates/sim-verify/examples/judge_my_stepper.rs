//! Is my method what I think it is? `cargo run -p sim-verify --example judge_my_stepper`

use sim_core::{MethodInfo, ModelSystem, Stability, StageRecord, State, StepError, StepStats, Stepper};
use sim_verify::{OrderOptions, order_study, problem};

static HEUN: MethodInfo = MethodInfo {
    id: "heun",
    summary: "explicit trapezoidal rule",
    implicit: false,
    symplectic: false,
    order: 2,
    order_velocity_dependent: 2,
    stability: Stability::Unstable,
    reference: "K. Heun, Z. Math. Phys. 45 (1900) 23",
    limitations: "Undamped motion grows for every step size.",
};

/// A method written in a hurry: `wrong` forgets to average the velocities.
struct Heun {
    wrong: bool,
}

impl Stepper<dyn ModelSystem> for Heun {
    fn method(&self) -> &'static MethodInfo {
        &HEUN
    }

    fn step_recorded(
        &mut self,
        system: &dyn ModelSystem,
        state: &mut State,
        dt: f64,
        _record: Option<&mut StageRecord>,
    ) -> Result<StepStats, StepError> {
        let acceleration = |t: f64, q: &[f64], v: &[f64]| {
            let mut f = vec![0.0; q.len()];
            system.force(t, q, v, &mut f);
            f.iter().enumerate().map(|(i, f)| f * system.inverse_mass()[i / 3]).collect::<Vec<_>>()
        };
        let add = |x: &[f64], y: &[f64], c: f64| x.iter().zip(y).map(|(x, y)| x + c * y).collect::<Vec<_>>();
        let a0 = acceleration(state.t, &state.q, &state.v);
        let (q1, v1) = (add(&state.q, &state.v, dt), add(&state.v, &a0, dt));
        let a1 = acceleration(state.t + dt, &q1, &v1);
        state.q = if self.wrong { q1 } else { add(&add(&state.q, &state.v, 0.5 * dt), &v1, 0.5 * dt) };
        state.v = add(&add(&state.v, &a0, 0.5 * dt), &a1, 0.5 * dt);
        state.t += dt;
        Ok(StepStats::explicit(2))
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let pendulum = problem("pendulum").ok_or("the pendulum is a registered problem")?;
    for wrong in [false, true] {
        let report = order_study(pendulum, &mut Heun { wrong }, OrderOptions::for_problem(pendulum))?;
        let order = report.observed().ok_or("errors above rounding")?;
        println!("{}: {report}", if wrong { "in a hurry" } else { "with care" });
        assert!((order - if wrong { 1.0 } else { 2.0 }).abs() < 0.05, "measured order {order}");
    }
    Ok(())
}
