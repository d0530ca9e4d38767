//! The energy audit of a run.

use crate::energy::{Energy, Work};
use crate::state::State;
use crate::stepper::StageRecord;
use crate::system::{StepStart, System};
use serde::{Deserialize, Serialize};

/// Running account of energy: what is stored, what forces took and gave, and what the scheme itself made or lost.
///
/// For a step with `M (v1 - v0) = dt Σ w_s f_s` and the mean velocity `u = ½(v0 + v1)`, the kinetic energy changes by
/// exactly `dt Σ w_s f_s·u`. The ledger evaluates that work force by force at the stages the stepper reports. Then
///
/// ```text
/// E1 - E0 = non-conservative work + numerical + residual
/// numerical = (U1 - U0) + conservative work      energy made (+) or lost (-) by the discretisation
/// residual  = (T1 - T0) - total work             zero up to rounding when the step was solved exactly
/// ```
///
/// so that `residual` is a check of the step and not a remainder. Particles that are not free move with `Δq/dt`.
///
/// What materials lose inside follows from the history at both ends of the step ([`System::inelastic_loss`]), and breakage from the energy
/// that is missing after it; both are inelastic work.
#[derive(Clone, Debug)]
pub struct EnergyLedger {
    before: State,
    energy_before: Energy,
    report: LedgerReport,
    mean_velocity: Vec<f64>,
}

/// Sums of a run in J.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LedgerReport {
    /// Energy at the start.
    pub initial: Energy,
    /// Energy now.
    pub current: Energy,
    /// Work of forces and supports since the start.
    pub work: Work,
    /// Energy made (+) or lost (-) by the discretisation since the start.
    pub numerical: f64,
    /// Sum of the steps' residuals, with sign.
    pub residual: f64,
    /// Largest |residual| of one step relative to the energy turned over in that step.
    pub max_relative_residual: f64,
    /// Steps accounted for.
    pub steps: u64,
}

impl LedgerReport {
    /// `E - E0 - work - numerical - residual` in J: zero up to rounding of the sums.
    pub fn gap(&self) -> f64 {
        self.current.total()
            - self.initial.total()
            - self.work.not_conservative()
            - self.numerical
            - self.residual
    }
}

/// Power of the forces at (t, q, v).
type PowerAt<'a> = dyn Fn(f64, &[f64], &[f64]) -> Work + 'a;

impl EnergyLedger {
    /// Opens the account at `state`.
    pub fn new<S: System + ?Sized>(system: &S, state: &State) -> Self {
        let energy = system.energy_of(state);
        Self {
            before: state.clone(),
            energy_before: energy,
            report: LedgerReport { initial: energy, current: energy, ..LedgerReport::default() },
            mean_velocity: vec![0.0; state.q.len()],
        }
    }

    /// Goes on with an account that stood at `report` when the state was `state`: the next step is booked with the same bits as
    /// if it had never been closed.
    pub fn resume(state: &State, report: LedgerReport) -> Self {
        Self {
            before: state.clone(),
            energy_before: report.current,
            report,
            mean_velocity: vec![0.0; state.q.len()],
        }
    }

    /// Books the step of `dt` s that led to `state`, whose stages are in `record`. The step is taken as given: the difference of two
    /// times has lost the digits that the later one has before the point.
    pub fn book<S: System + ?Sized>(
        &mut self,
        system: &S,
        is_free: impl Fn(usize) -> bool,
        state: &State,
        dt: f64,
        record: &StageRecord,
    ) {
        for (i, u) in self.mean_velocity.chunks_exact_mut(3).enumerate() {
            let free = is_free(i);
            for (k, u) in u.iter_mut().enumerate() {
                let j = 3 * i + k;
                *u = if free {
                    0.5 * (self.before.v[j] + state.v[j])
                } else {
                    (state.q[j] - self.before.q[j]) / dt
                };
            }
        }
        let (mut work, energy, released) = self.step_account(system, state, record, dt);
        work.mass_damping +=
            record.damping_impulse().iter().zip(&self.mean_velocity).map(|(j, u)| j * u).sum::<f64>();
        let impulse: f64 =
            record.numerical_impulse().iter().zip(&self.mean_velocity).map(|(j, u)| j * u).sum();
        let numerical =
            energy.potential() - released - self.energy_before.potential() + work.conservative + impulse;
        let residual = energy.kinetic - self.energy_before.kinetic - work.total() - impulse;
        let turned_over = energy.kinetic.max(self.energy_before.kinetic).max(work.magnitude());
        if turned_over > 0.0 {
            let relative = (residual / turned_over).abs();
            self.report.max_relative_residual = self.report.max_relative_residual.max(relative);
        }
        work.inelastic += released;
        self.report.work += work;
        self.report.numerical += numerical;
        self.report.residual += residual;
        self.report.current = energy;
        self.report.steps += 1;
        self.energy_before = energy;
        self.before.clone_from(state);
    }

    /// Work of the forces over the stages, the energy at the end, and the (negative) energy that what broke at the end of the step has
    /// lost in no motion.
    fn step_account<S: System + ?Sized>(
        &self,
        system: &S,
        state: &State,
        record: &StageRecord,
        dt: f64,
    ) -> (Work, Energy, f64) {
        let sum = |power: &PowerAt<'_>| {
            let mut work = Work::default();
            for stage in record.stages() {
                work += power(stage.t, &stage.q, &stage.v) * (stage.weight * dt);
            }
            work
        };
        let energy = system.energy_of(state);
        let mut account = None;
        if system.remembers() {
            let start = StepStart::new(&self.before, system.internal_count())
                .expect("`new` has seen a state with the model's history");
            system.in_step(start, &mut |now| {
                let mut work = sum(&|t, q, v| now.power(t, q, v, &self.mean_velocity));
                let lost = system.inelastic_loss(start, (state.t, &state.q, &state.v));
                work.conservative += lost;
                work.inelastic -= lost;
                account = Some((work, now.energy(state.t, &state.q, &state.v).potential()));
            });
        }
        match account {
            Some((work, whole)) => (work, energy, energy.potential() - whole),
            None => (sum(&|t, q, v| system.power(t, q, v, &self.mean_velocity)), energy, 0.0),
        }
    }

    /// The account so far.
    pub fn report(&self) -> &LedgerReport {
        &self.report
    }
}
