//! Modes, motion in time, steady response.

use super::statics::stage;
use super::{Findings, SHOWN, StructureRunError, numbered, read_all, swing};
use crate::report::Chart;
use crate::run::result::ProbeValue;
use crate::scene::check::At;
use crate::structure::build::BuiltStructure;
use crate::structure::document::{HarmonicSpec, ModalSpec, StructureScene, TransientSpec};
use crate::structure::measure::{self, Gauge, Point};
use crate::structure::probe::StructureProbe;
use crate::structure::result::{EndState, Shown};
use crate::structure::spectrum;
use sim_fem::Structure;
use sim_fem::analysis::linear_static::linear_static;
use sim_fem::analysis::modal::{ModalOptions, Mode, modal};
use sim_fem::analysis::modal_response::DampedModes;
use sim_fem::analysis::nonlinear_static::{NonlinearStaticOptions, Stage, nonlinear_static};
use sim_fem::analysis::transient::{InitialState, TransientOptions, transient};
use sim_fem::factor::FactorKind;
use std::f64::consts::TAU;
use std::ops::ControlFlow;

fn lowest_modes(
    structure: &Structure,
    state: Option<&[f64]>,
    count: usize,
) -> Result<(Vec<Mode>, [f64; 3]), StructureRunError> {
    let options = ModalOptions { modes: count, ..ModalOptions::default() };
    let report = modal(structure, state, &options).map_err(StructureRunError::Modal)?;
    Ok((report.modes, report.movable_mass))
}

pub(super) fn modes(
    scene: &StructureScene,
    built: &BuiltStructure,
    spec: ModalSpec,
) -> Result<Findings, StructureRunError> {
    let structure = &built.structure;
    let mut found = Findings::default();
    let state = if spec.loaded {
        let report = nonlinear_static(structure, &Stage::new(structure), &NonlinearStaticOptions::default())
            .map_err(StructureRunError::Equilibrium)?;
        Some(report.end.displacement)
    } else {
        None
    };
    let (modes, mass) = lowest_modes(structure, state.as_deref(), spec.modes)?;
    mode_results(scene, &mut found, &modes, mass)?;
    for (number, mode) in modes.iter().take(DRAWN).enumerate() {
        let name = format!("mode {}, {:.6} Hz", number + 1, mode.frequency());
        swing(&mut found.shown, &name, &mode.shape);
    }
    Ok(found)
}

/// Modes that are drawn, one after the other.
pub(in crate::structure) const DRAWN: usize = 6;

/// Facts, table and probes of modes.
fn mode_results(
    scene: &StructureScene,
    found: &mut Findings,
    modes: &[Mode],
    movable_mass: [f64; 3],
) -> Result<(), StructureRunError> {
    let frequencies: Vec<f64> = modes.iter().map(Mode::frequency).collect();
    let numbers: Vec<f64> = (1..=modes.len()).map(|i| i as f64).collect();
    found.table = vec![("mode".into(), numbers.clone()), ("frequency [Hz]".into(), frequencies.clone())];
    let mut shares = Vec::new();
    for (k, axis) in ["x", "y", "z"].into_iter().enumerate() {
        let share = |mode: &Mode| {
            if movable_mass[k] > 0.0 { mode.effective_mass()[k] / movable_mass[k] } else { 0.0 }
        };
        let column: Vec<f64> = modes.iter().map(share).collect();
        found.table.push((format!("share of mass in {axis} [1]"), column.clone()));
        shares.push(column);
    }
    found.charts.push(Chart {
        title: "Natural frequencies".into(),
        x_label: "mode".into(),
        y_label: "Hz".into(),
        log: false,
        series: vec![("frequency".into(), numbers, frequencies.clone())],
        ..Chart::default()
    });
    for (number, frequency) in frequencies.iter().take(6).enumerate() {
        found.facts.push((format!("frequency {}", number + 1), format!("{frequency:.6} Hz")));
    }
    numbered(scene, found, &frequencies, "modes", |probe| match probe {
        StructureProbe::Frequency(p) => Some((p.number, "Hz")),
        _ => None,
    })?;
    for (k, share) in shares.iter().enumerate() {
        numbered(scene, found, share, "modes", |probe| match probe {
            StructureProbe::MassParticipation(p) if p.direction.index() == k => Some((p.number, "1")),
            _ => None,
        })?;
    }
    Ok(())
}

