//! Problems with exact answers and studies that judge any stepper, force or model.
//!
//! The studies know no concrete stepper: they take `&mut dyn Stepper<S>` (or a closure that makes one) and measure. A user
//! judges an own method like this:
//!
//! ```
//! use sim_core::{MethodInfo, ModelSystem, Stability, StageRecord, State, StepError, StepStats, Stepper, System};
//! use sim_verify::{OrderOptions, order_study, problem};
//!
//! /// Explicit Euler, as a user might write it.
//! struct Mine;
//! static INFO: MethodInfo = MethodInfo {
//!     id: "mine", summary: "", implicit: false, symplectic: false, order: 1, order_velocity_dependent: 1,
//!     stability: Stability::Unstable, reference: "", limitations: "",
//! };
//! impl Stepper<dyn ModelSystem> for Mine {
//!     fn method(&self) -> &'static MethodInfo { &INFO }
//!     fn step_recorded(
//!         &mut self, system: &dyn ModelSystem, state: &mut State, dt: f64, _: Option<&mut StageRecord>,
//!     ) -> Result<StepStats, StepError> {
//!         let mut f = vec![0.0; state.q.len()];
//!         system.force(state.t, &state.q, &state.v, &mut f);
//!         for i in 0..f.len() {
//!             state.q[i] += dt * state.v[i];
//!             state.v[i] += dt * f[i] * system.inverse_mass()[i / 3];
//!         }
//!         state.t += dt;
//!         Ok(StepStats::explicit(1))
//!     }
//! }
//! let pendulum = problem("pendulum").unwrap();
//! let report = order_study(pendulum, &mut Mine, OrderOptions::for_problem(pendulum)).unwrap();
//! assert!(report.agrees(1.0, 0.05), "{report}");
//! ```

pub mod claim;
pub mod closed_forms;
pub mod elliptic;
pub mod judge;
pub mod linearized;
pub mod mutants;
pub mod point;
pub mod problems;
pub mod reference;
pub mod strategies;
pub mod studies;

pub use claim::{Claim, ClaimRow, Requirement};
pub use closed_forms::{ClosedForm, Oscillator, closed_form};
pub use judge::element::{ElementFacts, ElementLaw, judge_element};
pub use judge::inverse::{
    Apply, Iterate, Make, PreconditionerSubject, Problem, SolverSubject, judge_preconditioner, judge_solver,
};
pub use judge::{Findings, STEPPER_STUDIES, StepperStudy, Subject, judge_stepper};
pub use linearized::Linearized;
pub use point::{PointLaw, PointSystem};
pub use problems::{ExactProblem, PROBLEMS, problem};
pub use studies::amplification::{StepMatrix, amplification_matrix, spectral_radius};
pub use studies::derivatives::{
    DenseMatrices, DerivativeReport, InvarianceReport, derivative_study, invariance_study,
};
pub use studies::energy::{EnergyReport, energy_study};
pub use studies::equation_of_motion::{ResidualReport, residual_study};
pub use studies::failed_step::{FailedStepReport, Poisoned, failed_step_study};
pub use studies::momentum::{MomentumReport, momentum_study};
pub use studies::order::{OrderOptions, OrderReport, error_at_end, error_constant, order_study};
pub use studies::restart::{RestartReport, restart_study};
pub use studies::reversibility::reversibility_study;
pub use studies::richardson::{Convergence, RichardsonReport, richardson};
pub use studies::stability_limit::{LimitError, stability_limit};
pub use studies::symplecticity::{SymplecticityReport, symplecticity_study};
pub use studies::{StudyError, run};
