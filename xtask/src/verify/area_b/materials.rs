//! Rubber curves, creep and relaxation: the laws of a line against published values.

use crate::verify::cases::{Verdict, at_most, expected, input, job, relative, worst};
use crate::verify::catalogue::{Job, Scope};
use crate::verify::steppers::make;
use sim_core::force::law_springs::{LawSpring, LawSprings};
use sim_core::force::point_load::{PointLoad, PointLoads};
use sim_core::material::{Branch, LineMaterial, Past};
use sim_core::material::{
    linear::Linear, mooney_rivlin::MooneyRivlin, neo_hooke::NeoHooke, ogden::Ogden, ogden::Term,
};
use sim_core::{AxialLaw, Law, ModelSystem, ParticleSystemBuilder, State, System, TimeCurve};
use sim_io::fit::{FitLaw, fit};
use sim_verify::reference::Case;
use sim_verify::studies::run;

pub(in crate::verify) fn jobs(_: Scope) -> Vec<Job> {
    vec![
        job("B-hyperelastic-uniaxial", rubber),
        job("B-viscoelastic-creep-relaxation", creep),
        job("B-treloar-data", treloar),
        job("B-bungee-massless", bungee),
    ]
}

fn rubber(case: &Case) -> Verdict {
    let stretches = case.numbers("inputs/stretch")?;
    let shear_modulus = input(case, "mu")?;
    let mu = case.numbers("inputs/ogden_mu")?;
    let alpha = case.numbers("inputs/ogden_alpha")?;
    let neo_hooke: Law = NeoHooke { shear_modulus }.into();
    let mooney: Law = MooneyRivlin { c10: input(case, "C10")?, c01: input(case, "C01")? }.into();
    let terms = mu.iter().zip(&alpha).map(|(&mu, &alpha)| Term { mu, alpha }).collect();
    let ogden: Law = Ogden { terms }.into();
    let mut claims = Vec::new();
    for (law, curve, modulus, name) in [
        (&neo_hooke, "P_neo_hooke", "E0_neo_hooke", "neo-Hookean"),
        (&mooney, "P_mooney_rivlin", "E0_mooney", "Mooney-Rivlin"),
        (&ogden, "P_ogden", "E0_ogden", "Ogden"),
    ] {
        let wanted = case.numbers(&format!("expected/{curve}"))?;
        let apart = stretches.iter().zip(&wanted).map(|(&l, &p)| relative(law.tension(l), p));
        let slope = relative(law.tangent(1.0), expected(case, modulus)?);
        let what = format!("{name} nominal stress at seven stretches and modulus at rest, relative distance");
        claims.push(at_most(case, law.id(), &what, 1e-12, worst(apart.chain([slope]))));
    }
    // A bar of 1 cm² and 0.1 m between two particles, at twice its length.
    let bar = LawSpring { ends: [0, 1], rest_length: 0.1, scale: 1e-4, damping: 0.0, material: 0 };
    let system = ParticleSystemBuilder::new(vec![1.0; 2])
        .force(LawSprings::new([LineMaterial::from(neo_hooke)], [bar]))
        .build()?;
    let force = |length: f64| {
        let mut f = [0.0; 6];
        system.force(0.0, &[0.0, 0.0, 0.0, length, 0.0, 0.0], &[0.0; 6], &mut f);
        f[0]
    };
    let stiffness = (force(0.2 + 1e-6) - force(0.2 - 1e-6)) / 2e-6;
    let wanted = expected(case, "k_bar_A1e-4_L0.1_at_l2_neo_hooke")?;
    let what = "stiffness of a bar at twice its length, from differences of its force, relative distance";
    claims.push(at_most(case, "bar", what, 1e-8, relative(stiffness, wanted)));
    Ok(claims)
}

/// An elastic law of the given modulus with one branch.
fn solid(modulus: f64, branches: Vec<Branch>) -> LineMaterial {
    LineMaterial { branches, ..Law::from(Linear { modulus }).into() }
}

/// Stress after holding a strain that was applied at once, in one step and in many.
fn relaxation(material: &LineMaterial, strain: f64, times: &[f64]) -> Vec<f64> {
    let stretch = 1.0 + strain;
    let mut history = vec![0.0; material.history_count()];
    material.initial_history(stretch, &mut history);
    let mut stress = vec![material.respond(None, stretch).tension];
    for pair in times.windows(2) {
        let steps = 7;
        for _ in 0..steps {
            let old = history.clone();
            let past = Past { stretch, history: &old, elapsed: (pair[1] - pair[0]) / f64::from(steps) };
            material.advance(past, stretch, &mut history);
        }
        stress
            .push(material.respond(Some(Past { stretch, history: &history, elapsed: 0.0 }), stretch).tension);
    }
    stress
}

