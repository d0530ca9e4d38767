//! The solver of sim-pbd on links: every way to lay them out and every order of visiting, judged like the written-out mutants.

use super::cases::{CaseError, particles, sweeps};
use super::catalogue::{Job, Scope};
use sim_core::Stepper as _;
use sim_pbd::constraints::distance::Distance;
use sim_pbd::{Bound, PbdSystem, SolveOrder, Xpbd};
use sim_verify::judge::links::{LinkOutcome, LinkedParticles, judge_links};

/// How links become lists of the solver.
#[derive(Clone, Copy)]
enum Layout {
    /// Lanes of distances.
    Lanes,
    /// One stencil after the other.
    Stencils,
    /// A chain solved directly.
    Chain,
}

fn solved(model: &LinkedParticles, layout: Layout, order: SolveOrder) -> Result<LinkOutcome, CaseError> {
    let links = model.links.iter().map(|link| Bound {
        particles: link.ends.map(|i| i as u32),
        constraint: Distance { rest_length: link.rest_length },
        compliance: link.compliance,
        damping: link.damping,
    });
    let builder = PbdSystem::builder(particles(&model.mass, &model.pinned, model.gravity)?).order(order);
    let system = match layout {
        Layout::Lanes => builder.distances(links),
        Layout::Stencils => builder.constraints(links),
        Layout::Chain => builder.chain(links),
    }
    .build()?;
    let mut state = system.state_at_rest(model.q.clone());
    state.v.clone_from(&model.v);
    let mut xpbd = Xpbd::new(&system, sweeps(1, model.iterations))?;
    for _ in 0..model.steps {
        xpbd.step(&system, &mut state, model.dt)?;
    }
    let forces = (0..model.links.len()).map(|i| xpbd.constraint_force(&system, 0, i)).collect();
    Ok(LinkOutcome { q: state.q, v: state.v, forces })
}

pub(super) fn jobs(_: Scope) -> Vec<Job> {
    let layouts = [("lanes", Layout::Lanes), ("stencils", Layout::Stencils), ("chain", Layout::Chain)];
    let orders = [("list", SolveOrder::List), ("colors", SolveOrder::Colors)];
    let mut jobs = Vec::new();
    for (name, layout) in layouts {
        for (order_name, order) in orders {
            let id = format!("links/{name}_{order_name}");
            jobs.push(Job::new(id.clone(), move |_| {
                judge_links(&id, &|model| solved(model, layout, order).ok()).into()
            }));
        }
    }
    jobs
}
