//! Implicit steps that are not solved.

use super::Check;
use crate::diagnose::finding::{Finding, short};
use crate::diagnose::patient::Patient;
use crate::edit::Change;
use sim_core::Stability;
use sim_integrate::NewtonOptions;
use toml::{Table, Value};

pub(super) const CHECK: Check = Check {
    causes: &[UNSOLVED, LINEARIZED, INDEFINITE],
    summary: "equations of implicit steps are not solved, solved in one linear step only, or indefinite under compression",
    look,
};

const UNSOLVED: &str = "solver_not_converged";
const LINEARIZED: &str = "linearized_step";
const INDEFINITE: &str = "indefinite_stiffness";
/// A linearized step that stretches a part so many times as much as a solved one is no solution.
const OVERSTRETCHED: f64 = 2.0;
/// Tolerance that rounding allows for stiff parts.
const REACHABLE: f64 = 1e-12;

fn look(patient: &Patient) -> Vec<Finding> {
    let implicit = patient
        .stepper()
        .is_some_and(|info| matches!(info.method.stability, Stability::Unconditional | Stability::LStable));
    if !implicit {
        return Vec::new();
    }
    let options = &patient.scene.method.options;
    if options.get("linearized").and_then(Value::as_bool) == Some(true) {
        return linearized(patient).into_iter().collect();
    }
    match patient.failure.as_ref().map(|failure| (failure.kind(), failure.to_string())) {
        Some(("linear_solver", text)) if text.contains("indefinite") || projection_is_off(options) => {
            vec![indefinite(patient, text)]
        }
        Some(("linear_solver" | "not_converged", text))
            if projection_is_off(options) && compressed(patient).0 > 0 =>
        {
            vec![indefinite(patient, text)]
        }
        Some(("linear_solver" | "not_converged", text)) => vec![unsolved(patient, text)],
        _ => halved(patient).into_iter().collect(),
    }
}

fn newton(options: &Table) -> Option<&Table> {
    options.get("newton").and_then(Value::as_table)
}

fn projection_is_off(options: &Table) -> bool {
    newton(options).and_then(|newton| newton.get("projection")).and_then(Value::as_str) == Some("never")
}

/// Compressed springs at the last good state: how many, and the shortest as a strain with its name.
fn compressed(patient: &Patient) -> (usize, Option<(f64, String)>) {
    let (springs, q) = (&patient.model.layout.springs, &patient.last_state().q);
    let strains = (0..springs.len()).filter_map(|k| {
        let rest = springs.get(k).rest_length;
        let strain = springs.length(k, q) / rest - 1.0;
        (rest > 0.0 && strain < -1e-9).then_some((strain, k))
    });
    let (mut count, mut worst) = (0, None::<(f64, usize)>);
    for (strain, k) in strains {
        count += 1;
        if worst.is_none_or(|(least, _)| strain < least) {
            worst = Some((strain, k));
        }
    }
    (count, worst.map(|(strain, k)| (strain, patient.spring_name(k))))
}

fn indefinite(patient: &Patient, text: String) -> Finding {
    let (count, worst) = compressed(patient);
    let mut finding = Finding::fault(
        INDEFINITE,
        "compressed springs push sideways: their exact stiffness is negative there, and the matrix of the step is not definite",
    );
    if let Some((strain, name)) = worst {
        finding = finding.seen(format!(
            "{count} springs are compressed, most of all {name} by {} %",
            short(-100.0 * strain)
        ));
    }
    finding = finding.seen(text);
    finding
        .remedy("let the solver project blocks where it must (`projection = \"on_demand\"`, the default)")
        .change(Change::set("method.options.newton.projection", "on_demand"))
}

fn unsolved(patient: &Patient, text: String) -> Finding {
    let mut finding = Finding::fault(UNSOLVED, "the equations of a step could not be solved").seen(text);
    let defaults = NewtonOptions::default();
    let own = newton(&patient.scene.method.options);
    let number = |field: &str| {
        own.and_then(|newton| newton.get(field))
            .and_then(|v| v.as_float().or(v.as_integer().map(|i| i as f64)))
    };
    let few = number("max_iterations").filter(|&most| most < f64::from(defaults.max_iterations));
    let tight = number("relative_tolerance").filter(|&tolerance| tolerance < REACHABLE);
    let solver = own.and_then(|newton| newton.get("solver")).and_then(Value::as_table);
    let linear = solver.and_then(|solver| solver.get("max_iterations")).and_then(Value::as_integer);
    let mut words = Vec::new();
    if let Some(few) = few {
        finding = finding
            .seen(format!("`max_iterations` is {few}, the default {}", defaults.max_iterations))
            .change(Change::remove("method.options.newton.max_iterations"));
        words.push("allow more Newton iterations");
    }
    if let Some(tight) = tight {
        finding = finding
            .seen(format!("`relative_tolerance` is {tight:e}; rounding of stiff forces is larger than that"))
            .change(Change::set(
                "method.options.newton.relative_tolerance",
                format!("{:e}", defaults.relative_tolerance),
            ));
        words.push("ask for no more than rounding allows");
    }
    if let Some(linear) = linear {
        finding = finding
            .seen(format!("the linear solver may make {linear} iterations"))
            .change(Change::remove("method.options.newton.solver.max_iterations"));
        words.push("do not cap the linear solver");
    }
    if words.is_empty() {
        let substeps = patient.fixed_substeps().unwrap_or(1);
        finding = finding.change(Change::set("method.substeps", 4 * substeps));
        words.push("take more steps per frame: each then has less to solve");
    }
    finding.remedy(words.join("; "))
}

fn linearized(patient: &Patient) -> Option<Finding> {
    let after =
        |result: Option<&sim_io::RunResult>| result.and_then(|result| patient.largest_stretch(&result.state));
    let solved = patient.variant(|scene| {
        scene.method.options.insert("linearized".to_owned(), Value::Boolean(false));
    });
    let one = after(patient.result.as_ref());
    let all = after(solved.as_ref());
    let overstretched = match (&one, &all) {
        (Some((one, _)), Some((all, _))) => *one > OVERSTRETCHED * all.max(1e-3),
        _ => false,
    };
    if patient.failure.is_none() && !overstretched {
        return None;
    }
    let mut finding = Finding::fault(
        LINEARIZED,
        "one linear solve per step is not enough: parts turn farther in a step than the linearization holds",
    );
    if let (Some((one, name)), Some((all, _))) = (one, all) {
        finding = finding.seen(format!(
            "{name} is stretched by {} %, where solved steps of the same length leave {} %",
            short(100.0 * one),
            short(100.0 * all)
        ));
    }
    finding.evidence.extend(patient.failure_text());
    Some(
        finding
            .remedy("solve each step to convergence (`linearized = false`), or take more steps per frame")
            .change(Change::set("method.options.linearized", "false")),
    )
}

/// Steps that were halved: slower, but right. Halved in every frame they are a fault of the options.
fn halved(patient: &Patient) -> Option<Finding> {
    let result = patient.result.as_ref()?;
    let warning = result.warnings.iter().find(|warning| warning.contains("steps were halved"))?;
    let count =
        warning.split("halved ").nth(1).and_then(|rest| rest.split(' ').next()?.parse::<usize>().ok());
    let frames = result.times.len().saturating_sub(1);
    if count.is_some_and(|count| count > frames) {
        return Some(unsolved(patient, format!("{warning}, in {frames} frames")));
    }
    Some(
        Finding::note(UNSOLVED, warning.clone())
            .remedy("nothing is wrong with the result; more steps per frame may be faster"),
    )
}
