//! Steps of models whose forces remember.

use sim_core::{
    MethodInfo, ModelSystem, StageRecord, State, StateError, StepError, StepStart, StepStats, Stepper,
};

/// Makes any method one of models with a history.
///
/// Within a step the inner method sees a model whose force at (t, q) is that of parts which came there from the start of the step in the
/// time since ([`sim_core::System::in_step`]); it needs to know nothing of histories. The history itself is advanced once, when the step has
/// been accepted. A state that a material does not know is refused, and the state is then as it was. Models without history pass through.
///
/// # Limitations
/// Histories are integrated to second order in the step: methods of higher order are of second order then. A model that remembers is not
/// conservative: what is said of symplectic methods does not hold.
#[derive(Debug, Default)]
pub struct Remembering<T> {
    inner: T,
    before: State,
    internal: Vec<f64>,
}

impl<T> Remembering<T> {
    /// Wraps a method.
    pub fn new(inner: T) -> Self {
        Self { inner, before: State::default(), internal: Vec::new() }
    }
}

impl<'s, T> Stepper<dyn ModelSystem + 's> for Remembering<T>
where
    T: for<'a> Stepper<dyn ModelSystem + 'a>,
{
    fn method(&self) -> &'static MethodInfo {
        Stepper::<dyn ModelSystem>::method(&self.inner)
    }

    fn step_recorded(
        &mut self,
        system: &(dyn ModelSystem + 's),
        state: &mut State,
        dt: f64,
        mut record: Option<&mut StageRecord>,
    ) -> Result<StepStats, StepError> {
        if !system.remembers() {
            return self.inner.step_recorded(system, state, dt, record);
        }
        let Self { inner, before, internal } = self;
        let (count, expected) = (system.internal_count(), 3 * system.particle_count());
        if state.q.len() != expected {
            return Err(StateError::Length { field: "q", expected, found: state.q.len() }.into());
        }
        before.clone_from(state);
        let start = StepStart::new(before, count)?;
        let mut result = None;
        system.in_step(start, &mut |now| {
            result = Some(inner.step_recorded(now, state, dt, record.as_deref_mut()));
        });
        let reason = || "it remembers, but gives no model of a step".to_owned();
        let unsupported = || StepError::Unsupported {
            method: Stepper::<dyn ModelSystem>::method(inner).id,
            reason: reason(),
        };
        let stats = result.ok_or_else(unsupported)??;
        internal.resize(count, 0.0);
        match system.advance_internal(start, (start.t + dt, &state.q, &state.v), internal) {
            Ok(()) => {
                state.internal[..count].copy_from_slice(internal);
                Ok(stats)
            }
            Err(source) => {
                state.clone_from(before);
                Err(StepError::History { t: before.t + dt, source })
            }
        }
    }
}
