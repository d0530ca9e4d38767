//! Elements against one another and against closed forms: what derivatives cannot tell, a wrong number in the energy itself.

use crate::verify::cases::{CaseError, relative, worst};
use nalgebra::{DMatrix, Vector3};
use sim_fem::StructureBuilder;
use sim_fem::analysis::linear_static::linear_static;
use sim_fem::beam::Orientation;
use sim_fem::elements::corotational_beam::CorotationalBeam;
use sim_fem::elements::euler_bernoulli_beam::EulerBernoulliBeam;
use sim_fem::elements::nonlinear_truss::{NonlinearTruss, StrainMeasure, Unstretched};
use sim_fem::elements::planar_corotational_beam::PlanarCorotationalBeam;
use sim_fem::elements::tension_cable::TensionCable;
use sim_fem::elements::timoshenko_beam::TimoshenkoBeam;
use sim_fem::elements::truss::Truss;
use sim_fem::elements::{Element, LocalMatrix};
use sim_fem::factor::FactorKind;
use sim_fem::load::Direction;
use sim_fem::material::{Material, Section, SectionProperties};
use sim_verify::Claim;

/// Different about its two axes, and soft enough in shear for it to matter.
const SECTION: Section =
    Section::I { width: 0.12, height: 0.2, flange_thickness: 0.012, web_thickness: 0.007 };

fn material() -> Material {
    Material::new(2.1e9).with_poissons_ratio(0.27).with_density(7850.0)
}

/// Tangent of the reference shape.
fn tangent(element: &dyn Element, x: &[Vector3<f64>; 2]) -> DMatrix<f64> {
    let n = element.dof_count();
    let mut matrix = LocalMatrix::zeros(n);
    element.tangent(x, &vec![0.0; n], &mut matrix);
    DMatrix::from_fn(n, n, |i, j| matrix.get(i, j))
}

/// Relative distance of two matrices on the given rows and columns.
fn apart(a: &DMatrix<f64>, b: &DMatrix<f64>, dofs: &[usize]) -> f64 {
    let pairs = dofs.iter().flat_map(|&i| dofs.iter().map(move |&j| (i, j)));
    worst(pairs.map(|place| (a[place] - b[place]).abs())) / b.amax()
}

pub(super) fn claims() -> Result<Vec<Claim>, CaseError> {
    let x = [Vector3::new(0.3, -0.2, 0.1), Vector3::new(1.1, 0.5, 0.9)];
    let flat = [x[0], Vector3::new(x[1].x, x[1].y, x[0].z)];
    let (material, orientation) = (material(), Orientation::Toward([0.3, -0.2, 1.0]));
    let bar = tangent(&Truss::new(&material, &SECTION)?, &x);
    let nonlinear = NonlinearTruss::new(&material, &SECTION)?;
    // Just taut, so that it carries at all.
    let cable = TensionCable::new(&material, &SECTION)?.with_unstretched(Unstretched::Factor(1.0 - 1e-12));
    let bars = worst([
        apart(&tangent(&nonlinear, &x), &bar, &[0, 1, 2, 3, 4, 5]),
        apart(&tangent(&nonlinear.with_measure(StrainMeasure::GreenLagrange), &x), &bar, &[0, 1, 2, 3, 4, 5]),
        apart(&tangent(&cable, &x), &bar, &[0, 1, 2, 3, 4, 5]),
    ]);
    let all: Vec<usize> = (0..12).collect();
    let thick = tangent(&TimoshenkoBeam::new(&material, &SECTION, orientation)?, &x);
    let turning = tangent(&CorotationalBeam::new(&material, &SECTION, orientation)?, &x);
    let rigid = SectionProperties { shear_area_y: 0.0, shear_area_z: 0.0, ..SECTION.properties()? };
    let slender = tangent(&EulerBernoulliBeam::new(&material, &SECTION, orientation)?, &x);
    let stiff = tangent(&TimoshenkoBeam::new(&material, &Section::Numbers(rigid), orientation)?, &x);
    let upright = TimoshenkoBeam::new(&material, &SECTION, Orientation::Upright)?;
    let planar = PlanarCorotationalBeam::new(&material, &SECTION)?;
    let in_plane = apart(&tangent(&planar, &flat), &tangent(&upright, &flat), &[0, 1, 5, 6, 7, 11]);
    let small = "small displacements are the same";
    let claim = |part: &str, what: &str, limit: f64, measured: f64, source: &str| {
        Claim::at_most(format!("element/alike/{part}"), what, limit, measured, source)
    };
    let [bending, twist, stretch] = cantilever(&x, orientation)?;
    Ok(vec![
        claim(
            "bars",
            "tangents of non-linear trusses and cables at rest from the truss's",
            1e-9,
            bars,
            small,
        ),
        claim(
            "slack",
            "force, energy, tangent and damping of a slack cable, and of a taut one closing fast",
            0.0,
            slack(&x)?,
            "it cannot push",
        ),
        claim(
            "corotational",
            "tangent of the corotational beam at rest from Timoshenko's",
            1e-9,
            apart(&turning, &thick, &all),
            small,
        ),
        claim("planar", "the same of the planar one, in its plane", 1e-9, in_plane, small),
        claim(
            "slender",
            "tangent of the Euler-Bernoulli beam from one rigid in shear",
            1e-12,
            apart(&slender, &stiff, &all),
            small,
        ),
        claim(
            "bending",
            "Timoshenko cantilever in space: tip across both axes, relative distance",
            1e-10,
            bending,
            "PL³/(3EI) + PL/(κGA)",
        ),
        claim(
            "end_forces",
            "end forces that beams report, at rotations of a tenth: their size from that of the internal forces",
            1e-3,
            end_forces(&x, orientation, 0.1)?[0],
            "equilibrium",
        ),
        claim(
            "end_moments",
            "end moments that beams report, in a small displacement: their size from that of the internal moments",
            1e-3,
            end_forces(&x, orientation, 1e-5)?[1],
            "equilibrium",
        ),
        claim("twist", "its twist, relative distance", 1e-10, twist, "TL/(GJ)"),
        claim("stretch", "its stretch, relative distance", 1e-10, stretch, "PL/(EA)"),
    ])
}