pub(super) fn march(
    scene: &StructureScene,
    built: &BuiltStructure,
    gauges: &mut [Gauge],
    spec: &TransientSpec,
    progress: &mut (dyn FnMut(&str, Option<f64>) + Send),
) -> Result<Findings, StructureRunError> {
    let structure = &built.structure;
    let mut initial = InitialState::at_rest(structure);
    if spec.from_equilibrium {
        initial.displacement = stage(scene, structure)?.start;
    }
    let steps = (spec.duration / spec.dt).round() as usize;
    let options = TransientOptions {
        method: spec.method,
        dt: spec.duration / steps as f64,
        steps,
        start: spec.start,
        ..TransientOptions::default()
    };
    let every = steps.div_ceil(SHOWN).max(1);
    let n = structure.dof_count();
    let (mut u, mut v, mut a) = (vec![0.0; n], vec![0.0; n], vec![0.0; n]);
    let mut found = Findings { steps: steps as u64, dt: Some(options.dt), ..Findings::default() };
    let report = transient(structure, &initial, &options, &mut |instant| {
        structure.apply_supports(instant.t, 1.0, &mut u);
        structure.apply_support_velocities(instant.t, &mut v);
        structure.scatter(instant.displacement, &mut u);
        structure.scatter(instant.velocity, &mut v);
        structure.scatter(instant.acceleration, &mut a);
        let point = Point { displacement: &u, velocity: Some(&v), acceleration: Some(&a) };
        read_all(gauges, built, point);
        found.places.push(instant.t);
        if instant.step % every == 0 || instant.step == steps {
            let label = format!("t = {:.4} s", instant.t);
            found.shown.push(Shown { label, displacement: u.clone() });
            progress(
                &format!("t = {:.4} of {} s", instant.t, spec.duration),
                Some(instant.t / spec.duration),
            );
        }
        ControlFlow::Continue(())
    })
    .map_err(StructureRunError::Transient)?;
    if report.iterations > 0 {
        found.facts.push(("Newton iterations".into(), report.iterations.to_string()));
    }
    spectra(gauges, options.dt, &mut found);
    let members = structure.member_results(&report.displacement);
    let strain_energy = structure.strain_energy(&report.displacement).iter().sum();
    found.end =
        Some(EndState { displacement: report.displacement, reaction: Vec::new(), members, strain_energy });
    Ok(found)
}

pub(super) fn response(
    scene: &StructureScene,
    built: &BuiltStructure,
    spec: &HarmonicSpec,
) -> Result<Findings, StructureRunError> {
    let structure = &built.structure;
    let at_rest = linear_static(structure, 0.0, FactorKind::Auto).map_err(StructureRunError::Structure)?;
    let (modes, mass) = lowest_modes(structure, None, spec.modes)?;
    let mut found = Findings { steps: spec.points as u64, ..Findings::default() };
    mode_results(scene, &mut found, &modes, mass)?;
    let damped = match spec.damping_ratio {
        Some(ratio) => DampedModes::new(&modes, vec![ratio; modes.len()])?,
        None => DampedModes::rayleigh(structure, &modes)?,
    };
    let mut force = vec![0.0; structure.dof_count()];
    structure.external_force(0.0, &mut force);
    let [low, high] = spec.band;
    let frequencies: Vec<f64> =
        (0..spec.points).map(|i| low + (high - low) * i as f64 / (spec.points - 1) as f64).collect();
    let respond = |frequency: f64| damped.harmonic(TAU * frequency, &force, Some(&at_rest.displacement));
    let root = At::root(&scene.source);
    let mut wanted = Vec::new();
    for (index, probe) in scene.probes.iter().enumerate() {
        if let StructureProbe::Amplitude(p) = probe {
            let at = root.field("probe").index(index);
            let node = built.node(&p.at, &at.field("at"))?;
            let dof = measure::dof(built, node, p.direction, &at)?;
            wanted.push((p, dof, Vec::with_capacity(spec.points)));
        }
    }
    for &frequency in &frequencies {
        let all = respond(frequency);
        for (_, dof, curve) in &mut wanted {
            curve.push(all[*dof].norm());
        }
    }
    found.table = vec![("f [Hz]".into(), frequencies.clone())];
    let mut series = Vec::new();
    for (probe, dof, curve) in wanted {
        let value = match probe.frequency {
            Some(frequency) => respond(frequency)[dof].norm(),
            None => curve.iter().copied().fold(0.0, f64::max),
        };
        if !value.is_finite() {
            return Err(StructureRunError::Probe {
                probe: probe.name.clone(),
                reason: "an undamped mode is driven at its own frequency: give a damping_ratio".into(),
            });
        }
        let unit = if probe.direction.is_rotation() { "rad" } else { "m" };
        found.probes.insert(probe.name.clone(), ProbeValue { value, unit });
        found.table.push((format!("{} [{unit}]", probe.name), curve.clone()));
        let shown = frequencies.iter().zip(&curve).filter(|(f, a)| **f > 0.0 && a.is_finite());
        let (x, y) = shown.map(|(f, a)| (*f, *a)).unzip();
        series.push((probe.name.clone(), x, y));
    }
    if !series.is_empty() {
        found.charts.insert(
            0,
            Chart {
                title: "Amplitude of the steady response".into(),
                x_label: "f [Hz]".into(),
                y_label: "amplitude".into(),
                log: true,
                series,
                ..Chart::default()
            },
        );
    }
    for (number, mode) in modes.iter().take(DRAWN).enumerate() {
        let name = format!("mode {}, {:.6} Hz", number + 1, mode.frequency());
        swing(&mut found.shown, &name, &mode.shape);
    }
    Ok(found)
}

/// Charts of what each displacement consists of.
pub(super) fn spectra(gauges: &[Gauge], dt: f64, found: &mut Findings) {
    for (index, gauge) in gauges.iter().enumerate() {
        let seen = gauges[..index].iter().any(|earlier| earlier.same_reading(gauge));
        if seen || !gauge.is_displacement() {
            continue;
        }
        let (frequencies, amplitudes) = spectrum::amplitudes(&gauge.values, dt);
        if amplitudes.iter().any(|&a| a > 0.0) {
            found.charts.push(Chart {
                title: format!("Spectrum of {}", gauge.name),
                x_label: "f [Hz]".into(),
                y_label: format!("amplitude [{}]", gauge.unit),
                log: false,
                series: vec![(gauge.name.clone(), frequencies, amplitudes)],
                ..Chart::default()
            });
        }
    }
}
