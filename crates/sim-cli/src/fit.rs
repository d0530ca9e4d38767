//! `sim fit`: the numbers of a material law from a table of measured points.

use crate::failure::Failure;
use clap::{Args, ValueEnum};
use serde_json::json;
use sim_core::{AxialLaw, Law};
use sim_io::fit::{Fit, FitLaw, fit};
use sim_io::report::{self, Badge, Chart, ReportPage, Table};
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Args)]
pub struct FitArguments {
    /// CSV file with a heading: stretch (or strain) and nominal stress (or tension), in any unit.
    table: PathBuf,
    /// Law to fit.
    #[arg(long)]
    law: LawWord,
    /// Terms of Ogden's law, 1 to 4.
    #[arg(long, default_value_t = 3)]
    terms: usize,
    /// Only points up to this stretch.
    #[arg(long, value_name = "STRETCH")]
    up_to: Option<f64>,
    /// Confidence of the intervals, between 0 and 1.
    #[arg(long, default_value_t = 0.95)]
    confidence: f64,
    /// Write a page with the curve and the residuals here.
    #[arg(long, value_name = "FILE.html")]
    out: Option<PathBuf>,
    /// Print one JSON object instead of text.
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, ValueEnum)]
#[value(rename_all = "snake_case")]
enum LawWord {
    Linear,
    Cubic,
    NeoHooke,
    MooneyRivlin,
    Ogden,
}

pub fn execute(arguments: &FitArguments) -> Result<ExitCode, Failure> {
    let (mut points, unit) = read(&arguments.table)?;
    if let Some(most) = arguments.up_to {
        points.retain(|(stretch, _)| *stretch <= most);
    }
    let law = match arguments.law {
        LawWord::Linear => FitLaw::Linear,
        LawWord::Cubic => FitLaw::Cubic,
        LawWord::NeoHooke => FitLaw::NeoHooke,
        LawWord::MooneyRivlin => FitLaw::MooneyRivlin,
        LawWord::Ogden => FitLaw::Ogden(arguments.terms),
    };
    let found = fit(&points, law, arguments.confidence)
        .map_err(|error| Failure::usage(format!("{}: {error}", arguments.table.display())))?;
    if let Some(path) = &arguments.out {
        report::write_page(&page(&found, &unit), path)
            .map_err(|error| Failure::output(format!("{}: {error}", path.display())))?;
    }
    if arguments.json {
        let file = arguments.out.as_ref().map(|path| path.display().to_string());
        println!("{}", json!({ "fit": found, "unit": unit, "elastic": elastic(&found.law), "page": file }));
        return Ok(ExitCode::SUCCESS);
    }
    println!("{}, {} points, in the unit of `{unit}`", found.law.id(), found.points.len());
    for parameter in &found.parameters {
        match parameter.half_width {
            Some(width) => println!("  {:<16} {:>14.6e} ± {width:.2e}", parameter.name, parameter.value),
            None => println!("  {:<16} {:>14.6e}", parameter.name, parameter.value),
        }
    }
    let (largest, place) = found.largest;
    println!(
        "  residual: rms {:.4e}, largest {largest:.4e} at stretch {}; R² {:.6}; intervals of {} %",
        found.rms,
        found.points[place][0],
        found.r_squared,
        100.0 * found.confidence
    );
    println!("{}", elastic(&found.law));
    for warning in &found.warnings {
        println!("note: {warning}");
    }
    if let Some(path) = &arguments.out {
        println!("page: {}", path.display());
    }
    Ok(ExitCode::SUCCESS)
}

/// The law as scenes write it.
fn elastic(law: &Law) -> String {
    let fields = match law {
        Law::Linear(law) => format!("modulus = {:e}", law.modulus),
        Law::Cubic(law) => {
            format!("modulus = {:e}, quadratic = {:e}, cubic = {:e}", law.modulus, law.quadratic, law.cubic)
        }
        Law::NeoHooke(law) => format!("shear_modulus = {:e}", law.shear_modulus),
        Law::MooneyRivlin(law) => format!("c10 = {:e}, c01 = {:e}", law.c10, law.c01),
        Law::Ogden(law) => {
            let terms =
                law.terms.iter().map(|term| format!("{{ mu = {:e}, alpha = {:e} }}", term.mu, term.alpha));
            format!("terms = [{}]", terms.collect::<Vec<_>>().join(", "))
        }
        Law::Table(_) | Law::Cable(_) | Law::Rope(_) => String::new(),
    };
    format!("elastic = {{ kind = \"{}\", {fields} }}", law.id())
}

