//! Parts that are inside or behind what should have stopped them.

use super::Check;
use crate::diagnose::finding::{Finding, short};
use crate::diagnose::patient::Patient;
use crate::edit::Change;
use sim_io::run::result::Frame;
use sim_io::scene::contact::{ColliderSpec, Features, ShapeSpec};

pub(super) const CHECK: Check =
    Check { causes: &[CAUSE], summary: "a part goes through a collider that should stop it", look };

const CAUSE: &str = "passes_through";
/// Depth over the thickness, or over the smallest size of the collider, from which it is no rounding of a contact.
const DEEP: f64 = 0.5;

fn look(patient: &Patient) -> Vec<Finding> {
    let Some(result) = &patient.result else { return Vec::new() };
    let scene = &patient.scene;
    let contact = scene.contact.as_ref();
    let thickness = contact.map_or(0.0, |contact| contact.thickness);
    let mut findings = Vec::new();
    for (part, drawn) in scene.parts.iter().zip(&result.display.parts) {
        let id = part.id();
        let lines: Vec<[usize; 2]> = result
            .display
            .lines
            .iter()
            .map(|line| line.map(|end| end as usize))
            .filter(|line| line.iter().all(|end| drawn.points.contains(end)))
            .collect();
        for collider in &scene.colliders {
            // A moving body is elsewhere in every frame.
            let (Some(place), None) =
                (collider.place.or(Some([0.0; 3])).filter(|_| collider.motion.is_none()), &collider.rotation)
            else {
                continue;
            };
            let body = Body { collider, place };
            let Some((smallest, shape)) = body.size() else { continue };
            let limit = if shape == "plane" {
                (0.5 * thickness).max(1e-3 * patient.size())
            } else {
                (DEEP * thickness).max(0.25 * smallest)
            };
            let Some((depth, t)) = deepest(&body, &result.frames, &lines) else { continue };
            if depth <= limit {
                continue;
            }
            let excluded = contact
                .and_then(|contact| contact.parts.as_ref())
                .is_some_and(|parts| !parts.iter().any(|p| p == id));
            let particles_only = contact.is_some_and(|contact| contact.features == Features::Particles);
            let finding = Finding::fault(CAUSE, format!("part {id} goes into {shape} {}", collider.id))
                .seen(format!("its lines are {} m deep inside at t = {} s", short(depth), short(t)));
            findings.push(if excluded {
                let parts = contact.and_then(|contact| contact.parts.clone()).unwrap_or_default();
                let all: Vec<String> =
                    parts.iter().map(String::as_str).chain([id]).map(|part| format!("\"{part}\"")).collect();
                finding
                    .seen("`contact.parts` does not name it, so that it touches nothing")
                    .remedy("name it in `contact.parts`, or leave the list out: then all parts touch")
                    .change(Change::set("contact.parts", format!("[{}]", all.join(", "))))
            } else if particles_only {
                finding
                    .seen("only its particles touch (`features = \"particles\"`): the lines between them pass")
                    .remedy("let segments and faces touch too (`features = \"all\"`, the default), or use more segments")
                    .change(Change::set("contact.features", "\"all\""))
            } else {
                let substeps = 4 * result.substeps.max(20);
                finding
                    .remedy("take more substeps, and give the part a `contact.thickness`")
                    .change(Change::set("method.substeps", substeps))
            });
        }
    }
    findings
}

/// The deepest point of lines, at their ends and middles, over all frames but the first, with its time.
fn deepest(body: &Body<'_>, frames: &[Frame], lines: &[[usize; 2]]) -> Option<(f64, f64)> {
    let mut deepest = None::<(f64, f64)>;
    for frame in frames.iter().skip(1) {
        for &[a, b] in lines {
            let (a, b) = (frame.positions[a].map(f64::from), frame.positions[b].map(f64::from));
            for share in [0.0, 0.25, 0.5, 0.75, 1.0] {
                let x = std::array::from_fn(|c| a[c] + share * (b[c] - a[c]));
                let depth = body.depth(x);
                if depth > deepest.map_or(0.0, |(depth, _)| depth) {
                    deepest = Some((depth, frame.t));
                }
            }
        }
    }
    deepest
}

/// A collider at rest.
struct Body<'a> {
    collider: &'a ColliderSpec,
    place: [f64; 3],
}

impl Body<'_> {
    /// Smallest size in m, and its name; none for meshes, whose inside is not known here.
    fn size(&self) -> Option<(f64, &'static str)> {
        Some(match &self.collider.shape {
            ShapeSpec::Plane(_) => (f64::INFINITY, "plane"),
            ShapeSpec::Sphere(sphere) => (sphere.radius, "sphere"),
            ShapeSpec::Capsule(capsule) => (capsule.radius, "capsule"),
            ShapeSpec::Box(shape) => (0.5 * shape.size.iter().copied().fold(f64::INFINITY, f64::min), "box"),
            ShapeSpec::Cylinder(cylinder) => (cylinder.radius.min(0.5 * cylinder.length), "cylinder"),
            ShapeSpec::Mesh(_) => return None,
        })
    }

    /// How deep a point is inside, negative outside.
    fn depth(&self, x: [f64; 3]) -> f64 {
        let local = turned_back(self.collider.turn, std::array::from_fn(|c| x[c] - self.place[c]));
        match &self.collider.shape {
            ShapeSpec::Plane(plane) => -dot(local, unit(plane.normal)),
            ShapeSpec::Sphere(sphere) => sphere.radius - norm(local),
            ShapeSpec::Capsule(capsule) => {
                let axis = unit(capsule.axis);
                let along = dot(local, axis).clamp(-0.5 * capsule.length, 0.5 * capsule.length);
                capsule.radius - norm(std::array::from_fn(|c| local[c] - along * axis[c]))
            }
            ShapeSpec::Box(shape) => {
                (0..3).map(|c| 0.5 * shape.size[c] - local[c].abs()).fold(f64::INFINITY, f64::min)
            }
            ShapeSpec::Cylinder(cylinder) => {
                let axis = unit(cylinder.axis);
                let along = dot(local, axis);
                let out = norm(std::array::from_fn(|c| local[c] - along * axis[c]));
                (cylinder.radius - out).min(0.5 * cylinder.length - along.abs())
            }
            ShapeSpec::Mesh(_) => f64::NEG_INFINITY,
        }
    }
}

fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

fn norm(a: [f64; 3]) -> f64 {
    dot(a, a).sqrt()
}

fn unit(a: [f64; 3]) -> [f64; 3] {
    let size = norm(a);
    a.map(|v| v / size)
}

/// Rotation by minus a rotation vector (Rodrigues).
fn turned_back(turn: [f64; 3], x: [f64; 3]) -> [f64; 3] {
    let angle = norm(turn);
    if angle == 0.0 {
        return x;
    }
    let (axis, sin, cos) = (turn.map(|v| v / angle), (-angle).sin(), angle.cos());
    let cross =
        [axis[1] * x[2] - axis[2] * x[1], axis[2] * x[0] - axis[0] * x[2], axis[0] * x[1] - axis[1] * x[0]];
    let along = dot(axis, x) * (1.0 - cos);
    std::array::from_fn(|c| cos * x[c] + sin * cross[c] + along * axis[c])
}
