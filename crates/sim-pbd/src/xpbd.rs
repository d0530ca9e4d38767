//! The solver as a one-step method.

use crate::contact::{ContactForce, ContactReport, ContactWork};
use crate::kernel::{Arrays, MainThread, Rule, with_threads};
use crate::options::{OptionsError, SolveOrder, XpbdOptions};
use crate::report::{SolveReport, Worst};
use crate::system::PbdSystem;
use nalgebra::{Quaternion, UnitQuaternion, Vector3};
use sim_core::{
    ExplicitSystem, MethodInfo, Stability, StageRecord, State, StateError, StepError, StepStats, Stepper,
    System,
};

/// Claims.
pub static METHOD: MethodInfo = MethodInfo {
    id: "xpbd",
    summary: "extended position-based dynamics: constraints with compliance, solved by Gauss-Seidel in substeps",
    implicit: false,
    symplectic: false,
    order: 1,
    order_velocity_dependent: 1,
    stability: Stability::LStable,
    reference: "Macklin, Müller, Chentanez: XPBD, 2016; Macklin et al.: Small Steps in Physics Simulation, 2019",
    limitations: "Forces of the particle system are explicit: springs laid out as forces limit the substep. Motion is damped \
                  as by implicit Euler. A sweep moves information by one constraint: read the convergence report.",
};

/// Steps a [`PbdSystem`].
///
/// The stepper owns the multipliers and workspaces; both are reset in every substep, so that the state alone decides
/// what happens next. With more than one thread (colours only) a step starts its threads anew.
#[derive(Debug)]
pub struct Xpbd {
    options: XpbdOptions,
    points: Vec<[f64; 4]>,
    start: Vec<[f64; 4]>,
    orientations: Vec<[f64; 4]>,
    orientation_start: Vec<UnitQuaternion<f64>>,
    spin: Vec<Vector3<f64>>,
    work: Vec<f64>,
    q: Vec<f64>,
    v: Vec<f64>,
    f: Vec<f64>,
    report: SolveReport,
    contact: ContactWork,
    last_dt: f64,
}

impl Xpbd {
    /// Sizes the workspaces for `system`.
    ///
    /// # Errors
    /// [`OptionsError`] when an option is out of range, or plain PBD meets a compliance.
    pub fn new(system: &PbdSystem, options: XpbdOptions) -> Result<Self, OptionsError> {
        options.validate()?;
        if options.formulation != crate::options::Formulation::Xpbd {
            for set in system.sets() {
                if let Some(soft) = set.soft() {
                    return Err(OptionsError::NotPhysical {
                        constraint: set.id(),
                        index: soft.index,
                        compliance: soft.compliance,
                        damping: soft.damping,
                    });
                }
            }
        }
        let (n, segments) = (system.particle_count(), system.inverse_inertia().len());
        Ok(Self {
            points: vec![[0.0; 4]; n],
            start: vec![[0.0; 4]; n],
            orientations: vec![[0.0; 4]; segments],
            orientation_start: vec![UnitQuaternion::identity(); segments],
            spin: vec![Vector3::zeros(); segments],
            work: vec![0.0; system.schedule().work_len()],
            q: vec![0.0; 3 * n],
            v: vec![0.0; 3 * n],
            f: vec![0.0; 3 * n],
            report: SolveReport::new(system, &options),
            contact: ContactWork::new(system.contact()),
            options,
            last_dt: 1.0,
        })
    }

    /// The options.
    pub fn options(&self) -> &XpbdOptions {
        &self.options
    }

    /// How far from converged the last step was.
    pub fn report(&self) -> &SolveReport {
        &self.report
    }

    /// What contacts did in the last step.
    pub fn contact_report(&self) -> &ContactReport {
        self.contact.report()
    }