/// Points of the first two columns, and the heading of the second.
fn read(path: &std::path::Path) -> Result<(Vec<(f64, f64)>, String), Failure> {
    let bad = |message: String| Failure::usage(format!("{}: {message}", path.display()));
    let text = std::fs::read_to_string(path).map_err(|error| bad(error.to_string()))?;
    let mut lines =
        text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty() && !line.starts_with('#'));
    let (_, heading) = lines.next().ok_or_else(|| bad("it is empty".into()))?;
    let names: Vec<&str> = heading.split(',').map(|name| name.trim().trim_matches('"')).collect();
    let [first, second, ..] = names[..] else {
        return Err(bad(format!("line 1 has {} columns; two are needed: stretch and stress", names.len())));
    };
    let offset = match first.to_lowercase() {
        name if name.contains("stretch") => 0.0,
        name if name.contains("strain") => 1.0,
        _ => {
            return Err(bad(format!(
                "the first column is called `{first}`; its heading must contain `stretch` or `strain`"
            )));
        }
    };
    let mut points = Vec::new();
    for (line, text) in lines {
        let mut cells = text.split(',').map(str::trim);
        let mut number = |name: &str| {
            let cell = cells.next().unwrap_or_default();
            let value = cell.parse::<f64>().ok().filter(|value| value.is_finite());
            value.ok_or_else(|| bad(format!("line {}: `{name}` is `{cell}`, not a finite number", line + 1)))
        };
        points.push((offset + number(first)?, number(second)?));
    }
    Ok((points, second.to_owned()))
}

fn page(found: &Fit, unit: &str) -> ReportPage {
    let (low, high) = (found.points.iter())
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), [l, ..]| (low.min(*l), high.max(*l)));
    let fine: Vec<f64> = (0..=300).map(|i| low + (high - low) * f64::from(i) / 300.0).collect();
    let curve = fine.iter().map(|l| found.law.tension(*l)).collect();
    let column = |k: usize| found.points.iter().map(|point| point[k]).collect::<Vec<f64>>();
    let residuals = found.points.iter().map(|[_, stress, fit]| stress - fit).collect();
    let chart = |title: &str, y_label: String, series| Chart {
        title: title.into(),
        x_label: "stretch".into(),
        y_label,
        points: 1,
        series,
        ..Chart::default()
    };
    let rows = (found.parameters.iter())
        .map(|parameter| {
            let width =
                parameter.half_width.map_or_else(|| "unknown".to_owned(), |width| format!("{width:.2e}"));
            (vec![parameter.name.clone(), format!("{:.6e}", parameter.value), width], false)
        })
        .collect();
    let (largest, place) = found.largest;
    ReportPage {
        title: format!("Fit of {}", found.law.id()),
        subtitle: elastic(&found.law),
        badge: Some(Badge {
            text: if found.warnings.is_empty() {
                format!("R² {:.5}", found.r_squared)
            } else {
                format!("R² {:.5}, {} warnings", found.r_squared, found.warnings.len())
            },
            good: found.warnings.is_empty(),
        }),
        warnings: found.warnings.clone(),
        facts: vec![
            ("points".into(), found.points.len().to_string()),
            ("rms residual".into(), format!("{:.4e}", found.rms)),
            ("largest residual".into(), format!("{largest:.4e} at stretch {}", found.points[place][0])),
            ("condition".into(), format!("{:.1e}", found.condition)),
        ],
        charts: vec![
            chart(
                "Stress",
                unit.to_owned(),
                vec![("measured".to_owned(), column(0), column(1)), (found.law.id().to_owned(), fine, curve)],
            ),
            chart(
                "Residuals",
                "measured - law".to_owned(),
                vec![("residual".to_owned(), column(0), residuals)],
            ),
        ],
        tables: vec![Table {
            title: format!("Parameters, intervals of {} %", 100.0 * found.confidence),
            head: vec!["parameter", "value #", "± #"],
            rows,
        }],
        ..ReportPage::default()
    }
}
