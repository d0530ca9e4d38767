//! Steps beyond the stability limit.

use super::Check;
use crate::diagnose::finding::{Finding, short};
use crate::diagnose::patient::Patient;
use crate::edit::Change;
use sim_core::Stability;
use sim_integrate::{StabilityReport, StepperInfo, stable_dt, stencil_stable_dt};

pub(super) const CHECK: Check = Check {
    causes: &[CAUSE],
    summary: "a fixed number of substeps makes steps longer than the method can take",
    look,
};

const CAUSE: &str = "step_beyond_limit";
/// Steps per frame from which an implicit method is the better way out.
const MANY: f64 = 500.0;

fn limit_of(patient: &Patient, info: &StepperInfo) -> Option<StabilityReport> {
    let (system, state) = (&patient.model.system, &patient.model.state);
    stable_dt(system, state, info).or_else(|_| stencil_stable_dt(system, state, info)).ok()
}

fn look(patient: &Patient) -> Vec<Finding> {
    let (Some(substeps), Some(info)) = (patient.fixed_substeps(), patient.stepper()) else {
        return Vec::new();
    };
    // What has no stable step at all is another fault.
    if !matches!(info.method.stability, Stability::Conditional { .. }) {
        return Vec::new();
    }
    let Some(report) = limit_of(patient, info) else { return Vec::new() };
    let frame = patient.scene.time.frame;
    let dt = frame / f64::from(substeps);
    let warned =
        patient.result.iter().flat_map(|result| &result.warnings).find(|w| w.starts_with("dt above limit"));
    if dt <= report.dt_bound && warned.is_none() {
        return Vec::new();
    }
    // Between the guaranteed bound and the true limit nothing need go wrong.
    let beyond = report.dt_exact.or(report.dt_estimate).is_some_and(|limit| dt > limit);
    if !beyond && patient.failure.is_none() {
        return vec![
            Finding::note(
                CAUSE,
                format!("dt = {} s is above what is guaranteed, {} s", short(dt), short(report.dt_bound)),
            )
            .remedy("`substeps = \"auto\"` stays on the safe side"),
        ];
    }
    let mut finding = Finding::fault(
        CAUSE,
        format!(
            "dt = {} s ({substeps} step{} per frame) is {} times as long as `{}` can take",
            short(dt),
            if substeps == 1 { "" } else { "s" },
            short(dt / report.dt_exact.or(report.dt_estimate).unwrap_or(report.dt_bound)),
            info.method.id
        ),
    );
    finding = finding.seen(format!(
        "steps up to {} s are surely stable{}{}",
        short(report.dt_bound),
        report
            .dt_exact
            .or(report.dt_estimate)
            .map_or_else(String::new, |limit| format!(", from {} s they are not", short(limit))),
        patient.stencil_name(report.culprit).map_or_else(String::new, |name| format!("; set by {name}"))
    ));
    if report.damped
        && let Some(undamped) = without_damping(patient, info)
        && undamped > 1.5 * report.dt_bound
    {
        finding = finding.seen(format!(
            "it is the damping that shortens the step: without it {} s would do",
            short(undamped)
        ));
    }
    finding.evidence.extend(warned.cloned());
    finding.evidence.extend(patient.failure_text());
    let needed = frame / (patient.scene.method.safety * report.dt_bound);
    vec![if needed > MANY {
        finding
            .remedy(format!(
                "an explicit method needs {} steps per frame; take an implicit one, which has no limit",
                short(needed.ceil())
            ))
            .change(Change::set("method.id", "tr_bdf2"))
            .change(Change::set("method.substeps", "\"auto\""))
    } else {
        finding
            .remedy(format!(
                "let the step follow the limit: `substeps = \"auto\"` takes {} per frame",
                needed.ceil()
            ))
            .change(Change::set("method.substeps", "\"auto\""))
    }]
}

/// Limit in s from the stiffness alone, of an undamped step of the same method: 2/ω or what the method states.
fn without_damping(patient: &Patient, info: &StepperInfo) -> Option<f64> {
    let Stability::Conditional { omega_dt } = info.method.stability else { return None };
    let system = &patient.model.system;
    let w = sim_core::ExplicitSystem::inverse_mass(system);
    let mut stiffest = 0.0_f64;
    // Twice the stencil's own frequency bounds that of a chain of such springs.
    sim_core::ExplicitSystem::stencil_bounds(system, &patient.model.state.q, &mut |stencil| {
        let inverse: f64 = stencil.particles.iter().zip(stencil.weights).map(|(&p, c)| c * c * w[p]).sum();
        stiffest = stiffest.max(2.0 * stencil.stiffness.max(0.0) * inverse);
    });
    (stiffest > 0.0).then(|| omega_dt / stiffest.sqrt())
}
