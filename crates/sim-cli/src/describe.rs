//! `sim describe`.

use crate::failure::Failure;
use clap::Args;
use serde_json::{Value, json};
use sim_core::{MethodInfo, Stability};
use sim_integrate::{STEPPERS, StepperInfo, stepper_info};
use std::process::ExitCode;

#[derive(Args)]
pub struct DescribeArguments {
    /// Method id; all methods when absent.
    method: Option<String>,
    /// Print JSON instead of text.
    #[arg(long)]
    json: bool,
}

pub fn execute(arguments: &DescribeArguments) -> Result<ExitCode, Failure> {
    let Some(id) = &arguments.method else {
        if arguments.json {
            println!("{}", Value::Array(STEPPERS.iter().map(as_json).collect()));
        } else {
            for info in STEPPERS {
                println!("{:<28} {}", info.method.id, info.method.summary);
            }
        }
        return Ok(ExitCode::SUCCESS);
    };
    let info =
        stepper_info(id).map_err(|error| Failure::usage(error.to_string()).with("value", id.as_str()))?;
    if arguments.json {
        println!("{}", as_json(info));
    } else {
        let method = info.method;
        println!("{}: {}", method.id, method.summary);
        println!("  {}", if method.implicit { "implicit" } else { "explicit" });
        println!("  {}", if method.symplectic { "symplectic" } else { "not symplectic" });
        println!(
            "  order {}, {} when forces depend on velocity",
            method.order, method.order_velocity_dependent
        );
        println!("  stability on the undamped oscillator: {}", stability(method));
        println!("  options: {}", options(info));
        println!("  source: {}", method.reference);
        println!("  limitations: {}", method.limitations);
    }
    Ok(ExitCode::SUCCESS)
}

fn stability(method: &MethodInfo) -> String {
    match method.stability {
        Stability::Unstable => "grows for every step".into(),
        Stability::Conditional { omega_dt } => format!("bounded for ω dt up to {omega_dt}"),
        Stability::Unconditional => "bounded for every step".into(),
        Stability::LStable => "bounded for every step, stiff modes vanish in one".into(),
    }
}

fn options(info: &StepperInfo) -> String {
    match (info.defaults)() {
        Value::Object(map) if !map.is_empty() => {
            map.iter().map(|(key, value)| format!("{key} = {value}")).collect::<Vec<_>>().join(", ")
        }
        _ => "none".into(),
    }
}

fn as_json(info: &StepperInfo) -> Value {
    let mut value = json!(info.method);
    value["options"] = (info.defaults)();
    value
}
