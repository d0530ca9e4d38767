//! Time stepping methods: one file each below `steppers/`, one line each in [`STEPPERS`].

use crate::OptionsError;
use crate::remembering::Remembering;
use crate::stability::StepLimit;
use serde::de::DeserializeOwned;
use serde_json::Value;
use sim_core::{MethodInfo, ModelSystem, Stepper};

/// A stepper for any model, as a registry hands it out.
pub type BoxedStepper = Box<dyn Stepper<dyn ModelSystem> + Send>;

/// A registry entry: what a method claims, how long its steps may be, and how to make one.
#[derive(Clone, Copy, Debug)]
pub struct StepperInfo {
    /// Claims.
    pub method: &'static MethodInfo,
    /// What is known about its largest stable step with options that it [`covers`](Self::covers).
    pub limit: StepLimit,
    /// Whether `limit` is known to hold with these options; it does with the defaults.
    pub covers: fn(&Value) -> bool,
    /// The options with their default values; null when there are none.
    pub defaults: fn() -> Value,
    /// Makes a stepper from options; null or an empty table means the defaults.
    pub build: fn(&Value) -> Result<BoxedStepper, OptionsError>,
}

pub mod explicit_euler;
pub mod explicit_midpoint;
#[cfg(feature = "implicit")]
pub mod generalized_alpha;
#[cfg(feature = "implicit")]
pub mod imex;
#[cfg(feature = "implicit")]
pub mod implicit_euler;
#[cfg(feature = "implicit")]
pub mod implicit_midpoint;
pub mod leapfrog;
pub mod position_verlet;
pub mod runge_kutta4;
pub mod symplectic_euler;
pub mod symplectic_euler_drift_kick;
#[cfg(feature = "implicit")]
pub mod theta_mixed;
#[cfg(feature = "implicit")]
pub mod tr_bdf2;
#[cfg(feature = "implicit")]
pub mod trapezoidal;

/// Every method.
pub static STEPPERS: &[StepperInfo] = &[
    explicit_euler::INFO,
    symplectic_euler::INFO,
    symplectic_euler_drift_kick::INFO,
    explicit_midpoint::INFO,
    leapfrog::INFO,
    position_verlet::INFO,
    runge_kutta4::INFO,
    #[cfg(feature = "implicit")]
    implicit_euler::INFO,
    #[cfg(feature = "implicit")]
    implicit_midpoint::INFO,
    #[cfg(feature = "implicit")]
    trapezoidal::INFO,
    #[cfg(feature = "implicit")]
    theta_mixed::INFO,
    #[cfg(feature = "implicit")]
    tr_bdf2::INFO,
    #[cfg(feature = "implicit")]
    generalized_alpha::INFO,
    #[cfg(feature = "implicit")]
    imex::INFO,
];

/// The registry entry of a method.
///
/// # Errors
/// [`OptionsError::UnknownMethod`], with the ids that come closest.
pub fn stepper_info(id: &str) -> Result<&'static StepperInfo, OptionsError> {
    STEPPERS.iter().find(|info| info.method.id == id).ok_or_else(|| {
        let mut near: Vec<(f64, &'static str)> =
            STEPPERS.iter().map(|info| (strsim::jaro_winkler(id, info.method.id), info.method.id)).collect();
        near.sort_by(|a, b| b.0.total_cmp(&a.0));
        near.retain(|(similarity, _)| *similarity > 0.7);
        OptionsError::UnknownMethod {
            id: id.to_owned(),
            suggestions: near.into_iter().take(3).map(|(_, id)| id).collect(),
        }
    })
}

/// Makes a stepper from its id and its options (null or an empty table: the defaults).
///
/// ```
/// let stepper = sim_integrate::stepper("position_verlet", &serde_json::json!({ "velocity_damping": 0.5 })).unwrap();
/// assert_eq!(stepper.method().id, "position_verlet");
/// let error = sim_integrate::stepper("leap_frog", &serde_json::Value::Null).err().unwrap();
/// assert!(error.to_string().contains("did you mean leapfrog"));
/// ```
///
/// # Errors
/// [`OptionsError`] for an unknown id, an unknown option or a value out of range.
pub fn stepper(id: &str, options: &Value) -> Result<BoxedStepper, OptionsError> {
    (stepper_info(id)?.build)(options)
}

/// A stepper as the registry hands it out: of models that remember, too.
fn boxed(stepper: impl for<'a> Stepper<dyn ModelSystem + 'a> + Send + 'static) -> BoxedStepper {
    Box::new(Remembering::new(stepper))
}

/// Reads options of a method; null stands for all defaults.
fn parse<T: DeserializeOwned + Default>(method: &'static str, options: &Value) -> Result<T, OptionsError> {
    if options.is_null() {
        return Ok(T::default());
    }
    serde_json::from_value(options.clone()).map_err(|source| OptionsError::Parse { method, source })
}

/// Refuses any option.
fn no_options(method: &'static str, options: &Value) -> Result<(), OptionsError> {
    match options {
        Value::Null => Ok(()),
        Value::Object(map) => match map.keys().next() {
            None => Ok(()),
            Some(field) => Err(OptionsError::NoOptions { method, field: field.clone() }),
        },
        other => Err(OptionsError::NoOptions { method, field: other.to_string() }),
    }
}