    /// Contacts that carried a load in the last substep.
    pub fn contact_forces(&self) -> impl Iterator<Item = ContactForce> + '_ {
        self.contact.forces(self.last_dt)
    }

    /// Force of constraint `index` of list `list` at the end of the last step: −λ/dt², in N for lengths (positive when it
    /// pulls), N·m for angles, Pa for volumes. For a rod segment, its axial tension; for a joint, its twisting moment.
    ///
    /// # Panics
    /// When `list` or `index` does not exist.
    pub fn constraint_force(&self, system: &PbdSystem, list: usize, index: usize) -> f64 {
        let schedule = system.schedule();
        let work = &self.work[schedule.first_work(list)..schedule.first_work(list + 1)];
        -system.sets()[list].multiplier(index, work) / (self.last_dt * self.last_dt)
    }

    fn load(&mut self, system: &PbdSystem, state: &State) -> Result<(), StateError> {
        state.validate(system.particle_count())?;
        let (expected, found) = (system.internal_len(), state.internal.len());
        if expected != found {
            return Err(StateError::Length { field: "internal", expected, found });
        }
        self.q.copy_from_slice(&state.q);
        self.v.copy_from_slice(&state.v);
        let (orientations, spins) = state.internal.split_at(4 * self.orientations.len());
        for (to, from) in self.orientations.iter_mut().zip(orientations.chunks_exact(4)) {
            to.copy_from_slice(from);
        }
        for (to, from) in self.spin.iter_mut().zip(spins.chunks_exact(3)) {
            *to = Vector3::new(from[0], from[1], from[2]);
        }
        self.contact.load(&state.internal[system.collider_internal(0)..]);
        Ok(())
    }

    fn check(&self, t: f64, dt: f64) -> Result<(), StepError> {
        for (quantity, values) in [("position", &self.q), ("velocity", &self.v)] {
            if let Some(i) = values.iter().position(|x| !x.is_finite()) {
                return Err(StepError::Diverged { t, dt, quantity, particle: i / 3, value: values[i] });
            }
        }
        if let Some(i) = self.orientations.iter().position(|q| q.iter().any(|x| !x.is_finite())) {
            let value = self.orientations[i].iter().copied().find(|x| !x.is_finite()).unwrap_or(f64::NAN);
            return Err(StepError::Diverged { t, dt, quantity: "orientation", particle: i, value });
        }
        if let Some((index, value)) = self.contact.not_finite() {
            return Err(StepError::Diverged {
                t,
                dt,
                quantity: "angle of a collider",
                particle: index,
                value,
            });
        }
        Ok(())
    }

    fn store(&self, system: &PbdSystem, state: &mut State) {
        state.q.copy_from_slice(&self.q);
        state.v.copy_from_slice(&self.v);
        self.contact.store(&mut state.internal[system.collider_internal(0)..]);
        let (orientations, spins) = state.internal.split_at_mut(4 * self.orientations.len());
        for (to, from) in orientations.chunks_exact_mut(4).zip(&self.orientations) {
            to.copy_from_slice(from);
        }
        for (to, from) in spins.chunks_exact_mut(3).zip(&self.spin) {
            to.copy_from_slice(from.as_slice());
        }
    }
}

impl Stepper<PbdSystem> for Xpbd {
    fn method(&self) -> &'static MethodInfo {
        &METHOD
    }

    fn step_recorded(
        &mut self,
        system: &PbdSystem,
        state: &mut State,
        dt: f64,
        mut record: Option<&mut StageRecord>,
    ) -> Result<StepStats, StepError> {
        if !(dt.is_finite() && dt > 0.0) {
            return Err(StepError::StepSize { dt });
        }
        self.load(system, state)?;
        if let Some(record) = record.as_deref_mut() {
            record.clear();
        }
        let substeps = self.options.substeps;
        let h = dt / f64::from(substeps);
        let threads = if system.order() == SolveOrder::Colors { self.options.threads } else { 1 };
        let rule = |t| Rule {
            formulation: self.options.formulation,
            gradient: self.options.gradient,
            relaxation: self.options.over_relaxation,
            dt: h,
            t,
        };
        let arrays = Arrays {
            points: &mut self.points,
            start: &mut self.start,
            orientations: &mut self.orientations,
            work: &mut self.work,
            inverse_inertia: system.inverse_inertia(),
        };
        let mut motion = Motions {
            system,
            q: &mut self.q,
            v: &mut self.v,
            f: &mut self.f,
            spin: &mut self.spin,
            orientation_start: &mut self.orientation_start,
            contact: &mut self.contact,
        };
        let (iterations, report, tolerance) =
            (self.options.iterations, &mut self.report, self.options.tolerance);
        with_threads(threads, arrays, system.sets(), system.schedule(), |main| {
            motion.place(main, rule(state.t));
            for substep in 0..substeps {
                let t0 = state.t + dt * f64::from(substep) / f64::from(substeps);
                let t1 = state.t + dt * f64::from(substep + 1) / f64::from(substeps);
                motion.predict(main, rule(t1), t0, record.as_deref_mut(), 1.0 / f64::from(substeps));
                for _ in 0..iterations {
                    main.sweep_all(rule(t1));
                    motion.contact.solve(system.contact(), &main.alone(0, rule(t1)));
                }
                motion.finish(main, rule(t1));
            }
            report.measure(system, main, rule(state.t + dt), tolerance);
        });
        self.check(state.t, dt)?;
        self.store(system, state);
        state.t += dt;
        self.last_dt = h;
        Ok(StepStats {
            force_evaluations: substeps,
            newton_iterations: substeps * iterations,
            linear_iterations: 0,
            residual: self.report.worst.map_or(0.0, |worst: Worst| worst.relative),
            substeps,
        })
    }
}

