//! The list of mistakes.

use super::implicit::{Implicit, implicit_euler, implicit_midpoint, trapezoidal};
use super::laws::{CreepMistake, LawMistake};
use super::links::LinkMistake;
use super::models::Tamper;
use super::runge_kutta::{RungeKutta, explicit_midpoint, runge_kutta4};
use super::splitting::{
    At, Flaw, MassUse, Move, Splitting, Supports, drift, explicit_euler, kick, leapfrog, position_verlet,
    symplectic_euler, symplectic_euler_drift_kick,
};
use super::springs::Mistake;
use super::{Mutant, Patient, Slip, Slipped, info};

const OLD_DRIFT: Move = Move::Drift { weight: 1.0, at: At::Start };

/// One mutant per entry: `"id": "mistake", killed by "study" => patient;` or `survives "reason"`.
macro_rules! catalogue {
    ($($id:literal: $mistake:literal, $fate:ident $by:literal => $kind:ident $patient:expr;)*) => {
        &[$(Mutant {
            id: $id,
            mistake: $mistake,
            killed_by: catalogue!(@killer $fate $by),
            reason: catalogue!(@reason $fate $by),
            patient: catalogue!(@patient $kind $patient),
        }),*]
    };
    (@killer killed_by $by:literal) => { Some($by) };
    (@killer survives $by:literal) => { None };
    (@reason killed_by $by:literal) => { "" };
    (@reason survives $by:literal) => { $by };
    (@patient stepper $patient:expr) => { Patient::Stepper(|| Box::new($patient)) };
    (@patient spring $patient:expr) => { Patient::Spring($patient) };
    (@patient links $patient:expr) => { Patient::Links($patient) };
    (@patient law $patient:expr) => { Patient::Law($patient) };
    (@patient creep $patient:expr) => { Patient::Creep($patient) };
    (@patient model $patient:expr) => { Patient::Model($patient.0, $patient.1) };
}

