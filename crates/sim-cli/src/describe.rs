//! `sim describe`.

use crate::failure::Failure;
use clap::Args;
use serde_json::{Value, json};
use sim_core::{MethodInfo, Stability};
use sim_integrate::{STEPPERS, StepperInfo, stepper_info};
use sim_io::run::{methods, xpbd};
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
            let mut all: Vec<Value> = STEPPERS.iter().map(as_json).collect();
            all.push(xpbd_json());
            println!("{}", Value::Array(all));
        } else {
            for method in methods() {
                println!("{:<28} {}", method.id, method.summary);
            }
        }
        return Ok(ExitCode::SUCCESS);
    };
    if id == xpbd::METHOD.id {
        if arguments.json {
            println!("{}", xpbd_json());
        } else {
            claims(xpbd::METHOD, &options(&xpbd::defaults()));
        }
        return Ok(ExitCode::SUCCESS);
    }
    let info =
        stepper_info(id).map_err(|error| Failure::usage(error.to_string()).with("value", id.as_str()))?;
    if arguments.json {
        println!("{}", as_json(info));
    } else {
        claims(info.method, &options(&(info.defaults)()));
    }
    Ok(ExitCode::SUCCESS)
}

fn claims(method: &MethodInfo, options: &str) {
    println!("{}: {}", method.id, method.summary);
    println!("  {}", if method.implicit { "implicit" } else { "explicit" });
    println!("  {}", if method.symplectic { "symplectic" } else { "not symplectic" });
    println!("  order {}, {} when forces depend on velocity", method.order, method.order_velocity_dependent);
    println!("  stability on the undamped oscillator: {}", stability(method));
    println!("  options: {options}");
    println!("  source: {}", method.reference);
    println!("  limitations: {}", method.limitations);
}

fn xpbd_json() -> Value {
    let mut value = json!(xpbd::METHOD);
    value["options"] = xpbd::defaults();
    value
}

fn stability(method: &MethodInfo) -> String {
    match method.stability {
        Stability::Unstable => "grows for every step".into(),
        Stability::Conditional { omega_dt } => format!("bounded for ω dt up to {omega_dt}"),
        Stability::Unconditional => "bounded for every step".into(),
        Stability::LStable => "bounded for every step, stiff modes vanish in one".into(),
    }
}

fn options(defaults: &Value) -> String {
    match defaults {
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
