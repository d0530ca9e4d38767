//! Reference area B: springs, chains, ropes and cloth in equilibrium, in their modes and in motion.

use super::catalogue::{Job, Outcome, Scope};
use super::steppers::make;
use nalgebra::{DMatrix, DVector};
use sim_core::force::gravity::Gravity;
use sim_core::force::springs::{Spring, Springs};
use sim_core::{Definiteness, ModelSystem, ParticleError, ParticleSystemBuilder, State};
use sim_integrate::{stable_dt, stepper_info};
use sim_verify::reference::{Case, ReferenceError, case};
use sim_verify::studies::derivatives::force_of;
use sim_verify::studies::run;
use sim_verify::{Claim, DenseMatrices};

pub(super) mod materials;
pub(super) mod motions;
mod swings;

/// A value or model that a case does not give.
#[derive(Debug, thiserror::Error)]
pub(super) enum CaseError {
    #[error(transparent)]
    Reference(#[from] ReferenceError),
    #[error(transparent)]
    Model(#[from] ParticleError),
    #[error("{0}")]
    Solve(String),
}

type Verdict = Result<Vec<Claim>, CaseError>;
type Model = Box<dyn ModelSystem>;

fn job(id: &'static str, claims: fn(&Case) -> Verdict) -> Job {
    Job::new(format!("reference/{id}"), move |_| {
        let found = case(id).map_err(CaseError::from).and_then(claims);
        let failed =
            |error| vec![Claim::no_complaint(format!("reference/{id}"), "", vec![], "").because(error)];
        let claims = found.unwrap_or_else(failed);
        Outcome::from(claims.into_iter().map(|claim| claim.case(id)).collect::<Vec<_>>())
    })
}

pub(super) fn jobs(_: Scope) -> Vec<Job> {
    vec![
        job("B-chain-frequencies-fixed-fixed", |case| chain(case, [true, true])),
        job("B-chain-frequencies-fixed-free", |case| chain(case, [true, false])),
        job("B-chain-frequencies-free-free", |case| chain(case, [false, false])),
        job("B-cloth-grid-omega-max", cloth_grid),
        job("B-hanging-elastic-rope", hanging_rope),
        job("B-hanging-chain-discrete-10", hanging_chain),
        job("B-hanging-chain-modes", hanging_modes),
        job("B-string-modes", string_modes),
        job("B-transverse-two-spring-oscillator", two_springs),
        job("B-spinning-ring", ring),
        job("B-chain-swing-3", swings::chain_swing),
        job("B-cloth-3x3-dynamic", swings::cloth_motion),
    ]
}

fn at_most(case: &Case, part: &str, what: &str, limit: f64, measured: f64) -> Claim {
    Claim::at_most(format!("reference/{}/{part}", case.id), what, limit, measured, case.source.as_str())
}

/// Largest of some distances; NaN counts as infinite.
fn worst(distances: impl IntoIterator<Item = f64>) -> f64 {
    distances.into_iter().fold(0.0, |a, b| if b.is_nan() { f64::INFINITY } else { a.max(b) })
}

fn relative(found: &[f64], expected: &[f64], floor: f64) -> f64 {
    if found.len() < expected.len() {
        return f64::NAN;
    }
    worst(found.iter().zip(expected).map(|(a, b)| (a - b).abs() / b.abs().max(floor)))
}

/// Angular frequencies, ascending, of the free particles along one axis.
fn frequencies(system: &dyn ModelSystem, state: &State, axes: &[usize]) -> Vec<f64> {
    let k = DenseMatrices::at(system, state, Definiteness::Exact).stiffness;
    let w = system.inverse_mass();
    let free: Vec<usize> = (0..state.q.len()).filter(|i| w[i / 3] > 0.0 && axes.contains(&(i % 3))).collect();
    let scaled = DMatrix::from_fn(free.len(), free.len(), |r, c| {
        k[(free[r], free[c])] * (w[free[r] / 3] * w[free[c] / 3]).sqrt()
    });
    let mut squares: Vec<f64> = scaled.symmetric_eigenvalues().iter().copied().collect();
    squares.sort_by(f64::total_cmp);
    squares.into_iter().map(|square| square.max(0.0).sqrt()).collect()
}

/// Newton's method for forces in balance.
pub(super) fn equilibrium(system: &dyn ModelSystem, start: &State) -> Result<State, CaseError> {
    let mut state = start.clone();
    let free: Vec<usize> = (0..state.q.len()).filter(|i| system.inverse_mass()[i / 3] > 0.0).collect();
    let extent = start.q.iter().fold(0.0_f64, |a, q| a.max(q.abs()));
    let mut last = f64::INFINITY;
    for _ in 0..500 {
        let f = force_of(system, &state);
        let r = DVector::from_iterator(free.len(), free.iter().map(|&i| f[i]));
        if r.amax() == 0.0 || (r.amax() >= last && r.amax() < 1e-9) {
            return Ok(state);
        }
        last = r.amax();
        let k = DenseMatrices::at(system, &state, Definiteness::Projected).stiffness;
        // A spring at its rest length resists no sideways motion: a trace of stiffness keeps the first steps defined. The forces alone
        // decide where it ends.
        let trace = 1e-9 * k.amax();
        let k = DMatrix::from_fn(free.len(), free.len(), |r, c| {
            k[(free[r], free[c])] + if r == c { trace } else { 0.0 }
        });
        let step =
            k.lu().solve(&r).ok_or_else(|| CaseError::Solve("the stiffness matrix is singular".into()))?;
        // Far from equilibrium a step is cut to a fiftieth of the extent.
        let cut = if last > 1e-3 { (0.02 * extent / step.amax()).min(1.0) } else { 1.0 };
        free.iter().zip(step.iter()).for_each(|(&i, step)| state.q[i] += cut * step);
    }
    Err(CaseError::Solve(format!("no equilibrium: force {last} N is left")))
}

pub(super) fn spring(a: usize, b: usize, rest_length: f64, stiffness: f64, damping: f64) -> Spring {
    Spring { ends: [a as u32, b as u32], rest_length, stiffness, damping }
}

pub(super) fn line(points: impl IntoIterator<Item = f64>, axis: usize) -> State {
    let mut q = Vec::new();
    for x in points {
        let mut at = [0.0; 3];
        at[axis] = x;
        q.extend(at);
    }
    State::at_rest(q)
}

/// Frequencies, and the limit of leapfrog by the certificate.
fn chain(case: &Case, walls: [bool; 2]) -> Verdict {
    let (n, k, m) = (case.number("inputs/N")? as usize, case.number("inputs/k")?, case.number("inputs/m")?);
    let (first, last) = (usize::from(walls[0]), usize::from(walls[1]));
    let count = n + first + last;
    let mut pins = Vec::new();
    if walls[0] {
        pins.push(0);
    }
    if walls[1] {
        pins.push(count - 1);
    }
    let springs = (1..count).map(|i| spring(i - 1, i, 1.0, k, 0.0));
    let system = ParticleSystemBuilder::new(vec![m; count]).pin(pins).force(Springs::new(springs)).build()?;
    let state = line((0..count).map(|i| i as f64), 0);
    let expected = case.numbers("expected/omega_ascending")?;
    let distance = relative(&frequencies(&system, &state, &[0]), &expected, 1.0);
    let info = stepper_info("leapfrog").map_err(|error| CaseError::Solve(error.to_string()))?;
    let report = stable_dt(&system, &state, info).map_err(|error| CaseError::Solve(error.to_string()))?;
    let limit = case.number("expected/h_crit")?;
    // The free chain has a rigid motion: rounding leaves its frequency at the square root of epsilon.
    let slack = if walls == [false, false] { 1e-4 } else { 1e-10 };
    Ok(vec![
        at_most(
            case,
            "frequencies",
            "frequencies from K and M, relative distance (at least 1 rad/s)",
            slack,
            distance,
        ),
        at_most(
            case,
            "step",
            "exact stable step of the certificate, relative distance",
            1e-10,
            (report.dt_exact.unwrap_or(f64::NAN) / limit - 1.0).abs(),
        ),
        at_most(case, "bound", "guaranteed step over the exact one", 1.0, report.dt_bound / limit),
    ])
}

fn cloth_grid(case: &Case) -> Verdict {
    let input = |name: &str| case.number(&format!("inputs/{name}"));
    let (ks, kd, kb, m) = (input("ks")?, input("kd")?, input("kb")?, input("m")?);
    let (nx, ny) = (case.number("inputs/nodes/0")? as usize, case.number("inputs/nodes/1")? as usize);
    let at = |i: usize, j: usize| i * ny + j;
    let springs = |which: &[(usize, isize, f64)]| -> Vec<Spring> {
        let mut list = Vec::new();
        for i in 0..nx {
            for j in 0..ny {
                for &(di, dj, k) in which {
                    let Some(j2) = j.checked_add_signed(dj).filter(|&j2| j2 < ny && i + di < nx) else {
                        continue;
                    };
                    let length = (di as f64).hypot(dj as f64);
                    list.push(spring(at(i, j), at(i + di, j2), length, k, 0.0));
                }
            }
        }
        list
    };
    let state = State::at_rest((0..nx * ny).flat_map(|k| [(k / ny) as f64, (k % ny) as f64, 0.0]).collect());
    let structural = [(1, 0, ks), (0, 1, ks)];
    let all = [&structural[..], &[(1, 1, kd), (1, -1, kd), (2, 0, kb), (0, 2, kb)]].concat();
    let build = |list: Vec<Spring>, pins: &[usize]| -> Result<Model, ParticleError> {
        Ok(Box::new(
            ParticleSystemBuilder::new(vec![m; nx * ny])
                .pin(pins.iter().copied())
                .force(Springs::new(list))
                .build()?,
        ))
    };
    let pinned = build(springs(&all), &[at(0, 0), at(0, ny - 1)])?;
    let free = build(springs(&structural), &[])?;
    let found = frequencies(&*pinned, &state, &[0, 1]);
    let structural_only = frequencies(&*free, &state, &[0, 1]);
    let top = |list: &[f64]| list.last().copied().unwrap_or(f64::NAN);
    let distance = worst([
        (top(&found) / case.number("expected/omega_max_8x6_pinned")? - 1.0).abs(),
        (top(&structural_only) / case.number("expected/omega_max_8x6_structural_only_free")? - 1.0).abs(),
    ]);
    let lowest = (found.first().copied().unwrap_or(f64::NAN)
        / case.number("expected/lowest_in_plane_8x6_pinned")?
        - 1.0)
        .abs();
    Ok(vec![
        at_most(
            case,
            "highest",
            "highest frequency in the plane, pinned and structural only, relative distance",
            1e-9,
            distance,
        ),
        at_most(case, "lowest", "lowest frequency in the plane, relative distance", 1e-9, lowest),
    ])
}

fn hanging_rope(case: &Case) -> Verdict {
    let input = |name: &str| case.number(&format!("inputs/{name}"));
    let (length, ea, mu, end, g, n) =
        (input("L")?, input("EA")?, input("mu")?, input("M_end")?, input("g")?, input("N")? as usize);
    let a = length / n as f64;
    let tip = |half: bool| -> Result<(f64, f64), CaseError> {
        let mut mass = vec![mu * a; n + 1];
        if half {
            mass[n] *= 0.5;
        }
        mass[n] += end;
        let list: Vec<Spring> = (1..=n).map(|i| spring(i - 1, i, a, ea / a, 0.0)).collect();
        let system = ParticleSystemBuilder::new(mass)
            .pin([0])
            .force(Springs::new(list.clone()))
            .force(Gravity::new([0.0, 0.0, -g]))
            .build()?;
        let state = equilibrium(&system, &line((0..=n).map(|i| -(i as f64) * a), 2))?;
        Ok((-state.q[3 * n + 2] - length, Springs::new(list).tension(0, &state.q)))
    };
    let (half, tension) = tip(true)?;
    let (lower, _) = tip(false)?;
    let expected = |name: &str| case.number(&format!("expected/{name}"));
    // The half segment at the support hangs on the support, not on the first spring.
    let top = expected("top_tension")? - 0.5 * mu * a * g;
    Ok(vec![
        at_most(
            case,
            "half",
            "tip displacement with half masses at the ends, relative distance",
            1e-11,
            (half / expected("discrete_half_lumped")? - 1.0).abs(),
        ),
        at_most(
            case,
            "lower",
            "tip displacement with masses at lower nodes, relative distance",
            1e-11,
            (lower / expected("discrete_lower_node_lumped")? - 1.0).abs(),
        ),
        at_most(
            case,
            "tension",
            "tension of the first spring, relative distance",
            1e-11,
            (tension / top - 1.0).abs(),
        ),
    ])
}

fn hanging_chain(case: &Case) -> Verdict {
    let input = |name: &str| case.number(&format!("inputs/{name}"));
    let (span, length, weight, ea, n) =
        (input("H")?, input("L0")?, input("w")?, input("EA")?, input("N")? as usize);
    let a = length / n as f64;
    let list: Vec<Spring> = (1..=n).map(|i| spring(i - 1, i, a, ea / a, 0.0)).collect();
    let system = ParticleSystemBuilder::new(vec![weight * a; n + 1])
        .pin([0, n])
        .force(Springs::new(list.clone()))
        .force(Gravity::new([0.0, -1.0, 0.0]))
        .build()?;
    // A parabola of about the right sag, to start from.
    let start = (0..=n).flat_map(|i| {
        let x = i as f64 / n as f64;
        [span * x, -72.0 * x * (1.0 - x), 0.0]
    });
    let state = equilibrium(&system, &State::at_rest(start.collect()))?;
    let expected = case.rows("expected/node_positions")?;
    let distance = worst(
        expected
            .iter()
            .enumerate()
            .flat_map(|(i, at)| [(state.q[3 * i] - at[0]).abs(), (state.q[3 * i + 1] - at[1]).abs()]),
    );
    let springs = Springs::new(list);
    let horizontal = springs.tension(0, &state.q) * (state.q[3] - state.q[0]) / springs.length(0, &state.q);
    Ok(vec![
        at_most(case, "nodes", "positions of the nodes, distance in m", 1e-8, distance),
        at_most(
            case,
            "thrust",
            "horizontal force, relative distance",
            1e-9,
            (horizontal / case.number("expected/T_horizontal")? - 1.0).abs(),
        ),
    ])
}

/// Stiff links under exactly the tension they carry: transverse stiffness is tension over length, whatever the link.
fn taut(tensions: &[f64], a: f64, mass: Vec<f64>, pins: &[usize]) -> Result<(Model, State), ParticleError> {
    let k = 1e6 * tensions.iter().copied().fold(0.0, f64::max) / a;
    let springs = tensions.iter().enumerate().map(|(i, t)| spring(i, i + 1, a - t / k, k, 0.0));
    let count = mass.len();
    let system =
        ParticleSystemBuilder::new(mass).pin(pins.iter().copied()).force(Springs::new(springs)).build()?;
    Ok((Box::new(system), line((0..count).map(|i| -(i as f64) * a), 2)))
}

fn hanging_modes(case: &Case) -> Verdict {
    let (length, g) = (case.number("inputs/L")?, case.number("inputs/g")?);
    let mut distance = 0.0_f64;
    for n in [5_usize, 10, 20, 50] {
        let a = length / n as f64;
        let tensions: Vec<f64> = (0..n).map(|i| (n - i) as f64 * g).collect();
        let (system, state) = taut(&tensions, a, vec![1.0; n + 1], &[0])?;
        let expected = case.numbers(&format!("expected/omega_discrete_N{n}"))?;
        distance = worst([distance, relative(&frequencies(&*system, &state, &[0]), &expected, 1.0)]);
    }
    Ok(vec![at_most(
        case,
        "discrete",
        "five lowest swing frequencies of 5 to 50 links, relative distance",
        1e-8,
        distance,
    )])
}

fn string_modes(case: &Case) -> Verdict {
    let input = |name: &str| case.number(&format!("inputs/{name}"));
    let (tension, mu, length, n) = (input("T")?, input("mu")?, input("L")?, input("N")? as usize);
    let a = length / (n + 1) as f64;
    let (system, state) = taut(&vec![tension; n + 1], a, vec![mu * a; n + 2], &[0, n + 1])?;
    let expected = case.numbers("expected/omega_beaded")?;
    let distance = relative(&frequencies(&*system, &state, &[1]), &expected, 1.0);
    Ok(vec![at_most(
        case,
        "beaded",
        "five lowest frequencies of the beaded string, relative distance",
        1e-9,
        distance,
    )])
}

fn two_springs(case: &Case) -> Verdict {
    let input = |name: &str| case.number(&format!("inputs/{name}"));
    let (k, rest, m, amplitude) = (input("k")?, input("l0")?, input("m")?, input("A")?);
    let system = ParticleSystemBuilder::new(vec![1.0, m, 1.0])
        .pin([0, 2])
        .force(Springs::new([spring(0, 1, rest, k, 0.0), spring(1, 2, rest, k, 0.0)]))
        .build()?;
    let state = State::at_rest(vec![-rest, 0.0, 0.0, 0.0, amplitude, 0.0, rest, 0.0, 0.0]);
    let force = force_of(&system, &state)[4];
    let period = case.number("expected/period")?;
    let system: Model = Box::new(system);
    let after = |t: f64| {
        run(&*system, &mut *make("runge_kutta4"), &state, t, 8000)
            .map_err(|error| CaseError::Solve(error.to_string()))
    };
    // After a whole period it is back at rest; after a quarter it passes the middle at its largest speed.
    let (whole, quarter) = (after(period)?, after(0.25 * period)?);
    let back = worst([(whole.q[4] - amplitude).abs() / amplitude, whole.v[4].abs()]);
    let speed = (quarter.v[4].abs() / case.number("expected/v_max")? - 1.0).abs();
    Ok(vec![
        at_most(
            case,
            "force",
            "force at the amplitude, relative distance",
            1e-12,
            (force / case.number("expected/force_at_A")? - 1.0).abs(),
        ),
        at_most(case, "period", "distance from the start after the published period", 1e-9, back),
        at_most(case, "speed", "speed after a quarter of it, relative distance", 1e-9, speed),
    ])
}

fn ring(case: &Case) -> Verdict {
    let input = |name: &str| case.number(&format!("inputs/{name}"));
    let (n, k, m, r0, spin) = (input("N")? as usize, input("k")?, input("m")?, input("R0")?, input("Omega")?);
    let radius = case.number("expected/R")?;
    let turn = |i: usize| std::f64::consts::TAU * i as f64 / n as f64;
    let chord = 2.0 * r0 * (std::f64::consts::PI / n as f64).sin();
    let list: Vec<Spring> = (0..n).map(|i| spring(i, (i + 1) % n, chord, k, 0.0)).collect();
    let springs = Springs::new(list);
    let system: Model = Box::new(ParticleSystemBuilder::new(vec![m; n]).force(springs.clone()).build()?);
    let mut state =
        State::at_rest((0..n).flat_map(|i| [radius * turn(i).cos(), radius * turn(i).sin(), 0.0]).collect());
    state.v =
        (0..n).flat_map(|i| [-spin * radius * turn(i).sin(), spin * radius * turn(i).cos(), 0.0]).collect();
    let tension = (springs.tension(0, &state.q) / case.number("expected/spring_tension")? - 1.0).abs();
    let end = run(&*system, &mut *make("runge_kutta4"), &state, 1.0, 4000)
        .map_err(|error| CaseError::Solve(error.to_string()))?;
    let distance = worst(end.q.chunks_exact(3).map(|x| (x[0].hypot(x[1]) / radius - 1.0).abs()));
    let still = State::at_rest((0..n).flat_map(|i| [r0 * turn(i).cos(), r0 * turn(i).sin(), 0.0]).collect());
    let breathing = case.number("expected/breathing_omega")?;
    let nearest = frequencies(&*system, &still, &[0, 1])
        .into_iter()
        .map(|w| (w / breathing - 1.0).abs())
        .fold(f64::INFINITY, f64::min);
    Ok(vec![
        at_most(case, "tension", "tension of the springs, relative distance", 1e-11, tension),
        at_most(
            case,
            "radius",
            "radius after 1 s of spinning (two turns), relative distance",
            1e-10,
            distance,
        ),
        at_most(case, "breathing", "breathing frequency at rest, relative distance", 1e-10, nearest),
    ])
}