pub(super) static MUTANTS: &[Mutant] = catalogue! {
    "explicit_euler/new_velocity": "drift with the new velocity", killed_by "amplification" =>
        stepper Splitting::new("explicit_euler", &[kick(1.0, 0.0, At::Present), drift(1.0)]);
    "explicit_euler/force_sign": "force with the wrong sign", killed_by "amplification" =>
        stepper Splitting::new("explicit_euler", &[kick(-1.0, 0.0, At::Present), OLD_DRIFT]);
    "symplectic_euler/old_velocity": "drift with the old velocity", killed_by "amplification" =>
        stepper Splitting::new("symplectic_euler", &[kick(1.0, 0.0, At::Present), OLD_DRIFT]);
    "symplectic_euler/force_sign": "force with the wrong sign", killed_by "amplification" =>
        stepper Splitting::new("symplectic_euler", &[kick(-1.0, 0.0, At::Present), drift(1.0)]);
    "symplectic_euler/half_kick": "half a kick too little", killed_by "amplification" =>
        stepper Splitting::new("symplectic_euler", &[kick(0.5, 0.0, At::Present), drift(1.0)]);
    "symplectic_euler/no_damping": "damping taken at zero velocity", killed_by "amplification" =>
        stepper Splitting::new("symplectic_euler", &[kick(1.0, 0.0, At::Zero), drift(1.0)]);
    "symplectic_euler/predicted_damping": "damping taken at the predicted velocity",
        killed_by
        "amplification" =>
        stepper Splitting::new("symplectic_euler", &[kick(1.0, 0.0, At::Predicted), drift(1.0)]);
    "symplectic_euler/order_of_moves": "drift before kick", killed_by "amplification" =>
        stepper Splitting::new("symplectic_euler", &[drift(1.0), kick(1.0, 1.0, At::Present)]);
    "symplectic_euler/late_force_time": "force taken at the end time of the step",
        survives
        "a first-order method may take its load anywhere within the step: the order stays 1, and a force of position and velocity alone does not see the time" =>
        stepper Splitting::new("symplectic_euler", &[kick(1.0, 1.0, At::Present), drift(1.0)]);
    "symplectic_euler_drift_kick/order_of_moves": "kick before drift", killed_by "amplification" =>
        stepper Splitting::new("symplectic_euler_drift_kick", &[kick(1.0, 0.0, At::Present), drift(1.0)]);
    "symplectic_euler_drift_kick/double_drift": "drift twice as far", killed_by "amplification" =>
        stepper Splitting::new("symplectic_euler_drift_kick", &[drift(2.0), kick(1.0, 1.0, At::Present)]);
    "leapfrog/full_first_kick": "missing ½ in the first kick", killed_by "amplification" =>
        stepper Splitting::new("leapfrog", &[kick(1.0, 0.0, At::Present), drift(1.0), kick(0.5, 1.0,
        At::Predicted)]);
    "leapfrog/no_second_kick": "second half kick missing", killed_by "amplification" =>
        stepper Splitting::new("leapfrog", &[kick(0.5, 0.0, At::Present), drift(1.0)]);
    "leapfrog/full_last_kick": "missing ½ in the last kick", killed_by "amplification" =>
        stepper Splitting::new("leapfrog", &[kick(0.5, 0.0, At::Present), drift(1.0), kick(1.0, 1.0,
        At::Predicted)]);
    "leapfrog/lagged_damping": "damping of the last kick at the half-step velocity",
        killed_by
        "amplification" =>
        stepper Splitting::new("leapfrog", &[kick(0.5, 0.0, At::Present), drift(1.0), kick(0.5, 1.0,
        At::Present)]);
    "leapfrog/old_damping": "damping of the last kick at the old velocity", killed_by "amplification" =>
        stepper Splitting::new("leapfrog", &[kick(0.5, 0.0, At::Present), drift(1.0), kick(0.5, 1.0,
        At::Start)]);
    "leapfrog/stage_time": "last kick at the start time of the step", killed_by "order" =>
        stepper Splitting::new("leapfrog", &[kick(0.5, 0.0, At::Present), drift(1.0), kick(0.5, 0.0,
        At::Predicted)]);
    "leapfrog/half_drift": "half a drift too little", killed_by "amplification" =>
        stepper Splitting::new("leapfrog", &[kick(0.5, 0.0, At::Present), drift(0.5), kick(0.5, 1.0,
        At::Predicted)]);
    "leapfrog/both_kicks_first": "both half kicks before the drift", killed_by "amplification" =>
        stepper Splitting::new("leapfrog", &[kick(0.5, 0.0, At::Present), kick(0.5, 1.0, At::Predicted),
        drift(1.0)]);
    "leapfrog/old_drift": "drift with the old velocity", killed_by "amplification" =>
        stepper Splitting::new("leapfrog", &[kick(0.5, 0.0, At::Present), OLD_DRIFT, kick(0.5, 1.0,
        At::Predicted)]);
    "position_verlet/start_up": "first half drift missing: started from x(-1) = x0",
        killed_by
        "amplification" =>
        stepper Splitting::new("position_verlet", &[kick(1.0, 0.5, At::Present), drift(0.5)]);
    "position_verlet/stage_time": "kick at the start time of the step", killed_by "order" =>
        stepper Splitting::new("position_verlet", &[drift(0.5), kick(1.0, 0.0, At::Present), drift(0.5)]);
    "position_verlet/full_first_drift": "missing ½ in the first drift", killed_by "amplification" =>
        stepper Splitting::new("position_verlet", &[drift(1.0), kick(1.0, 0.5, At::Present), drift(0.5)]);
    "position_verlet/old_last_drift": "last drift with the old velocity", killed_by "amplification" =>
        stepper Splitting::new("position_verlet", &[drift(0.5), kick(1.0, 0.5, At::Present),
        Move::Drift { weight: 0.5, at: At::Start }]);
    "leapfrog/stale_force": "force of the kick before", killed_by "amplification" =>
        stepper Splitting { flaw: Some(Flaw::StaleForce), ..leapfrog() };
    "leapfrog/no_mass": "inverse mass forgotten", killed_by "amplification" =>
        stepper Splitting { mass: MassUse::Forgotten, ..leapfrog() };
    "leapfrog/next_mass": "inverse mass of the next particle", killed_by "amplification" =>
        stepper Splitting { mass: MassUse::NextParticle, ..leapfrog() };
    "leapfrog/mean_mass": "mean inverse mass for every particle", killed_by "amplification" =>
        stepper Splitting { mass: MassUse::Mean, ..leapfrog() };
    "leapfrog/late_supports": "supports moved to the start time of the step", killed_by "contract" =>
        stepper Splitting { supports: Supports::Late, ..leapfrog() };
    "leapfrog/fixed_supports": "supports never moved", killed_by "contract" =>
        stepper Splitting { supports: Supports::Never, ..leapfrog() };
    "leapfrog/freed_supports": "pinned particles take part in the drift", killed_by "contract" =>
        stepper Splitting { supports: Supports::Freed, ..leapfrog() };
    "leapfrog/careless": "state overwritten before the result is checked", killed_by "failed_step" =>
        stepper Splitting { flaw: Some(Flaw::Careless), ..leapfrog() };
    "leapfrog/unchecked": "neither step size, lengths nor result checked", killed_by "failed_step" =>
        stepper Splitting { flaw: Some(Flaw::Unchecked), ..leapfrog() };
    "leapfrog/clock": "clock advanced by half the step", killed_by "contract" =>
        stepper Splitting { clock: 0.5, ..leapfrog() };
    "leapfrog/lost_axis": "z component of the force forgotten", killed_by "momentum" =>
        stepper Splitting { lost_axis: Some(2), ..leapfrog() };
    "symplectic_euler/lost_axis": "y component of the force forgotten", killed_by "amplification" =>
        stepper Splitting { lost_axis: Some(1), ..symplectic_euler() };
    "symplectic_euler/clamped": "velocities limited to 10 m/s in silence", killed_by "scaling" =>
        stepper Splitting { flaw: Some(Flaw::Clamps), ..symplectic_euler() };
    "explicit_midpoint/full_stage": "stage after the whole step", killed_by "amplification" =>
        stepper RungeKutta { a: vec![vec![], vec![1.0]], ..explicit_midpoint() };
    "explicit_midpoint/stage_time": "stage at the start time of the step", killed_by "order" =>
        stepper RungeKutta { c: vec![0.0, 0.0], ..explicit_midpoint() };
    "explicit_midpoint/exchanged_weights": "weights exchanged", killed_by "amplification" =>
        stepper RungeKutta { b: vec![1.0, 0.0], ..explicit_midpoint() };
    "explicit_midpoint/old_velocity": "stage with the old velocity", killed_by "amplification" =>
        stepper RungeKutta { old_velocity: true, ..explicit_midpoint() };
    "explicit_midpoint/late_supports": "supports stay until the end of the step", killed_by "order" =>
        stepper RungeKutta { late_supports: true, ..explicit_midpoint() };
    "runge_kutta4/weights": "weights 1/6, 1/6, 1/3, 1/3", killed_by "amplification" =>
        stepper RungeKutta { b: vec![1.0 / 6.0, 1.0 / 6.0, 1.0 / 3.0, 1.0 / 3.0], ..runge_kutta4() };
    "runge_kutta4/last_stage": "last stage after half the step", killed_by "amplification" =>
        stepper RungeKutta { a: vec![vec![], vec![0.5], vec![0.0, 0.5], vec![0.0, 0.0, 0.5]],
        ..runge_kutta4() };
    "runge_kutta4/stage_sign": "second stage backwards", killed_by "amplification" =>
        stepper RungeKutta { a: vec![vec![], vec![-0.5], vec![0.0, 0.5], vec![0.0, 0.0, 1.0]],
        ..runge_kutta4() };
    "runge_kutta4/wrong_predecessor": "third stage built on the first", killed_by "amplification" =>
        stepper RungeKutta { a: vec![vec![], vec![0.5], vec![0.5, 0.0], vec![0.0, 0.0, 1.0]],
        ..runge_kutta4() };
    "runge_kutta4/stage_time": "last stage at the middle of the step", killed_by "order" =>
        stepper RungeKutta { c: vec![0.0, 0.5, 0.5, 0.5], ..runge_kutta4() };
    "runge_kutta4/weight_digit": "weight 0.16 for 1/6", killed_by "amplification" =>
        stepper RungeKutta { b: vec![0.16, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 6.0], ..runge_kutta4() };
    "runge_kutta4/stopped_clock": "clock not advanced", killed_by "contract" =>
        stepper RungeKutta { stopped_clock: true, ..runge_kutta4() };
    "implicit_euler/old_damping": "damping at the old velocity", killed_by "work" =>
        stepper Implicit { old_velocity: true, ..implicit_euler() };
    "implicit_euler/no_stiffness": "stiffness forgotten in the tangent", killed_by "work" =>
        stepper Implicit { tangent: (0.0, 1.0), ..implicit_euler() };
    "implicit_euler/no_damping_tangent": "damping forgotten in the tangent", killed_by "work" =>
        stepper Implicit { tangent: (1.0, 0.0), ..implicit_euler() };
    "implicit_euler/tangent_sign": "stiffness with the wrong sign in the tangent", killed_by "work" =>
        stepper Implicit { tangent: (-1.0, 1.0), ..implicit_euler() };
    "implicit_euler/double_stiffness": "stiffness twice in the tangent", killed_by "work" =>
        stepper Implicit { tangent: (2.0, 1.0), ..implicit_euler() };
    "implicit_euler/unconverged": "one iteration, result used unconverged", killed_by "amplification" =>
        stepper Implicit { largest_iterations: 1, silent: true, ..implicit_euler() };
    "implicit_euler/double_mass": "mass twice", killed_by "contract" =>
        stepper Implicit { mass: 2.0, ..implicit_euler() };
    "implicit_euler/old_position": "position moved with the old velocity", killed_by "amplification" =>
        stepper Implicit { position: 0.0, ..implicit_euler() };
    "implicit_euler/force_time": "force at the start time of the step",
        survives
        "a first-order method may take its load anywhere within the step: the order stays 1, and a force of position and velocity alone does not see the time" =>
        stepper Implicit { time: 0.0, ..implicit_euler() };
    "implicit_midpoint/of_forces": "mean of the forces for force at the mean", killed_by "symplecticity" =>
        stepper Implicit { method: info("implicit_midpoint"), ..trapezoidal() };
    "trapezoidal/of_states": "force at the mean for mean of the forces", killed_by "symplecticity" =>
        stepper Implicit { method: info("trapezoidal"), ..implicit_midpoint() };
    "implicit_midpoint/force_time": "force at the end time of the step", killed_by "order" =>
        stepper Implicit { time: 1.0, ..implicit_midpoint() };
    "trapezoidal/weights": "weights 0.4 and 0.6", killed_by "amplification" =>
        stepper Implicit { old: 0.4, new: 0.6, ..trapezoidal() };
    "trapezoidal/new_velocity": "position moved with the new velocity", killed_by "amplification" =>
        stepper Implicit { position: 1.0, ..trapezoidal() };
    "wrapped_leapfrog/long_step": "step too long by 1e-4 of itself", killed_by "contract" =>
        stepper Slipped::new(Box::new(leapfrog()), Slip::LongStep);
    "wrapped_leapfrog/double_clock": "clock advanced twice", killed_by "contract" =>
        stepper Slipped::new(Box::new(leapfrog()), Slip::DoubleClock);
    "wrapped_leapfrog/late_forces": "time shifted by one step while forces are evaluated",
        killed_by
        "contract" =>
        stepper Slipped::new(Box::new(leapfrog()), Slip::LateForces);
    "wrapped_leapfrog/leaky_velocity": "velocities multiplied by 0.9999 per step",
        killed_by
        "amplification" =>
        stepper Slipped::new(Box::new(leapfrog()), Slip::LeakyVelocity);
    "wrapped_leapfrog/clamped_velocity": "velocities limited to 10 m/s in silence", killed_by "scaling" =>
        stepper Slipped::new(Box::new(leapfrog()), Slip::ClampedVelocity);
    "wrapped_leapfrog/single_precision": "positions rounded to single precision", killed_by "contract" =>
        stepper Slipped::new(Box::new(leapfrog()), Slip::SinglePrecision);
    "wrapped_leapfrog/swapped_axes": "y and z of the velocity exchanged", killed_by "amplification" =>
        stepper Slipped::new(Box::new(leapfrog()), Slip::SwappedAxes);
    "wrapped_leapfrog/memory": "memory outside the state", killed_by "contract" =>
        stepper Slipped::new(Box::new(leapfrog()), Slip::Memory);
    "wrapped_leapfrog/swallowed_error": "failed step reported as a good one", killed_by "failed_step" =>
        stepper Slipped::new(Box::new(leapfrog()), Slip::SwallowedError);
    "wrapped_leapfrog/careless_failure": "state overwritten by a failed step", killed_by "failed_step" =>
        stepper Slipped::new(Box::new(leapfrog()), Slip::CarelessFailure);
    "wrapped_leapfrog/dragged_supports": "supported particles moved along", killed_by "contract" =>
        stepper Slipped::new(Box::new(leapfrog()), Slip::DraggedSupports);
    "wrapped_leapfrog/wrong_sign": "velocity with the wrong sign", killed_by "contract" =>
        stepper Slipped::new(Box::new(leapfrog()), Slip::WrongSign);
    "spring/flipped_force": "force with the wrong sign", killed_by "B-spring-jacobian-stretched" =>
        spring Mistake::FlippedForce;
    "spring/no_rest_length": "rest length forgotten", killed_by "B-spring-jacobian-stretched" =>
        spring Mistake::NoRestLength;
    "spring/unnormalized_direction": "direction not normalized", killed_by "B-spring-jacobian-stretched" =>
        spring Mistake::UnnormalizedDirection;
    "spring/one_end_only": "reaction on the second end forgotten", killed_by "stiffness" =>
        spring Mistake::OneEndOnly;
    "spring/unprojected_dashpot": "dashpot not projected on the spring", killed_by "B-damper-jacobian" =>
        spring Mistake::UnprojectedDashpot;
    "spring/dashpot_of_one_end": "dashpot takes the velocity of one end", killed_by "B-damper-jacobian" =>
        spring Mistake::DashpotOfOneEnd;
    "spring/flipped_dashpot": "dashpot drives", killed_by "B-damper-jacobian" =>
        spring Mistake::FlippedDashpot;
    "spring/dashpot_divided_once": "dashpot divided by the length once", killed_by "B-damper-jacobian" =>
        spring Mistake::DashpotDividedOnce;
    "spring/clamped_length": "length not below 0.25 m in silence",
        killed_by
        "B-spring-jacobian-strongly-compressed-axis" =>
        spring Mistake::ClampedLength;
    "spring/energy_without_half": "missing ½ in the energy", killed_by "B-spring-jacobian-stretched" =>
        spring Mistake::EnergyWithoutHalf;
    "spring/energy_of_length": "energy of the length instead of the stretch",
        killed_by
        "B-spring-jacobian-stretched" =>
        spring Mistake::EnergyOfLength;
    "spring/no_transverse_stiffness": "transverse term forgotten in K",
        killed_by
        "B-spring-jacobian-stretched" =>
        spring Mistake::NoTransverseStiffness;
    "spring/full_stiffness": "k I for K", killed_by "B-spring-jacobian-stretched" =>
        spring Mistake::FullStiffness;
    "spring/transverse_sign": "1 + l0/l in the transverse term", killed_by "B-spring-jacobian-stretched" =>
        spring Mistake::TransverseSign;
    "spring/transverse_inverted": "l/l0 in the transverse term", killed_by "B-spring-jacobian-stretched" =>
        spring Mistake::TransverseInverted;
    "spring/positive_off_diagonal": "block off the diagonal with the wrong sign", killed_by "stiffness" =>
        spring Mistake::PositiveOffDiagonal;
    "spring/half_stiffness": "½ too much in K", killed_by "B-spring-jacobian-stretched" =>
        spring Mistake::HalfStiffness;
    "spring/not_projected": "negative transverse term kept when projected",
        killed_by
        "B-spring-jacobian-strongly-compressed-axis" =>
        spring Mistake::NotProjected;
    "spring/damping_unprojected": "c I for D", killed_by "B-damper-jacobian" =>
        spring Mistake::DampingUnprojected;
    "spring/damping_forgotten": "D forgotten", killed_by "B-damper-jacobian" =>
        spring Mistake::DampingForgotten;
    "spring/no_damping_stiffness": "geometric part of the dashpot forgotten", killed_by "B-damper-jacobian" =>
        spring Mistake::NoDampingStiffness;
    "spring/transposed_damping_stiffness": "geometric part of the dashpot transposed",
        killed_by
        "B-damper-jacobian" =>
        spring Mistake::TransposedDampingStiffness;
    "spring/power_sign": "elastic power with the wrong sign", killed_by "energy" => spring Mistake::PowerSign;
    "spring/power_without_dashpot": "dashpot power forgotten", killed_by "power" =>
        spring Mistake::PowerWithoutDashpot;
    "spring/low_bound": "stencil bound half as large", killed_by "bound" => spring Mistake::LowBound;
    "spring/denied_velocity": "dependence on velocity denied", killed_by "dependence" =>
        spring Mistake::DeniedVelocity;
    "links/flipped_gradient": "corrections push a stretched pair apart", killed_by "projection" => links LinkMistake::FlippedGradient;
    "links/half_correction": "half of every correction", killed_by "projection" => links LinkMistake::HalfCorrection;
    "links/equal_shares": "both ends take half, whatever their masses", killed_by "projection" => links LinkMistake::EqualShares;
    "links/mass_as_weight": "masses for inverse masses", killed_by "projection" => links LinkMistake::MassAsWeight;
    "links/pinned_counts": "pinned ends count as movable", killed_by "projection" => links LinkMistake::PinnedCounts;
    "links/compliance_by_step": "α/h for α/h²", killed_by "stretch" => links LinkMistake::ComplianceByStep;
    "links/no_compliance": "compliance left out", killed_by "stretch" => links LinkMistake::NoCompliance;
    "links/no_multiplier_term": "α λ left out of the residual", killed_by "stretch" => links LinkMistake::NoMultiplierTerm;
    "links/kept_multiplier": "multipliers kept from step to step", killed_by "stretch" => links LinkMistake::KeptMultiplier;
    "links/no_gamma_below": "1 + γ left out of the denominator", killed_by "dashpot" => links LinkMistake::NoGammaBelow;
    "links/dashpot_on_length": "dashpot on the length instead of its change", killed_by "dashpot" => links LinkMistake::DashpotOnLength;
    "links/no_dashpot": "dashpot left out", killed_by "dashpot" => links LinkMistake::NoDashpot;
    "links/old_velocity": "velocities are those before the corrections", killed_by "stretch" => links LinkMistake::OldVelocity;
    "links/stale_direction": "direction of the start of the step",
        survives
        "it is the direction of SHAKE: another method with the same limits, which sim-pbd offers as an option" =>
        links LinkMistake::StaleDirection;
    "links/squared_length": "l² − L² for l − L", killed_by "projection" => links LinkMistake::SquaredLength;
    "links/force_by_step": "forces λ/h for λ/h²", killed_by "stretch" => links LinkMistake::ForceByStep;
    "links/double_gravity": "gravity in the velocity and again in the position", killed_by "stretch" => links LinkMistake::DoubleGravity;
    "links/simultaneous_corrections": "corrections computed before any is applied", killed_by "rate" => links LinkMistake::SimultaneousCorrections;
    "law/flipped_tension": "tension with the wrong sign", killed_by "tension" => law LawMistake::FlippedTension;
    "law/true_stress": "true stress for nominal stress", killed_by "tension" => law LawMistake::TrueStress;
    "law/wrong_power": "-λ⁻¹ for -λ⁻²", killed_by "tension" => law LawMistake::WrongPower;
    "law/lost_division": "C01 without its 1/λ", killed_by "tension" => law LawMistake::LostDivision;
    "law/half_energy": "energy of the first invariant alone", killed_by "tension" => law LawMistake::HalfEnergy;
    "law/energy_offset": "energy not zero at rest", killed_by "rest" => law LawMistake::EnergyOffset;
    "law/product_rule": "tangent without one factor's derivative", killed_by "tangent" => law LawMistake::ProductRule;
    "law/constant_tangent": "tangent of the law at rest", killed_by "tangent" => law LawMistake::ConstantTangent;
    "law/low_bound": "bound of the tangent at one end only", killed_by "bound" => law LawMistake::LowBound;
    "law/fixed_unit": "one constant without its unit", killed_by "scaling" => law LawMistake::FixedUnit;
    "creep/wrong_sign": "growth for decay", killed_by "held" => creep CreepMistake::WrongSign;
    "creep/no_mean": "the change of stretch not relaxed within the step", killed_by "rate" => creep CreepMistake::NoMean;
    "creep/middle_mean": "decay at the middle for the mean decay", killed_by "rate" => creep CreepMistake::MiddleMean;
    "creep/no_decay": "old tension kept whole", killed_by "held" => creep CreepMistake::NoDecay;
    "creep/euler_decay": "1 - x for e^-x", killed_by "held" => creep CreepMistake::EulerDecay;
    "creep/implicit_euler": "1/(1 + x) for e^-x", killed_by "held" => creep CreepMistake::ImplicitEuler;
    "creep/fast_tangent": "tangent of an infinitely short step", killed_by "tangent" => creep CreepMistake::FastTangent;
    "creep/total_stretch": "strain for its change", killed_by "held" => creep CreepMistake::TotalStretch;
    "creep/inverted_time": "time constant inverted", killed_by "held" => creep CreepMistake::InvertedTime;
    "creep/cancellation": "(1 - e^-x)/x in single precision", killed_by "rate" => creep CreepMistake::Cancellation;
    "law_spring/flipped_gradient": "force on one particle with the wrong sign", killed_by "stiffness" =>
        model ("law_spring", Tamper::FlippedGradient);
    "law_spring/lost_block": "one block off the diagonal lost", killed_by "stiffness" =>
        model ("law_spring", Tamper::LostBlock);
    "rope_hinge/transposed_blocks": "blocks off the diagonal transposed", killed_by "stiffness" =>
        model ("rope_hinge", Tamper::TransposedBlocks);
    "cloth_hinge/transposed_blocks": "blocks off the diagonal transposed", killed_by "stiffness" =>
        model ("cloth_hinge", Tamper::TransposedBlocks);
    "cloth_hinge/flipped_gradient": "gradient of one particle with the wrong sign", killed_by "stiffness" =>
        model ("cloth_hinge", Tamper::FlippedGradient);
    "rope_hinge/exchanged_particles": "forces scattered to exchanged particles", killed_by "stiffness" =>
        model ("rope_hinge", Tamper::ExchangedParticles);
    "springs/lost_block": "one block off the diagonal lost", killed_by "stiffness" =>
        model ("spring", Tamper::LostBlock);
    "springs/no_damping": "damping taken at zero velocity", killed_by "stiffness" =>
        model ("spring", Tamper::NoDamping);
    "gravity/next_mass": "weight of the next particle", killed_by "power" =>
        model ("gravity", Tamper::ShiftedMass);
    "air_drag/stale_force": "force of the first call given for ever", killed_by "damping" =>
        model ("air_drag", Tamper::StaleForce);
    "skip_springs/transposed_blocks": "blocks off the diagonal transposed",
        survives
        "the blocks of a spring are symmetric: the transposed matrix is the same one" =>
        model ("skip_spring", Tamper::TransposedBlocks);
};

