//! Time stepping of flexible parts: explicit and symplectic methods, with steps that are certified stable.
//!
//! This crate sees models only through the traits of `sim-core`; it knows no concrete force. A method is chosen by its id
//! ([`stepper`]) or made directly ([`Leapfrog`]).
//!
//! ```
//! use sim_core::force::springs::{Spring, Springs};
//! use sim_core::{ParticleSystemBuilder, State};
//! use sim_integrate::{Leapfrog, SubstepOptions, Substepping, stepper_info};
//!
//! let spring = Spring { ends: [0, 1], rest_length: 1.0, stiffness: 100.0, damping: 0.0 };
//! let system = ParticleSystemBuilder::new(vec![1.0, 1.0]).pin([0]).force(Springs::new([spring])).build().unwrap();
//! let mut state = State::at_rest(vec![0.0, 0.0, 0.0, 1.1, 0.0, 0.0]);
//! let mut substepping = Substepping::new(stepper_info("leapfrog").unwrap(), SubstepOptions::default()).unwrap();
//! let plan = substepping.advance(&system, &mut Leapfrog::default(), &mut state, 1.0, |_, _| {}).unwrap();
//! // ω = 10 rad/s, limit 0.2 s, a tenth kept as margin: six steps.
//! assert_eq!(plan.substeps, 6);
//! assert_eq!(plan.stability.culprit, Some(("spring", 0)));
//! ```

pub mod adaptive;
pub mod advise;
#[cfg(feature = "implicit")]
pub mod implicit;
pub mod options;
pub mod remembering;
pub mod stability;
pub mod steppers;
pub mod substeps;
mod trial;

pub use adaptive::{Adaptive, AdaptiveError, AdaptiveMemory, AdaptiveOptions, AdaptiveReport};
pub use advise::{Advice, AdviceError, AdviceRequest, Facts, Rejection, Suggestion, advise};
#[cfg(feature = "implicit")]
pub use implicit::{NewtonOptions, Projection};
pub use options::OptionsError;
pub use remembering::Remembering;
pub use stability::{
    Condition, Mode, Modes, StabilityError, StabilityReport, StepLimit, Validity, stable_dt,
    stencil_stable_dt,
};
pub use steppers::explicit_euler::ExplicitEuler;
pub use steppers::explicit_midpoint::ExplicitMidpoint;
#[cfg(feature = "implicit")]
pub use steppers::generalized_alpha::{AlphaParameters, GeneralizedAlpha, GeneralizedAlphaOptions};
#[cfg(feature = "implicit")]
pub use steppers::imex::{Imex, ImexOptions};
#[cfg(feature = "implicit")]
pub use steppers::implicit_euler::{ImplicitEuler, ImplicitEulerOptions};
#[cfg(feature = "implicit")]
pub use steppers::implicit_midpoint::{ImplicitMidpoint, ImplicitMidpointOptions};
pub use steppers::leapfrog::Leapfrog;
pub use steppers::position_verlet::{PositionVerlet, PositionVerletOptions};
pub use steppers::runge_kutta4::RungeKutta4;
pub use steppers::symplectic_euler::SymplecticEuler;
pub use steppers::symplectic_euler_drift_kick::SymplecticEulerDriftKick;
#[cfg(feature = "implicit")]
pub use steppers::theta_mixed::{ThetaMixed, ThetaMixedOptions};
#[cfg(feature = "implicit")]
pub use steppers::tr_bdf2::{TrBdf2, TrBdf2Options};
#[cfg(feature = "implicit")]
pub use steppers::trapezoidal::{Trapezoidal, TrapezoidalOptions};
pub use steppers::{BoxedStepper, STEPPERS, StepperInfo, stepper, stepper_info};
pub use substeps::{SubstepError, SubstepOptions, SubstepPlan, Substepping};
