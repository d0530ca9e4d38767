//! Materials, sections and elements from their tables.

use crate::scene::check::At;
use crate::scene::error::SceneError;
use crate::structure::document::{MemberSpec, SectionSpec, StructureMaterial, StructureScene};
use sim_fem::elements::Element;
use sim_fem::elements::catenary_cable::CatenaryCable;
use sim_fem::elements::corotational_beam::CorotationalBeam;
use sim_fem::elements::dashpot::Dashpot;
use sim_fem::elements::euler_bernoulli_beam::EulerBernoulliBeam;
use sim_fem::elements::ground_spring::GroundSpring;
use sim_fem::elements::nonlinear_truss::{NonlinearTruss, Unstretched};
use sim_fem::elements::planar_corotational_beam::PlanarCorotationalBeam;
use sim_fem::elements::point_mass::PointMass;
use sim_fem::elements::tension_cable::TensionCable;
use sim_fem::elements::timoshenko_beam::TimoshenkoBeam;
use sim_fem::elements::truss::Truss;
use sim_fem::material::{Material, Section, ValueError};

pub(super) fn material(material: &StructureMaterial) -> Material {
    let StructureMaterial { youngs_modulus, poisson_ratio, density, strength } = *material;
    Material { youngs_modulus, poissons_ratio: poisson_ratio, density, strength }
}

pub(super) fn section(section: &SectionSpec) -> Section {
    match *section {
        SectionSpec::Round(s) => Section::Round { diameter: s.diameter },
        SectionSpec::Tube(s) => Section::Tube { outer_diameter: s.outer_diameter, thickness: s.thickness },
        SectionSpec::Rectangle(s) => Section::Rectangle { width: s.width, height: s.height },
        SectionSpec::I(s) => Section::I {
            width: s.width,
            height: s.height,
            flange_thickness: s.flange_thickness,
            web_thickness: s.web_thickness,
        },
        SectionSpec::Numbers(numbers) => Section::Numbers(numbers),
    }
}

/// One member of a group.
pub(super) fn element(
    scene: &StructureScene,
    spec: &MemberSpec,
    divisions: usize,
    at: &At<'_>,
) -> Result<Box<dyn Element>, SceneError> {
    let material = spec.material.as_ref().map(|name| material(&scene.materials[name]));
    let section = spec.section.as_ref().map(|name| section(&scene.sections[name]));
    // Checked before: a kind that needs them has them.
    let material = material.unwrap_or(Material::new(1.0));
    let section = section.unwrap_or(Section::area(1.0));
    let unstretched = spec.unstretched.map_or(Unstretched::Reference, |u| u.of_one(divisions));
    let orientation = spec.orientation.unwrap_or_default();
    let made: Result<Box<dyn Element>, ValueError> = match spec.kind.as_str() {
        "truss" => Truss::new(&material, &section).map(boxed),
        "nonlinear_truss" => NonlinearTruss::new(&material, &section).map(|bar| {
            boxed(bar.with_measure(spec.measure.unwrap_or_default()).with_unstretched(unstretched))
        }),
        "tension_cable" => TensionCable::new(&material, &section).map(|cable| {
            boxed(cable.with_unstretched(unstretched).with_damping(spec.axial_damping.unwrap_or(0.0)))
        }),
        "catenary_cable" => {
            let Unstretched::Length(length) = unstretched else {
                return Err(at.field("unstretched").refuse(
                        "that",
                        "`length` or `total_length` for a catenary_cable, which always hangs longer than its span",
                    ));
            };
            CatenaryCable::new(&material, &section, length, spec.gravity.unwrap_or_default()).map(boxed)
        }
        "euler_bernoulli_beam" => EulerBernoulliBeam::new(&material, &section, orientation).map(boxed),
        "timoshenko_beam" => TimoshenkoBeam::new(&material, &section, orientation).map(boxed),
        "corotational_beam" => CorotationalBeam::new(&material, &section, orientation).map(boxed),
        "planar_corotational_beam" => PlanarCorotationalBeam::new(&material, &section).map(boxed),
        "point_mass" => {
            PointMass::with_rotary_inertia(spec.mass.unwrap_or(0.0), spec.rotary_inertia.unwrap_or(0.0))
                .map(boxed)
        }
        "ground_spring" => GroundSpring::new(spec.stiffness.unwrap_or_default()).map(boxed),
        _ => Dashpot::new(spec.damping.unwrap_or_default()).map(boxed),
    };
    made.map_err(|error| at.field(error.field).refuse(error.value, error.requirement))
}

fn boxed(element: impl Element + 'static) -> Box<dyn Element> {
    Box::new(element)
}
