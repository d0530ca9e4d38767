//! Forces of the scene as forces of the model.

use super::lay::{Bending, Laid};
use super::{Layout, select};
use crate::scene::check::At;
use crate::scene::error::SceneError;
use crate::scene::force::ForceSpec;
use sim_core::ParticleSystemBuilder;
use sim_core::force::gravity::Gravity;
use sim_core::force::mass_damping::MassDamping;

pub(super) fn add(
    force: &ForceSpec,
    _layout: &Layout,
    _laid: &[Laid],
    _q: &[f64],
    at: &At<'_>,
    builder: ParticleSystemBuilder,
) -> Result<ParticleSystemBuilder, SceneError> {
    let _ = (at, select::particles);
    Ok(match force {
        ForceSpec::Gravity(gravity) => builder.force(Gravity::new(gravity.acceleration)),
        ForceSpec::MassDamping(damping) => builder.force(MassDamping::new(damping.rate)),
        _ => unreachable!("wired below"),
    })
}

pub(super) fn bending(laid: &Laid, _first: usize, builder: ParticleSystemBuilder) -> ParticleSystemBuilder {
    match laid.bending {
        Bending::None => builder,
        Bending::Line(_) | Bending::Loop(_) | Bending::Surface(_) => builder,
    }
}