/// Strain under a constant stress, a light mass on a strap of 1 m and 1 m² stepped by the L-stable method; `dashpot` in Pa·s.
fn creep_strains(
    material: &LineMaterial,
    (dashpot, stress, instantaneous): (f64, f64, f64),
    times: &[f64],
    steps_per_second: f64,
) -> Result<Vec<f64>, Box<dyn std::error::Error>> {
    let spring = LawSpring { ends: [0, 1], rest_length: 1.0, scale: 1.0, damping: dashpot, material: 0 };
    let load = PointLoad { particle: 1, force: [stress, 0.0, 0.0], curve: TimeCurve::Constant };
    // Its inertia moves the end by strains of 1e-9 at the rates that occur.
    let system = ParticleSystemBuilder::new(vec![1.0, 1e-3])
        .pin([0])
        .force(LawSprings::new([material.clone()], [spring]))
        .force(PointLoads::new([load]))
        .build()?;
    let mut state = State::at_rest(vec![0.0, 0.0, 0.0, 1.0 + instantaneous, 0.0, 0.0]);
    state.internal.resize(system.internal_count(), 0.0);
    system.begin_history(&state.q, &mut state.internal);
    let mut strains = vec![instantaneous];
    for &t in &times[1..] {
        let steps = ((t - state.t) * steps_per_second).round() as u64;
        state = run(&system as &dyn ModelSystem, &mut *make("tr_bdf2"), &state, t, steps)?;
        strains.push(state.q[3] - 1.0);
    }
    Ok(strains)
}

fn creep(case: &Case) -> Verdict {
    let (e1, e2, eta) = (input(case, "E1")?, input(case, "E2")?, input(case, "eta")?);
    let (stress, strain) = (input(case, "sigma0")?, input(case, "eps0")?);
    let times = case.numbers("inputs/t")?;
    let kelvin = solid(e1, vec![]);
    let maxwell = solid(0.0, vec![Branch { modulus: e1, time: eta / e1 }]);
    let zener = solid(e1, vec![Branch { modulus: e2, time: eta / e2 }]);
    let wanted = |name: &str| case.numbers(&format!("expected/{name}"));
    // Zero at the start where it is zero.
    let apart = |found: &[f64], wanted: &[f64]| {
        let scale = wanted.iter().fold(0.0_f64, |a, b| a.max(b.abs()));
        worst(found.iter().zip(wanted).map(|(a, b)| (a - b).abs() / b.abs().max(1e-3 * scale)))
    };
    let per_second = 40.0;
    let crept = |material: &LineMaterial, dashpot: f64, start: f64| {
        creep_strains(material, (dashpot, stress, start), &times, per_second)
    };
    let mut claims = vec![
        at_most(
            case,
            "maxwell_relaxation",
            "Maxwell: stress of a held strap, relative distance",
            1e-12,
            apart(&relaxation(&maxwell, strain, &times), &wanted("Maxwell_relaxation_stress")?),
        ),
        at_most(
            case,
            "zener_relaxation",
            "standard linear solid: stress of a held strap, relative distance",
            1e-12,
            apart(&relaxation(&zener, strain, &times), &wanted("SLS_relaxation_stress")?),
        ),
    ];
    let zener_wanted = wanted("SLS_creep_strain")?;
    for (part, name, material, dashpot, start, curve) in [
        ("kelvin_voigt_creep", "Kelvin-Voigt", &kelvin, eta, 0.0, wanted("KV_creep_strain")?),
        ("maxwell_creep", "Maxwell", &maxwell, 0.0, stress / e1, wanted("Maxwell_creep_strain")?),
        ("zener_creep", "standard linear solid", &zener, 0.0, stress / (e1 + e2), zener_wanted.clone()),
    ] {
        let found = crept(material, dashpot, start)?;
        let what =
            format!("{name}: strain of a loaded strap stepped by tr_bdf2 in 1/40 s, relative distance");
        claims.push(at_most(case, part, &what, 1e-4, apart(&found, &curve)));
    }
    let coarse = creep_strains(&zener, (0.0, stress, stress / (e1 + e2)), &times, 4.0)?;
    let fine = creep_strains(&zener, (0.0, stress, stress / (e1 + e2)), &times, 16.0)?;
    let order = (apart(&coarse, &zener_wanted) / apart(&fine, &zener_wanted)).ln() / 4.0_f64.ln();
    claims.push(sim_verify::Claim::near(
        format!("reference/{}/order", case.id),
        "order of convergence of the creeping strap in the step",
        (2.0, 0.1),
        order,
        case.source.as_str(),
    ));
    // A swinging strain for many relaxation times: the last period gives both moduli.
    let omega = 0.3;
    let (periods, per_period) = (30_u32, 2000_u32);
    let dt = std::f64::consts::TAU / omega / f64::from(per_period);
    let stretch = |i: u32| 1.0 + strain * (omega * dt * f64::from(i)).sin();
    let mut history = [0.0];
    let (mut storage, mut loss) = (0.0, 0.0);
    for i in 0..periods * per_period {
        let old = history;
        zener.advance(Past { stretch: stretch(i), history: &old, elapsed: dt }, stretch(i + 1), &mut history);
        if i >= (periods - 1) * per_period {
            let now = Past { stretch: stretch(i + 1), history: &history, elapsed: 0.0 };
            let stress = zener.respond(Some(now), stretch(i + 1)).tension;
            let phase = omega * dt * f64::from(i + 1);
            storage += 2.0 / f64::from(per_period) * stress * phase.sin() / strain;
            loss += 2.0 / f64::from(per_period) * stress * phase.cos() / strain;
        }
    }
    claims.push(at_most(
        case,
        "moduli",
        "storage and loss modulus and their ratio of a swinging strap, 2000 steps per period, relative distance",
        1e-5,
        worst([
            relative(storage, expected(case, "SLS_storage_modulus")?),
            relative(loss, expected(case, "SLS_loss_modulus")?),
            relative(loss / storage, expected(case, "SLS_tan_delta")?),
        ]),
    ));
    Ok(claims)
}

