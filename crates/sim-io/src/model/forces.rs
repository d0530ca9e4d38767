//! Forces of the scene as forces of the model.

use super::lay::{Bending, Laid};
use super::{Layout, PartLayout, select};
use crate::scene::check::At;
use crate::scene::error::SceneError;
use crate::scene::force::{ForceSpec, SegmentDragSpec, WindSpec};
use sim_core::force::air_drag::AirDrag;
use sim_core::force::cloth_hinge::{ClothHinge, ClothHinges};
use sim_core::force::gravity::Gravity;
use sim_core::force::mass_damping::MassDamping;
use sim_core::force::point_load::{PointLoad, PointLoads};
use sim_core::force::rope_hinge::{RestShape, RopeHinge, RopeHinges};
use sim_core::force::segment_drag::{SegmentDrag, SegmentDragOptions};
use sim_core::force::wind::{Wind, WindOptions};
use sim_core::{AirFlow, ParticleSystemBuilder};

/// How much faster than the air alone a face may meet it before the step bound stops covering the drag.
const SPEED_RESERVE: f64 = 2.0;

/// The scene's parts, by layout and by themselves.
pub(super) struct Parts<'a> {
    pub layout: &'a Layout,
    pub laid: &'a [Laid],
}

impl<'a> Parts<'a> {
    /// The part of that id, or all parts.
    fn chosen(&self, id: Option<&'a str>) -> impl Iterator<Item = (&'a PartLayout, &'a Laid)> {
        self.layout.parts.iter().zip(self.laid).filter(move |(part, _)| id.is_none_or(|id| part.id == id))
    }
}

pub(super) fn add(
    force: &ForceSpec,
    parts: &Parts<'_>,
    q: &[f64],
    at: &At<'_>,
    builder: ParticleSystemBuilder,
) -> Result<ParticleSystemBuilder, SceneError> {
    Ok(match force {
        ForceSpec::Gravity(gravity) => builder.force(Gravity::new(gravity.acceleration)),
        ForceSpec::MassDamping(damping) => builder.force(MassDamping { rate: damping.rate }),
        ForceSpec::PointLoad(load) => {
            let particles = select::particles(&load.at, parts.layout.part(&load.part), q, &at.field("at"))?;
            builder.force(PointLoads::new(particles.into_iter().map(|particle| PointLoad {
                particle: particle as u32,
                force: load.force,
                curve: load.curve.clone(),
            })))
        }
        ForceSpec::AirDrag(drag) => builder.force(AirDrag {
            linear: drag.linear,
            quadratic: drag.quadratic,
            bound_speed: drag.bound_speed.unwrap_or(0.0),
        }),
        ForceSpec::SegmentDrag(drag) => builder.force(segment_drag(drag, parts, at)?),
        ForceSpec::Wind(wind) => builder.force(wind_on_faces(wind, parts, at)?),
    })
}

fn nothing_to_act_on(at: &At<'_>, part: Option<&String>, what: &str) -> SceneError {
    SceneError::Reference {
        place: at.field("part").place(),
        value: part.map_or("all parts".to_owned(), |part| format!("`{part}`")),
        what: format!("there is no {what} for it to act on"),
        suggestion: None,
    }
}

fn segment_drag(spec: &SegmentDragSpec, parts: &Parts<'_>, at: &At<'_>) -> Result<SegmentDrag, SceneError> {
    let springs = &parts.layout.springs;
    let segments: Vec<([u32; 2], f64)> = parts
        .chosen(spec.part.as_deref())
        .filter(|(_, laid)| laid.topology.triangles.is_empty() && laid.topology.quads.is_empty())
        .flat_map(|(part, _)| part.structural.clone())
        .map(|index| springs.get(index))
        .map(|spring| (spring.ends, spring.rest_length))
        .collect();
    if segments.is_empty() {
        return Err(nothing_to_act_on(at, spec.part.as_ref(), "segment of a line"));
    }
    let air = AirFlow {
        velocity: spec.velocity,
        gust: spec.gust,
        gust_frequency: spec.gust_frequency,
        gust_phase: 0.0,
    };
    let options = SegmentDragOptions {
        normal: spec.normal,
        tangential: spec.tangential,
        air,
        bound_speed: spec.bound_speed,
    };
    Ok(SegmentDrag::new(options, segments))
}

fn wind_on_faces(spec: &WindSpec, parts: &Parts<'_>, at: &At<'_>) -> Result<Wind, SceneError> {
    let mut faces: Vec<[u32; 3]> = Vec::new();
    for (part, laid) in parts.chosen(spec.part.as_deref()) {
        let halves = laid.topology.quads.iter().flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]);
        let first = part.particles.start as u32;
        faces.extend(
            laid.topology.triangles.iter().copied().chain(halves).map(|face| face.map(|i| i + first)),
        );
    }
    if faces.is_empty() {
        return Err(nothing_to_act_on(at, spec.part.as_ref(), "face"));
    }
    let air = AirFlow {
        velocity: spec.velocity,
        gust: spec.gust,
        gust_frequency: spec.gust_frequency,
        gust_phase: 0.0,
    };
    let options = WindOptions {
        air_density: spec.air_density,
        normal_coefficient: spec.normal_coefficient,
        tangential_coefficient: spec.tangential_coefficient,
        air,
        bound_speed: spec.bound_speed.unwrap_or(SPEED_RESERVE * air.max_speed()),
    };
    Ok(Wind::new(options, faces))
}

/// Adds what resists the bending of a part whose particles start at `first`.
pub(super) fn bending(laid: &Laid, first: usize, builder: ParticleSystemBuilder) -> ParticleSystemBuilder {
    let first = first as u32;
    let line = |builder: ParticleSystemBuilder, stiffness, rest| {
        let hinges = RopeHinge::along(&laid.topology, stiffness, rest);
        builder.force(RopeHinges::new(hinges.iter().map(|(ends, law)| (ends.map(|i| i + first), *law))))
    };
    match laid.bending {
        Bending::None => builder,
        Bending::Line(stiffness) => line(builder, stiffness, RestShape::Flat),
        Bending::Loop(stiffness) => line(builder, stiffness, RestShape::Geometry),
        Bending::Surface(stiffness) => {
            let hinges = ClothHinge::over(&laid.topology, stiffness, RestShape::Geometry);
            builder.force(ClothHinges::new(hinges.iter().map(|(ends, law)| (ends.map(|i| i + first), *law))))
        }
    }
}
