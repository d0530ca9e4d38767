//! What a position-based solver of links must show: published projections, static stretch, implicit Euler, momentum.

use crate::claim::Claim;
use crate::reference::{Case, ReferenceError, case};

/// A spring, a rigid link (compliance 0) or a spring with a dashpot between two particles.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Link {
    /// The particles.
    pub ends: [usize; 2],
    /// Unloaded length in m.
    pub rest_length: f64,
    /// Inverse stiffness in m/N.
    pub compliance: f64,
    /// Dashpot along the link in N·s/m; acts together with a compliance.
    pub damping: f64,
}

/// Particles on links, and how to advance them: one substep per step, all links visited in order in every iteration.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkedParticles {
    /// kg.
    pub mass: Vec<f64>,
    /// Particles that do not move.
    pub pinned: Vec<usize>,
    /// m/s².
    pub gravity: [f64; 3],
    /// Links.
    pub links: Vec<Link>,
    /// Flat, m.
    pub q: Vec<f64>,
    /// Flat, m/s.
    pub v: Vec<f64>,
    /// Step in s.
    pub dt: f64,
    /// Number of steps.
    pub steps: usize,
    /// Iterations per step.
    pub iterations: u32,
}

/// Where [`LinkedParticles`] are after their steps.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkOutcome {
    /// Flat, m.
    pub q: Vec<f64>,
    /// Flat, m/s.
    pub v: Vec<f64>,
    /// Force of every link at the end in N, positive when it pulls.
    pub forces: Vec<f64>,
}

/// A solver to be judged; none when it refuses the model.
pub type LinkSolver<'a> = dyn Fn(&LinkedParticles) -> Option<LinkOutcome> + 'a;

fn apart(found: &[f64], expected: &[f64]) -> f64 {
    if found.len() != expected.len() {
        return f64::NAN;
    }
    worst(found.iter().zip(expected).map(|(a, b)| (a - b).abs()))
}

/// Largest of some distances; NaN counts as infinite.
fn worst(distances: impl IntoIterator<Item = f64>) -> f64 {
    distances.into_iter().fold(0.0, |a, b| if b.is_nan() { f64::INFINITY } else { a.max(b) })
}

const fn link(ends: [usize; 2], rest_length: f64, compliance: f64) -> Link {
    Link { ends, rest_length, compliance, damping: 0.0 }
}

