//! Motion of a structure by the methods of sim-integrate.

use super::statics::stage;
use super::{Findings, SHOWN, StructureRunError, read_all};
use crate::run::stepper;
use crate::scene::check::At;
use crate::structure::build::BuiltStructure;
use crate::structure::document::{SteppedSpec, StructureScene};
use crate::structure::measure::{Gauge, Point};
use crate::structure::result::{EndState, Shown};
use sim_core::{ModelSystem, State};
use sim_integrate::stable_dt;

/// Marches; the ledger of energies is that of [`sim_core::System`] and not kept here.
pub(super) fn march(
    scene: &StructureScene,
    built: &BuiltStructure,
    gauges: &mut [Gauge],
    spec: &SteppedSpec,
    progress: &mut (dyn FnMut(&str, Option<f64>) + Send),
) -> Result<Findings, StructureRunError> {
    let at = At::root(&scene.source).field("analysis");
    let (info, mut stepper) =
        stepper(&spec.method, &spec.options, (&at.field("method"), &at.field("options")))?;
    let system = built.structure.explicit().map_err(StructureRunError::Structure)?;
    let model: &dyn ModelSystem = &system;
    let mut state = State::at_rest(vec![0.0; built.structure.dof_count()]);
    if spec.from_equilibrium {
        state.q = stage(scene, &built.structure)?.start;
    }
    model.prescribe(0.0, &mut state.q, &mut state.v);
    let steps = (spec.duration / spec.dt).round() as u64;
    let dt = spec.duration / steps as f64;
    let mut found = Findings { steps, dt: Some(dt), ..Findings::default() };
    found.facts.push(("method".into(), info.method.id.into()));
    if let Ok(report) = stable_dt(model, &state, info)
        && report.dt_bound.is_finite()
    {
        found
            .facts
            .push(("guaranteed stable step at the start".into(), format!("{:.4e} s", report.dt_bound)));
        if dt > report.dt_bound {
            found.notes.push(format!("dt above limit: {dt:.4e} s > {:.4e} s", report.dt_bound));
        }
    }
    let every = steps.div_ceil(SHOWN as u64).max(1);
    for step in 0..=steps {
        if step > 0 {
            state.t = (step - 1) as f64 * dt;
            stepper.step(model, &mut state, dt).map_err(|source| StructureRunError::Step {
                step: step - 1,
                method: info.method.id,
                source,
            })?;
        }
        state.t = step as f64 * dt;
        read_all(
            gauges,
            built,
            Point { displacement: &state.q, velocity: Some(&state.v), acceleration: None },
        );
        found.places.push(state.t);
        if step % every == 0 || step == steps {
            let label = format!("t = {:.4} s", state.t);
            found.shown.push(Shown { label, displacement: state.q.clone() });
            progress(&format!("t = {:.4} of {} s", state.t, spec.duration), Some(state.t / spec.duration));
        }
    }
    super::motions::spectra(gauges, dt, &mut found);
    let members = built.structure.member_results(&state.q);
    let strain_energy = built.structure.strain_energy(&state.q).iter().sum();
    found.end = Some(EndState { displacement: state.q, reaction: Vec::new(), members, strain_energy });
    Ok(found)
}
