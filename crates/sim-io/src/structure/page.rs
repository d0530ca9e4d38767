//! The page of a structure's analysis.

use super::analyse::Findings;
use super::build::BuiltStructure;
use super::display;
use super::document::StructureScene;
use super::measure::Gauge;
use super::result::StructureResult;
use crate::report::summary::{number, unit, verdicts};
use crate::report::{Chart, ReportPage};

/// Most members whose forces are charted.
const CHARTED: usize = 5000;

/// Curves of an analysis.
pub(super) fn charts(built: &BuiltStructure, gauges: &[Gauge], found: &Findings) -> Vec<Chart> {
    let mut charts = Vec::new();
    let transient = found.dt.is_some();
    if found.places.len() > 1 && !transient {
        let series: Vec<_> = gauges
            .iter()
            .filter(|gauge| gauge.is_displacement())
            .map(|gauge| (gauge.name.clone(), gauge.values.clone(), found.places.clone()))
            .collect();
        if !series.is_empty() {
            charts.push(Chart {
                title: "Load and displacement".into(),
                x_label: "displacement [m]".into(),
                y_label: "load factor".into(),
                log: false,
                series,
                ..Chart::default()
            });
        }
    }
    if found.places.len() > 1 {
        let mut units: Vec<&'static str> = Vec::new();
        for gauge in gauges.iter().filter(|gauge| transient || !gauge.is_displacement()) {
            if !units.contains(&gauge.unit) {
                units.push(gauge.unit);
            }
        }
        for wanted in units {
            let mut shown: Vec<&Gauge> = Vec::new();
            for gauge in gauges.iter().filter(|g| g.unit == wanted && (transient || !g.is_displacement())) {
                if !shown.iter().any(|earlier| earlier.same_reading(gauge)) {
                    shown.push(gauge);
                }
            }
            charts.push(Chart {
                title: match shown[..] {
                    [only] => only.name.clone(),
                    _ => format!("Probes in {}", if wanted == "1" { "pure numbers" } else { wanted }),
                },
                x_label: if transient { "t [s]" } else { "load factor" }.into(),
                y_label: unit(wanted).to_owned(),
                log: false,
                series: (shown.iter())
                    .map(|gauge| (gauge.name.clone(), found.places.clone(), gauge.values.clone()))
                    .collect(),
                ..Chart::default()
            });
        }
    }
    charts.extend(found.charts.iter().cloned());
    if let Some(end) = &found.end
        && (2..=CHARTED).contains(&end.members.len())
        && end.members.iter().any(|member| member.axial_force != end.members[0].axial_force)
    {
        let series = (built.groups.iter())
            .filter(|group| !group.members.is_empty())
            .map(|group| {
                let numbers = (0..group.members.len()).map(|i| i as f64).collect();
                let forces = group.members.clone().map(|i| end.members[i].axial_force).collect();
                (group.id.clone(), numbers, forces)
            })
            .collect();
        charts.push(Chart {
            title: "Axial force".into(),
            x_label: "member of its group".into(),
            y_label: "N".into(),
            log: false,
            series,
            ..Chart::default()
        });
    }
    charts
}

/// The whole page; `failure` says why there is no result.
pub(super) fn page(scene: &StructureScene, result: &StructureResult, failure: Option<String>) -> ReportPage {
    let size = result.size();
    let (drawing, magnification) = display::drawing(scene, result);
    let note = if !display::is_physical(result) {
        "One period of each shape drawn (the lowest six modes at most), one after the other. Shapes have no scale of their own.".to_owned()
    } else if (magnification - 1.0).abs() < 1e-12 {
        "Displacements are drawn as they are.".to_owned()
    } else {
        format!("Displacements are drawn {} times as large as they are.", number(magnification))
    };
    let mut facts = vec![
        ("analysis".to_owned(), result.analysis.replace('_', " ")),
        ("nodes".to_owned(), size.nodes.to_string()),
        ("members".to_owned(), size.members.to_string()),
        ("unknowns".to_owned(), size.unknowns.to_string()),
        ("mass".to_owned(), format!("{} kg", number(result.built.structure.total_mass()))),
    ];
    if let Some(dt) = result.dt {
        facts.push(("step".to_owned(), format!("{} s, {} steps", number(dt), result.steps)));
    }
    facts.extend(result.facts.iter().cloned());
    if let Some(end) = &result.end {
        facts.push(("strain energy".to_owned(), format!("{} J", number(end.strain_energy))));
        let most = (end.members.iter().enumerate())
            .filter_map(|(i, member)| Some((i, member.utilisation?)))
            .max_by(|a, b| a.1.total_cmp(&b.1));
        if let Some((member, share)) = most {
            let name = result.built.member_name(member);
            facts.push(("most used member".to_owned(), format!("{name} at {:.1} %", 100.0 * share)));
        }
    }
    facts.push(("wall time".to_owned(), format!("{:.2} s", result.wall_s)));
    ReportPage {
        title: if result.title.is_empty() { result.scene.clone() } else { result.title.clone() },
        subtitle: result.description.clone(),
        badge: None,
        failure,
        warnings: result.warnings.clone(),
        facts,
        verdicts: verdicts(&result.expectations, &result.probes),
        probes: (result.probes.iter())
            .map(|(name, probe)| (name.clone(), number(probe.value), unit(probe.unit).to_owned()))
            .collect(),
        drawing_note: drawing.is_some().then_some(note),
        drawing,
        charts: result.charts.clone(),
        tables: Vec::new(),
    }
}