type Study = fn(&str, &LinkSolver<'_>) -> Result<Vec<Claim>, ReferenceError>;

/// Carries out every study on a solver of links.
pub fn judge_links(id: &str, solve: &LinkSolver<'_>) -> Vec<Claim> {
    let studies: [(&str, Study); 6] = [
        ("projection", projection),
        ("stretch", stretch),
        ("implicit_euler", implicit_euler),
        ("dashpot", |id, solve| Ok(dashpot(id, solve))),
        ("momentum", |id, solve| Ok(momentum(id, solve))),
        ("rate", rate),
    ];
    let mut claims = Vec::new();
    for (name, study) in studies {
        match study(id, solve) {
            Ok(found) => claims.extend(found),
            Err(error) => {
                claims.push(Claim::no_complaint(format!("{id}/{name}"), "", vec![], "").because(error));
            }
        }
    }
    claims
}

fn at_most(id: &str, study: &str, what: &str, limit: f64, measured: f64, source: &str) -> Claim {
    Claim::at_most(format!("{id}/{study}"), what, limit, measured, source)
}

/// One step without forces projects one link.
fn projection(id: &str, solve: &LinkSolver<'_>) -> Result<Vec<Claim>, ReferenceError> {
    let mut claims = Vec::new();
    for kind in ["equal", "unequal", "pinned"] {
        let name = format!("F-distance-projection-{kind}");
        let case = case(&name)?;
        let weights = [case.number("inputs/w1")?, case.number("inputs/w2")?];
        let model = LinkedParticles {
            mass: weights.map(|w| if w > 0.0 { 1.0 / w } else { 1.0 }).to_vec(),
            pinned: (0..2).filter(|&i| weights[i] == 0.0).collect(),
            gravity: [0.0; 3],
            links: vec![link([0, 1], case.number("inputs/L")?, 0.0)],
            q: [case.vector("inputs/x1")?, case.vector("inputs/x2")?].concat(),
            v: vec![0.0; 6],
            dt: 0.01,
            steps: 1,
            iterations: 1,
        };
        let wanted = [case.numbers("expected/x1_new")?, case.numbers("expected/x2_new")?].concat();
        let distance = solve(&model).map_or(f64::NAN, |found| apart(&found.q, &wanted));
        let what = format!("one projection, {kind} masses, distance in m");
        claims.push(
            at_most(id, &format!("projection/{kind}"), &what, 1e-14, distance, &case.source).case(name),
        );
    }
    Ok(claims)
}

/// A rope of equal masses that hangs until it is at rest: stretches of its links, and their forces.
fn hung(
    case: &Case,
    masses: usize,
    solve: &LinkSolver<'_>,
    (dt, steps, iterations): (f64, usize, u32),
) -> Result<(Vec<f64>, Vec<f64>), ReferenceError> {
    let (mass, compliance, g) =
        (case.number("inputs/m")?, case.number("inputs/alpha")?, case.number("inputs/g")?);
    let rest_length = 0.2;
    let model = LinkedParticles {
        mass: vec![mass; masses + 1],
        pinned: vec![0],
        gravity: [0.0, 0.0, -g],
        links: (0..masses).map(|i| link([i, i + 1], rest_length, compliance)).collect(),
        q: (0..=masses).flat_map(|i| [0.0, 0.0, -rest_length * i as f64]).collect(),
        v: vec![0.0; 3 * (masses + 1)],
        dt,
        steps,
        iterations,
    };
    // Nothing compares equal to no lengths: a refused model fails.
    Ok(solve(&model).map_or((Vec::new(), Vec::new()), |found| {
        let length = |i: usize| found.q[3 * i + 2] - found.q[3 * i + 5];
        ((0..masses).map(|i| length(i) - rest_length).collect(), found.forces)
    }))
}

fn stretch(id: &str, solve: &LinkSolver<'_>) -> Result<Vec<Claim>, ReferenceError> {
    let name = "F-xpbd-static-stretch";
    let case = case(name)?;
    let one = [case.number("expected/stretch")?];
    let force = [case.number("expected/force_from_lambda")?];
    let mut distances = [0.0; 3];
    for (dt, steps, iterations) in [(1.0 / 60.0, 800, 1), (1.0 / 60.0, 800, 5), (1.0 / 240.0, 6000, 2)] {
        let (lengths, forces) = hung(case, 1, solve, (dt, steps, iterations))?;
        distances[0] = worst([distances[0], apart(&lengths, &one) / one[0]]);
        distances[1] = worst([distances[1], apart(&forces, &force) / force[0]]);
    }
    let three = case.numbers("expected/chain3_link_stretches")?;
    let (lengths, _) = hung(case, 3, solve, (1.0 / 60.0, 2500, 30))?;
    distances[2] = apart(&lengths, &three) / three[2];
    let texts = [
        ("stretch/one", "stretch for two steps and three iteration counts, relative distance"),
        ("stretch/force", "force from the multiplier, relative distance"),
        ("stretch/three", "stretch of three links in a row, relative distance"),
    ];
    let claims = texts
        .iter()
        .zip(distances)
        .map(|((study, what), distance)| at_most(id, study, what, 1e-9, distance, &case.source).case(name));
    Ok(claims.collect())
}

fn implicit_euler(id: &str, solve: &LinkSolver<'_>) -> Result<Vec<Claim>, ReferenceError> {
    let name = "F-xpbd-equals-implicit-euler";
    let case = case(name)?;
    let input = |name: &str| case.number(&format!("inputs/{name}"));
    let mut model = LinkedParticles {
        mass: vec![1.0, input("m")?],
        pinned: vec![0],
        gravity: [input("g_along_x")?, 0.0, 0.0],
        links: vec![link([0, 1], 0.0, input("alpha")?)],
        q: vec![0.0, 0.0, 0.0, input("x0")?, 0.0, 0.0],
        v: vec![0.0, 0.0, 0.0, input("v0")?, 0.0, 0.0],
        dt: input("h")?,
        steps: 1,
        iterations: 1,
    };
    let mut distance = 0.0;
    for (steps, row) in [1, 10, 60].into_iter().zip(case.rows("expected/states_1_10_60")?) {
        model.steps = steps;
        let found = solve(&model).map_or([f64::NAN; 2], |found| [found.q[3], found.v[3]]);
        distance = worst([distance, (found[0] / row[0] - 1.0).abs(), (found[1] / row[1] - 1.0).abs()]);
    }
    let what = "state after 1, 10 and 60 steps, relative distance";
    Ok(vec![at_most(id, "implicit_euler", what, 1e-12, distance, &case.source).case(name)])
}

/// A spring with a dashpot (Kelvin-Voigt) under implicit Euler:
/// v₁ = (v₀ − h k C₀/m) / (1 + h c/m + h² k/m), C₁ = C₀ + h v₁ for a mass on a fixed point.
fn dashpot(id: &str, solve: &LinkSolver<'_>) -> Vec<Claim> {
    let (m, k, c, h, rest_length) = (0.7, 300.0, 4.0, 0.02, 0.5);
    let mut model = LinkedParticles {
        mass: vec![1.0, m],
        pinned: vec![0],
        gravity: [0.0; 3],
        links: vec![Link { ends: [0, 1], rest_length, compliance: 1.0 / k, damping: c }],
        q: vec![0.0, 0.0, 0.0, 0.0, 0.6, 0.0],
        v: vec![0.0, 0.0, 0.0, 0.0, 0.8, 0.0],
        dt: h,
        steps: 1,
        iterations: 1,
    };
    let (mut stretch, mut v) = (0.6 - rest_length, 0.8);
    let mut distance = 0.0;
    for steps in 1..=20 {
        v = (v - h * k * stretch / m) / (1.0 + h * c / m + h * h * k / m);
        stretch += h * v;
        model.steps = steps;
        let found = solve(&model).map_or([f64::NAN; 2], |found| [found.q[4] - rest_length, found.v[4]]);
        distance = worst([distance, (found[0] - stretch).abs(), (found[1] - v).abs()]);
    }
    let what = "spring with a dashpot over 20 steps, distance from implicit Euler";
    vec![at_most(id, "dashpot", what, 1e-11, distance, "implicit Euler of a Kelvin-Voigt element")]
}

/// Free particles of different masses in motion; the same in free fall.
fn momentum(id: &str, solve: &LinkSolver<'_>) -> Vec<Claim> {
    let mut model = LinkedParticles {
        mass: vec![1.0, 2.0, 0.5],
        pinned: Vec::new(),
        gravity: [0.0; 3],
        links: vec![link([0, 1], 1.0, 0.0), link([1, 2], 0.7, 1e-3)],
        q: vec![0.0, 0.1, 0.0, 1.0, 0.0, 0.2, 1.2, 0.67, 0.0],
        v: vec![0.0, -3.0, 0.5, 0.0, 4.0, 0.0, -1.0, 2.0, 0.3],
        dt: 2e-3,
        steps: 50,
        iterations: 3,
    };
    let sum = |model: &LinkedParticles, values: &[f64]| {
        let total = |k: usize| (0..3).map(|i| model.mass[i] * values[3 * i + k]).sum();
        (0..3).map(total).collect::<Vec<f64>>()
    };
    let before = sum(&model, &model.v);
    let lost = solve(&model).map_or(f64::NAN, |found| apart(&sum(&model, &found.v), &before));
    model.gravity = [0.3, -9.81, 1.0];
    let wanted: Vec<f64> =
        before.iter().zip(model.gravity).map(|(p, g)| p + 3.5 * g * model.dt * 50.0).collect();
    let fallen = solve(&model).map_or(f64::NAN, |found| apart(&sum(&model, &found.v), &wanted));
    let third = "links act equally and oppositely";
    vec![
        at_most(id, "momentum/free", "change of momentum in kg·m/s in 50 steps", 1e-11, lost, third),
        at_most(id, "momentum/falling", "momentum after a fall, distance in kg·m/s", 1e-11, fallen, third),
    ]
}

/// Sweeps of a straight chain of rigid links from a small disturbance: errors shrink at least as fast as in Gauss-Seidel.
fn rate(id: &str, solve: &LinkSolver<'_>) -> Result<Vec<Claim>, ReferenceError> {
    let name = "F-chain-gs-rate";
    let case = case(name)?;
    let links = case.number("inputs/N")? as usize;
    let error = |iterations: u32| {
        let place = |i: usize| i as f64 + 1e-3 * (0.7 * i as f64).sin();
        let model = LinkedParticles {
            mass: vec![1.0; links + 1],
            pinned: Vec::new(),
            gravity: [0.0; 3],
            links: (0..links).map(|i| link([i, i + 1], 1.0, 0.0)).collect(),
            q: (0..=links).flat_map(|i| [place(i), 0.0, 0.0]).collect(),
            v: vec![0.0; 3 * (links + 1)],
            dt: 0.01,
            steps: 1,
            iterations,
        };
        let lengths =
            |q: &[f64]| (0..links).map(|i| (q[3 * i + 3] - q[3 * i] - 1.0).abs()).fold(0.0, f64::max);
        solve(&model).map_or(f64::NAN, |found| lengths(&found.q))
    };
    // Below rounding there is nothing left to shrink: a chain solved directly.
    let (before, after) = (error(100), error(200));
    let rate = if after < 1e-13 { 0.0 } else { (after / before).powf(0.01) };
    let limit = 1.01 * case.number("expected/rho_free")?;
    let what =
        "factor per sweep on the error of a chain of 12 links, at most 1.01 times that of Gauss-Seidel";
    Ok(vec![at_most(id, "rate", what, limit, rate, &case.source).case(name)])
}
