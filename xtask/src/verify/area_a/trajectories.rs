//! Exact problems against the published states, and trajectories that have no closed form.

use super::{Verdict, at_most, make, worst};
use sim_core::force::gravity::Gravity;
use sim_core::force::springs::{Spring, Springs};
use sim_core::{ModelSystem, ParticleSystemBuilder, State};
use sim_verify::ExactProblem;
use sim_verify::problems::{duffing::Duffing, henon_heiles::HenonHeiles, kepler::Kepler, pendulum::Pendulum};
use sim_verify::reference::Case;
use sim_verify::studies::run;

/// Largest distance of an exact problem from states at given times: components of q and v by index.
fn against(problem: &dyn ExactProblem, times: &[f64], q: &[Vec<f64>], v: &[Vec<f64>]) -> f64 {
    worst(times.iter().zip(q.iter().zip(v)).flat_map(|(&t, (q, v))| {
        let state = problem.exact(t);
        let distances = q.iter().zip(&state.q).chain(v.iter().zip(&state.v)).map(|(a, b)| (a - b).abs());
        distances.collect::<Vec<_>>()
    }))
}

fn column(values: Vec<f64>) -> Vec<Vec<f64>> {
    values.into_iter().map(|x| vec![x]).collect()
}

pub(super) fn pendulum(case: &Case) -> Verdict {
    let input = |name: &str| case.number(&format!("inputs/{name}"));
    let pendulum = Pendulum { gravity: input("g")?, length: input("L")?, amplitude: input("theta0")? };
    let (theta, rate) = (case.numbers("expected/theta")?, case.numbers("expected/theta_dot")?);
    let distance = against(&pendulum, &case.numbers("inputs/t")?, &column(theta), &column(rate));
    let period = (pendulum.period() / case.number("expected/period")? - 1.0).abs();
    Ok(vec![
        at_most(case, "state", "exact pendulum at four times, distance", 1e-12, distance),
        at_most(case, "period", "period of the pendulum, relative distance", 1e-13, period),
    ])
}

pub(super) fn duffing(case: &Case) -> Verdict {
    let input = |name: &str| case.number(&format!("inputs/{name}"));
    let duffing = Duffing { alpha: input("alpha")?, beta: input("beta")?, amplitude: input("A")? };
    let (x, v) = (case.numbers("expected/x")?, case.numbers("expected/v")?);
    let distance = against(&duffing, &case.numbers("inputs/t")?, &column(x), &column(v));
    Ok(vec![at_most(case, "", "exact Duffing oscillator at three times, distance", 1e-12, distance)])
}

pub(super) fn kepler(case: &Case) -> Verdict {
    let kepler = Kepler { eccentricity: case.number("inputs/e")? };
    let rows = case.rows("expected/state(qx,qy,px,py)")?;
    let part = |from: usize| rows.iter().map(|row| row[from..from + 2].to_vec()).collect::<Vec<_>>();
    let distance = against(&kepler, &case.numbers("inputs/t")?, &part(0), &part(2));
    Ok(vec![at_most(case, "", "exact orbit at three times, distance", 1e-12, distance)])
}

/// Runs the fourth-order method from `state` to each time and compares four components.
fn trajectory(
    system: &(dyn ModelSystem + 'static),
    state: &State,
    per_second: f64,
    times: &[f64],
    expected: &[Vec<f64>],
    read: impl Fn(&State) -> [f64; 4],
) -> f64 {
    let mut at = state.clone();
    let mut stepper = make("runge_kutta4");
    let mut distance = 0.0_f64;
    for (&t, expected) in times.iter().zip(expected) {
        let steps = ((t - at.t) * per_second).ceil().max(1.0) as u64;
        match run(system, &mut *stepper, &at, t, steps) {
            Ok(end) => at = end,
            Err(_) => return f64::NAN,
        }
        distance = worst([distance, worst(read(&at).iter().zip(expected).map(|(a, b)| (a - b).abs()))]);
    }
    distance
}

pub(super) fn henon_heiles(case: &Case) -> Verdict {
    let (q, p) = (case.numbers("inputs/q0")?, case.numbers("inputs/p0")?);
    let problem = HenonHeiles { position: [q[0], q[1]], velocity: [p[0], p[1]] };
    let (times, states) = (case.numbers("inputs/t")?, case.rows("expected/state")?);
    let part = |from: usize| states.iter().map(|row| row[from..from + 2].to_vec()).collect::<Vec<_>>();
    let series = against(&problem, &times, &part(0), &part(2));
    let (system, state) = problem.build();
    let stepped = trajectory(&*system, &state, 400.0, &times, &states, |s| [s.q[0], s.q[1], s.v[0], s.v[1]]);
    Ok(vec![
        at_most(case, "series", "Taylor series, distance at three times", 1e-11, series),
        at_most(
            case,
            "stepped",
            "runge_kutta4 with 400 steps per unit of time, distance at three times",
            1e-10,
            stepped,
        ),
    ])
}

pub(super) fn elastic_pendulum(case: &Case) -> Verdict {
    let input = |name: &str| case.number(&format!("inputs/{name}"));
    let spring = Spring { ends: [0, 1], rest_length: input("l0")?, stiffness: input("k")?, damping: 0.0 };
    let system = ParticleSystemBuilder::new(vec![1.0, input("m")?])
        .pin([0])
        .force(Springs::new([spring]))
        .force(Gravity::new([0.0, 0.0, -input("g")?]))
        .build();
    let Ok(system) = system else {
        return Ok(vec![at_most(case, "", "a model of these values", 0.0, f64::NAN)]);
    };
    let start = case.numbers("inputs/state0")?;
    let state = State {
        v: vec![0.0, 0.0, 0.0, start[2], 0.0, start[3]],
        ..State::at_rest(vec![0.0, 0.0, 0.0, start[0], 0.0, start[1]])
    };
    let distance =
        trajectory(&system, &state, 4000.0, &case.numbers("inputs/t")?, &case.rows("expected/state")?, |s| {
            [s.q[3], s.q[5], s.v[3], s.v[5]]
        });
    Ok(vec![at_most(
        case,
        "",
        "runge_kutta4 with 4000 steps per second, distance at three times",
        1e-9,
        distance,
    )])
}