/// The right versions.
pub(super) static ORIGINALS: &[Mutant] = catalogue! {
    "explicit_euler": "none", survives "it is right" => stepper explicit_euler();
    "symplectic_euler": "none", survives "it is right" => stepper symplectic_euler();
    "symplectic_euler_drift_kick": "none", survives "it is right" => stepper symplectic_euler_drift_kick();
    "leapfrog": "none", survives "it is right" => stepper leapfrog();
    "position_verlet": "none", survives "it is right" => stepper position_verlet();
    "explicit_midpoint": "none", survives "it is right" => stepper explicit_midpoint();
    "runge_kutta4": "none", survives "it is right" => stepper runge_kutta4();
    "implicit_euler": "none", survives "it is right" => stepper implicit_euler();
    "implicit_midpoint": "none", survives "it is right" => stepper implicit_midpoint();
    "trapezoidal": "none", survives "it is right" => stepper trapezoidal();
    "spring": "none", survives "it is right" => spring Mistake::None;
    "links": "none", survives "it is right" => links LinkMistake::None;
    "law": "none", survives "it is right" => law LawMistake::None;
    "creep": "none", survives "it is right" => creep CreepMistake::None;
    "law_spring": "none", survives "it is right" => model ("law_spring", Tamper::None);
    "rope_hinge": "none", survives "it is right" => model ("rope_hinge", Tamper::None);
    "gravity": "none", survives "it is right" => model ("gravity", Tamper::None);
    "cloth_hinge": "none", survives "it is right" => model ("cloth_hinge", Tamper::None);
    "air_drag": "none", survives "it is right" => model ("air_drag", Tamper::None);
};