/// Relative distance of the sizes of reported forces and moments from those of the internal ones, over ends and beams.
fn end_forces(x: &[Vector3<f64>; 2], orientation: Orientation, factor: f64) -> Result<[f64; 2], CaseError> {
    let u = [0.1, -0.2, 0.05, 0.9, -0.3, 0.8, -0.5, 0.5, -0.2, 1.2, -0.1, 0.6].map(|u| factor * u);
    let material = material();
    let beams: [Box<dyn Element>; 3] = [
        Box::new(EulerBernoulliBeam::new(&material, &SECTION, orientation)?),
        Box::new(TimoshenkoBeam::new(&material, &SECTION, orientation)?),
        Box::new(CorotationalBeam::new(&material, &SECTION, orientation)?),
    ];
    let mut apart = [0.0_f64; 2];
    for beam in beams {
        let mut force = [0.0; 12];
        beam.internal_force(x, &u, &mut force);
        let reported = beam.member_result(x, &u).end_forces;
        let size = |part: &[f64]| part.iter().map(|f| f * f).sum::<f64>().sqrt();
        for (end, local) in reported.iter().enumerate() {
            for (kind, apart) in apart.iter_mut().enumerate() {
                let internal = size(&force[6 * end + 3 * kind..6 * end + 3 * kind + 3]);
                *apart = worst([*apart, (size(&local[3 * kind..3 * kind + 3]) / internal - 1.0).abs()]);
            }
        }
    }
    Ok(apart)
}

/// What a cable with a dashpot carries that must carry nothing: slack, and taut but closing so fast that the dashpot would push.
fn slack(x: &[Vector3<f64>; 2]) -> Result<f64, CaseError> {
    let cable = TensionCable::new(&material(), &SECTION)?.with_damping(1e4);
    let carries = |factor: f64, speed: f64| {
        let cable = cable.with_unstretched(Unstretched::Factor(factor));
        let v: Vec<f64> = [Vector3::zeros(), (x[1] - x[0]) * speed].iter().flatten().copied().collect();
        let (mut elastic, mut viscous) = ([0.0; 6], [0.0; 6]);
        cable.internal_force(x, &[0.0; 6], &mut elastic);
        cable.viscous_force(x, &[0.0; 6], &v, &mut viscous);
        let mut damping = LocalMatrix::zeros(6);
        cable.damping_matrix(x, &[0.0; 6], &v, &mut damping);
        let total = worst(elastic.iter().zip(&viscous).map(|(a, b)| (a + b).abs()));
        worst([total, damping.get(3, 3).abs(), damping.get(4, 1).abs()])
    };
    let loose = cable.with_unstretched(Unstretched::Factor(1.1));
    let stored = loose.strain_energy(x, &[0.0; 6]) + loose.member_result(x, &[0.0; 6]).axial_force.abs();
    Ok(worst([
        carries(1.1, 0.5),
        carries(1.1, -0.5),
        carries(0.999, -1e6),
        stored,
        tangent(&loose, x).amax(),
    ]))
}

/// Relative distances of deflections, twist and stretch of a cantilever between two points from their closed forms.
fn cantilever(x: &[Vector3<f64>; 2], orientation: Orientation) -> Result<[f64; 3], CaseError> {
    let (material, section) = (material(), SECTION.properties()?);
    let length = (x[1] - x[0]).norm();
    let axes = orientation.axes(&((x[1] - x[0]) / length))?;
    let load = 100.0;
    // Translation and rotation of the tip, in local axes, under a unit vector of force or moment along a local axis.
    let tip = |axis: usize, moment: bool| -> Result<[f64; 2], CaseError> {
        let mut builder = StructureBuilder::new();
        builder.nodes(x.map(Into::into));
        builder.element(TimoshenkoBeam::new(&material, &SECTION, orientation)?, &[0, 1]);
        builder.clamp(0);
        let along = axes.row(axis);
        for k in 0..3 {
            builder.force(1, Direction::ALL[k + if moment { 3 } else { 0 }], load * along[k]);
        }
        let structure = builder.build()?;
        let report = linear_static(&structure, 0.0, FactorKind::Auto)?;
        let value = |first: usize| {
            (0..3)
                .map(|k| along[k] * structure.value(&report.displacement, 1, Direction::ALL[first + k]))
                .sum()
        };
        Ok([value(0), value(3)])
    };
    let (e, g) = (material.youngs_modulus, material.shear_modulus());
    let deflection =
        |inertia: f64, area: f64| load * length.powi(3) / (3.0 * e * inertia) + load * length / (g * area);
    Ok([
        worst([
            relative(tip(1, false)?[0], deflection(section.inertia_z, section.shear_area_y)),
            relative(tip(2, false)?[0], deflection(section.inertia_y, section.shear_area_z)),
        ]),
        relative(tip(0, true)?[1], load * length / (g * section.torsion)),
        relative(tip(0, false)?[0], load * length / (e * section.area)),
    ])
}