/// Flat positions and velocities around the sweeps.
struct Motions<'a> {
    system: &'a PbdSystem,
    q: &'a mut [f64],
    v: &'a mut [f64],
    f: &'a mut [f64],
    spin: &'a mut [Vector3<f64>],
    orientation_start: &'a mut [UnitQuaternion<f64>],
    contact: &'a mut ContactWork,
}

impl Motions<'_> {
    /// Puts the loaded positions into the arrays of the sweeps.
    fn place(&self, main: &mut MainThread<'_>, rule: Rule) {
        let sweep = main.alone(0, rule);
        for (i, (q, &w)) in (0_u32..).zip(self.q.chunks_exact(3).zip(self.system.inverse_mass())) {
            sweep.set_point(i, [q[0], q[1], q[2], w]);
        }
    }

    /// Explicit forces, then free flight to the end of the substep.
    fn predict(
        &mut self,
        main: &mut MainThread<'_>,
        rule: Rule,
        t0: f64,
        record: Option<&mut StageRecord>,
        weight: f64,
    ) {
        let h = rule.dt;
        self.system.force(t0, self.q, self.v, self.f);
        self.contact.remember(self.system.contact(), self.v);
        if let Some(record) = record {
            record.push(weight, t0, self.q, self.v);
        }
        for (set, constraints) in self.system.sets().iter().enumerate() {
            let sweep = main.alone(set, rule);
            (0..constraints.multiplier_len()).for_each(|i| sweep.set_work(i, 0.0));
            constraints.begin(&sweep);
        }
        let sweep = main.alone(0, rule);
        let inverse_mass = self.system.inverse_mass();
        for (i, &w) in inverse_mass.iter().enumerate() {
            if w > 0.0 {
                for k in 3 * i..3 * i + 3 {
                    self.v[k] += h * w * self.f[k];
                    self.q[k] += h * self.v[k];
                }
            }
        }
        self.system.prescribe(rule.t, self.q, self.v);
        for (i, (q, &w)) in (0_u32..).zip(self.q.chunks_exact(3).zip(inverse_mass)) {
            sweep.set_start(i, sweep.point(i));
            sweep.set_point(i, [q[0], q[1], q[2], w]);
        }
        for (i, (spin, start)) in (0_u32..).zip(self.spin.iter().zip(self.orientation_start.iter_mut())) {
            *start = sweep.orientation(i);
            sweep.turn(i, spin * h);
        }
        self.contact.begin(self.system.contact(), &sweep, t0);
    }

    /// Velocities from the way that was made.
    fn finish(&mut self, main: &mut MainThread<'_>, rule: Rule) {
        let h = rule.dt;
        let sweep = main.alone(0, rule);
        self.contact.check(self.system.contact(), &sweep);
        for (i, &w) in (0_u32..).zip(self.system.inverse_mass()) {
            let first = 3 * i as usize;
            if w > 0.0 {
                let (x, start) = (sweep.point(i), sweep.start(i));
                for k in 0..3 {
                    self.q[first + k] = x[k];
                    self.v[first + k] = (x[k] - start[k]) / h;
                }
            }
        }
        for (i, (spin, start)) in (0_u32..).zip(self.spin.iter_mut().zip(self.orientation_start.iter())) {
            if sweep.inverse_inertia(i).amax() > 0.0 {
                let turn: UnitQuaternion<f64> = start.inverse() * sweep.orientation(i);
                *spin = shortest(turn).scaled_axis() / h;
            }
        }
        self.contact.finish(self.system.contact(), &sweep, self.v);
    }
}

/// The same rotation by the shorter way round.
fn shortest(turn: UnitQuaternion<f64>) -> UnitQuaternion<f64> {
    if turn.w < 0.0 { UnitQuaternion::new_unchecked(Quaternion::from(-turn.coords)) } else { turn }
}
