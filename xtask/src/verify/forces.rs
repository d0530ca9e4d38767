//! Forces of sim-core: every entry of the registry, and the published values of a single spring.

use super::catalogue::{Job, Scope};
use super::spring_layout;
use sim_core::FORCES;
use sim_core::force::springs::Springs;
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
    jobs.push(Job::new("force/spring", |_| {
        judge_spring("force/spring", &|spring| Box::new(Springs::new([spring]))).into()
    }));
    jobs.push(Job::new("force/spring/layout", |_| spring_layout::judge()));
    jobs
}
