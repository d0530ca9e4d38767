//! Forces and laws of sim-core: every entry of the registries, and the published values of a single spring.

use super::catalogue::{Job, Scope};
use super::spring_layout;
use sim_core::force::springs::Springs;
use sim_core::material::linear::Linear;
use sim_core::material::{Branch, LineMaterial, Past};
use sim_core::{FORCES, LAWS, Law};
use sim_verify::judge::history::judge_in_step;
use sim_verify::judge::law::{judge_creep, judge_law};
use sim_verify::judge::model::{judge_model, judge_spring};

pub(super) fn jobs(_: Scope) -> Vec<Job> {
    let mut jobs: Vec<Job> = FORCES
        .iter()
        .map(|info| {
            Job::new(format!("force/{}", info.id), |_| {
                let (system, state) = (info.sample)();
                judge_model(&format!("force/{}", info.id), info.kind, &system, &state).into()
            })
        })
        .collect();
    jobs.extend(LAWS.iter().map(|info| {
        Job::new(format!("law/{}", info.id), |_| {
            judge_law(&format!("law/{}", info.id), &|unit| Box::new((info.sample)(unit))).into()
        })
    }));
    jobs.push(Job::new("law/in_step", |_| judge_in_step("law/in_step").into()));
    jobs.push(Job::new("law/creep", |_| judge_creep("law/creep", &branch).into()));
    jobs.push(Job::new("force/spring", |_| {
        judge_spring("force/spring", &|spring| Box::new(Springs::new([spring]))).into()
    }));
    jobs.push(Job::new("force/spring/layout", |_| spring_layout::judge()));
    jobs
}

/// A step of one branch of a line, apart from its law.
fn branch(branch: Branch, tension: f64, from: f64, to: f64, elapsed: f64) -> (f64, f64) {
    let mut line = LineMaterial::from(Law::from(Linear { modulus: 0.0 }));
    line.branches.push(branch);
    let past = Past { stretch: from, history: &[tension], elapsed };
    let mut history = [f64::NAN];
    line.advance(past, to, &mut history);
    (history[0], line.respond(Some(past), to).tangent)
}