/// The whole jump with one model: the law itself says when the cord pulls.
fn bungee(case: &Case) -> Verdict {
    let (m, k, rest, g) = (input(case, "m")?, input(case, "k")?, input(case, "l0")?, input(case, "g")?);
    let law: Law = sim_core::material::cable::Cable { modulus: k * rest }.into();
    let cord = LawSpring { ends: [0, 1], rest_length: rest, scale: 1.0, damping: 0.0, material: 0 };
    let springs = LawSprings::new([LineMaterial::from(law)], [cord]);
    let system = ParticleSystemBuilder::new(vec![1.0, m])
        .pin([0])
        .force(springs.clone())
        .force(sim_core::force::gravity::Gravity::new([0.0, 0.0, -g]))
        .build()?;
    let state = run(
        &system as &dyn ModelSystem,
        &mut *make("leapfrog"),
        &State::at_rest(vec![0.0, 0.0, -1e-9, 0.0, 0.0, -2e-9]),
        expected(case, "t_lowest")?,
        20_000,
    )?;
    Ok(vec![
        at_most(
            case,
            "cable_law",
            "lowest point of one model with the cable law, leapfrog, relative distance",
            1e-6,
            relative(-state.q[5], expected(case, "x_max")?),
        ),
        at_most(
            case,
            "cable_tension",
            "tension there, relative distance",
            1e-6,
            relative(springs.tension(0, &state.q, &[]), expected(case, "T_max")?),
        ),
    ])
}

/// Fits of the published points: those whose answers are published, and three Ogden terms over the whole curve.
fn treloar(case: &Case) -> Verdict {
    let stretches = case.numbers("inputs/stretch")?;
    let in_cgs = case.numbers("inputs/nominal_stress_kgf_cm2")?;
    let stresses: Vec<f64> = in_cgs.iter().map(|stress| stress * 0.0980665).collect();
    let wanted = case.numbers("expected/nominal_stress")?;
    let all: Vec<(f64, f64)> = stretches.into_iter().zip(stresses.clone()).collect();
    let low: Vec<(f64, f64)> = all.iter().copied().filter(|(l, _)| *l > 1.0 && *l <= 4.1).collect();
    let mooney = fit(&low, FitLaw::MooneyRivlin, 0.95)?;
    let neo_hooke = fit(&low, FitLaw::NeoHooke, 0.95)?;
    let value = |name: &str| expected(case, name);
    let ogden = fit(&all, FitLaw::Ogden(3), 0.95)?;
    Ok(vec![
        at_most(
            case,
            "unit",
            "points in MPa, distance",
            1e-12,
            worst(stresses.iter().zip(&wanted).map(|(a, b)| (a - b).abs())),
        ),
        at_most(
            case,
            "mooney_rivlin",
            "constants fitted up to stretch 4.1, relative distance",
            1e-9,
            worst([
                relative(mooney.parameters[0].value, value("C10_fit")?),
                relative(mooney.parameters[1].value, value("C01_fit")?),
                (low.len() as f64 - value("points_used")?).abs(),
            ]),
        ),
        at_most(
            case,
            "neo_hooke",
            "constant fitted up to stretch 4.1, relative distance",
            1e-9,
            relative(neo_hooke.parameters[0].value, value("mu_neo_hooke_fit")?),
        ),
        // Ogden's own constants (case B-hyperelastic-uniaxial) are a fit by hand to the same curve.
        at_most(
            case,
            "ogden",
            "rms residual of three fitted Ogden terms on the whole curve over that of Ogden's constants",
            1.0,
            ogden.rms / by_hand(&all)?,
        ),
    ])
}

/// Rms residual in `MPa` of Ogden's published constants.
fn by_hand(points: &[(f64, f64)]) -> Result<f64, Box<dyn std::error::Error>> {
    let case = sim_verify::reference::case("B-hyperelastic-uniaxial")?;
    let (mu, alpha) = (case.numbers("inputs/ogden_mu")?, case.numbers("inputs/ogden_alpha")?);
    let terms = mu.iter().zip(&alpha).map(|(&mu, &alpha)| Term { mu: 1e-6 * mu, alpha }).collect();
    let law = Law::from(Ogden { terms });
    let squares: f64 = points.iter().map(|(l, p)| (law.tension(*l) - p).powi(2)).sum();
    Ok((squares / points.len() as f64).sqrt())
}
