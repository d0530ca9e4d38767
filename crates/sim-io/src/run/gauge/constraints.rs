//! Readings of colliders, belts, cables and of the solver.

use crate::model::Body;
use crate::run::xpbd::SolverView;
use crate::scene::probe::{BeltEntry, BeltQuantity, ColliderEntry, ConvergenceEntry};
use nalgebra::Vector3;
use sim_core::State;
use sim_pbd::BeltModel;

pub(super) fn collider_unit(entry: ColliderEntry) -> &'static str {
    match entry {
        ColliderEntry::NormalForce
        | ColliderEntry::FrictionForce
        | ColliderEntry::ForceX
        | ColliderEntry::ForceY
        | ColliderEntry::ForceZ => "N",
        ColliderEntry::Torque => "N·m",
        ColliderEntry::AngularVelocity => "rad/s",
        ColliderEntry::Angle => "rad",
        ColliderEntry::Contacts | ColliderEntry::Sliding => "1",
    }
}

pub(super) fn belt_unit(entry: BeltEntry) -> &'static str {
    match entry {
        BeltEntry::TightTension | BeltEntry::SlackTension | BeltEntry::SpanTension => "N",
        BeltEntry::SpanFrequency => "Hz",
        BeltEntry::SpanSpeed => "m/s",
        BeltEntry::Wrap | BeltEntry::SlipArc => "rad",
        BeltEntry::AngularVelocity => "rad/s",
        BeltEntry::Torque => "N·m",
        BeltEntry::Creep => "1",
    }
}

/// What collider `index` takes in the last substep; forces are zero before the first.
pub(super) fn collider(solver: &SolverView<'_>, state: &State, index: usize, entry: ColliderEntry) -> f64 {
    let place = solver.constrained.system().collider_internal(index);
    match entry {
        ColliderEntry::Angle => return state.internal[place],
        ColliderEntry::AngularVelocity => return state.internal[place + 1],
        _ if !solver.stepped => return 0.0,
        _ => {}
    }
    let on_it = solver.xpbd.contact_report().on_colliders.get(index).copied().unwrap_or_default();
    let mine = || solver.xpbd.contact_forces().filter(|contact| contact.collider == Some(index));
    match entry {
        ColliderEntry::ForceX => on_it.0[0],
        ColliderEntry::ForceY => on_it.0[1],
        ColliderEntry::ForceZ => on_it.0[2],
        ColliderEntry::Torque => on_it.1,
        ColliderEntry::NormalForce => mine().map(|contact| contact.normal_force).sum(),
        ColliderEntry::FrictionForce => mine().map(|contact| Vector3::from(contact.friction).norm()).sum(),
        ColliderEntry::Contacts => mine().count() as f64,
        ColliderEntry::Sliding => mine().filter(|contact| contact.sliding).count() as f64,
        ColliderEntry::Angle | ColliderEntry::AngularVelocity => unreachable!("returned above"),
    }
}

/// A quantity of the belt drive at this instant.
pub(super) fn belt(solver: &SolverView<'_>, state: &State, quantity: &BeltQuantity) -> f64 {
    let Body::Belt(model) = &solver.constrained.body else { return 0.0 };
    let pulley = quantity.pulley.unwrap_or(0);
    let Some(report) = &solver.belt else { return belt_as_laid(model, state, quantity.quantity, pulley) };
    let (span, wheel) = (report.spans[pulley], report.pulleys[pulley]);
    match quantity.quantity {
        BeltEntry::TightTension => report.tight_tension(),
        BeltEntry::SlackTension => report.slack_tension(),
        BeltEntry::SpanTension => span.tension,
        BeltEntry::SpanFrequency => span.frequency,
        BeltEntry::SpanSpeed => span.speed,
        BeltEntry::Wrap => wheel.wrap,
        BeltEntry::SlipArc => wheel.slip_arc,
        BeltEntry::AngularVelocity => wheel.angular_velocity,
        BeltEntry::Torque => wheel.belt_torque,
        BeltEntry::Creep => report.creep(model, quantity.driver, pulley),
    }
}

/// The belt before its first step: evenly stretched along its path; nothing slips and no torque acts yet.
fn belt_as_laid(model: &BeltModel, state: &State, quantity: BeltEntry, pulley: usize) -> f64 {
    let (drive, path) = (model.drive(), model.path());
    let stretch = path.length() / drive.rest_length;
    let tension = drive.axial_stiffness * (stretch - 1.0);
    match quantity {
        BeltEntry::TightTension | BeltEntry::SlackTension | BeltEntry::SpanTension => tension,
        BeltEntry::SpanFrequency => {
            let c = (tension * stretch / drive.mass_per_length).sqrt();
            let v = drive.initial_speed;
            (c * c - v * v) / (2.0 * c * path.spans()[pulley])
        }
        BeltEntry::SpanSpeed => drive.initial_speed,
        BeltEntry::Wrap => path.wraps()[pulley],
        BeltEntry::AngularVelocity => model.angular_velocity(state, pulley),
        BeltEntry::SlipArc | BeltEntry::Torque | BeltEntry::Creep => 0.0,
    }
}

/// Residuals at the end of the last step; zero before the first.
pub(super) fn convergence(solver: &SolverView<'_>, entry: ConvergenceEntry) -> f64 {
    let report = solver.xpbd.report();
    match entry {
        ConvergenceEntry::Largest => report.worst.map_or(0.0, |worst| worst.relative),
        ConvergenceEntry::Rms => report.rms,
    }
}

pub(super) fn cable_tension(solver: &SolverView<'_>, list: usize) -> f64 {
    if !solver.stepped {
        return 0.0;
    }
    solver.xpbd.constraint_force(solver.constrained.system(), list, 0)
}
