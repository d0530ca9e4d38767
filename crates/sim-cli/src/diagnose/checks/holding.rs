//! Parts that nothing holds.

use super::Check;
use crate::diagnose::finding::{Finding, short};
use crate::diagnose::patient::{Patient, bounds};
use crate::edit::Change;
use sim_io::scene::part::Part;

pub(super) const CHECK: Check =
    Check { causes: &[CAUSE], summary: "a part falls for ever because nothing holds it", look };

const CAUSE: &str = "nothing_holds";
/// A fall of so many times the part's own size is hardly meant.
const FAR: f64 = 20.0;

fn look(patient: &Patient) -> Vec<Finding> {
    let scene = &patient.scene;
    let gravity = patient.gravity();
    let fall = 0.5 * gravity * scene.time.duration.powi(2);
    if gravity == 0.0 || !scene.colliders.is_empty() || !scene.cables.is_empty() {
        return Vec::new();
    }
    let q = &patient.model.state.q;
    let mut findings = Vec::new();
    for (index, (part, layout)) in scene.parts.iter().zip(&patient.model.layout.parts).enumerate() {
        let id = part.id();
        let held =
            scene.pins.iter().any(|pin| pin.part == id) || scene.drives.iter().any(|drive| drive.part == id);
        let driven = matches!(part, Part::Belt(belt) if belt.is_drive());
        let own = &q[3 * layout.particles.start..3 * layout.particles.end];
        let [low, high] = bounds(own);
        let size = (0..3).map(|c| (high[c] - low[c]).powi(2)).sum::<f64>().sqrt();
        if held || driven || fall < FAR * size {
            continue;
        }
        let at = match part {
            Part::Cloth(_) => "\"corners\"",
            Part::Rope(_) | Part::Coil(_) | Part::Belt(_) => "\"start\"",
            Part::Mesh(_) | Part::Particles(_) => "0",
        };
        let at = if matches!(part, Part::Belt(_)) { "0" } else { at };
        let others = scene.pins.iter().map(|pin| pin.part.as_str()).find(|other| *other != id);
        let mut finding = Finding::fault(CAUSE, format!("nothing holds part {id}")).seen(format!(
            "in {} s it falls {} m, {} times its own size",
            short(scene.time.duration),
            short(fall),
            short(fall / size)
        ));
        if let Some(other) = others {
            finding = finding.seen(format!(
                "there is a pin, but of part {other}; parts are not joined by touching at the start"
            ));
        }
        findings.push(
            finding
                .remedy(format!("hold it with a `[[pin]]`, e.g. at {at}, or put something under it"))
                .change(Change::add("pin", format!("part = \"{id}\"\nat = {at}\n"))),
        );
        let _ = index;
    }
    findings
}
