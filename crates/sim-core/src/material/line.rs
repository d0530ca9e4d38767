//! What a line is made of: an elastic law, and beside it what creeps, what slips and what breaks.

use super::{Law, MaterialError, positive, value_error};
use serde::{Deserialize, Serialize};

/// A spring in series with a dashpot, beside the law: a Maxwell element. Its tension decays with `time` when the length is held.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Branch {
    /// Tension per strain when pulled fast, in N or Pa as the law; positive.
    pub modulus: f64,
    /// Relaxation time (viscosity over modulus) in s, positive.
    pub time: f64,
}

/// A spring in series with dry friction, beside the law (Jenkins element; several make an Iwan model): rate-independent hysteresis.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SlipElement {
    /// Tension per strain while it sticks, in N or Pa as the law; positive.
    pub modulus: f64,
    /// Tension at which it slips, positive.
    pub slip: f64,
}

/// When it breaks; at least one of the two.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Break {
    /// Tension in N or Pa as the law, positive.
    pub tension: Option<f64>,
    /// Strain λ - 1, positive.
    pub strain: Option<f64>,
}

/// What a line has been through before the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HistoryStart {
    /// Brought to its length just now, too fast to creep.
    #[default]
    Fresh,
    /// Held at its length for ever: branches carry nothing.
    Relaxed,
}

/// The material of a line.
///
/// `T = law(λ) + Σ branch tensions + Σ slip tensions`. What it remembers, in the order of `State::internal`: one tension per branch, the
/// slipped strain of every slip element, and 1 once it is broken (absent when it cannot break).
///
/// Branches obey `dT/dt = G dλ/dt - T/τ`. Between two states the stretch is taken to go in a straight line, which integrates exactly:
/// `T1 = e^(-x) T0 + G (1 - e^(-x))/x (λ1 - λ0)` with x = Δt/τ. For motion that is smooth in time its error is of second order, for
/// Δt ≫ τ it goes over into the viscous tension `G τ dλ/dt`, and it is exact for held lengths and for constant rates.
///
/// Source: R. L. Taylor, K. S. Pister, G. L. Goudreau, Int. J. Numer. Methods Eng. 2 (1970) 45; J. C. Simo, T. J. R. Hughes, Computational
/// Inelasticity (1998), section 10.2. Slip elements: W. D. Iwan, J. Appl. Mech. 33 (1966) 893; return mapping, Simo & Hughes section 1.4.
///
/// # Limitations
/// Branches and slip elements are linear in strain whatever the law. A material that breaks loses all tension at the end of the step in
/// which it reached its limit. Temperature changes no time constant. Below a hundredth and above twenty times the unloaded length the
/// tension goes on straight whatever the law.
#[derive(Clone, Debug, PartialEq)]
pub struct LineMaterial {
    /// Elastic law: the tension after an infinite time.
    pub law: Law,
    /// Maxwell branches.
    pub branches: Vec<Branch>,
    /// Slip elements.
    pub slips: Vec<SlipElement>,
    /// When it breaks.
    pub breaks: Option<Break>,
    /// What it has been through before the run.
    pub start: HistoryStart,
}

impl From<Law> for LineMaterial {
    fn from(law: Law) -> Self {
        Self { law, branches: Vec::new(), slips: Vec::new(), breaks: None, start: HistoryStart::Fresh }
    }
}

/// Where a step began.
#[derive(Clone, Copy, Debug)]
pub struct Past<'a> {
    /// Stretch then.
    pub stretch: f64,
    /// History then.
    pub history: &'a [f64],
    /// Time since then in s, not negative.
    pub elapsed: f64,
}

/// The material at a stretch.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Response {
    /// N or Pa.
    pub tension: f64,
    /// d tension / d stretch at a fixed elapsed time.
    pub tangent: f64,
    /// Stored energy per unloaded length or volume.
    pub energy: f64,
}

/// Stretches between which a law is asked. Beyond them the tension goes on straight: what is crushed to a hundredth or drawn to twenty
/// times its length is no material any more, but an iteration that passes there must stay finite.
const ASKED: (f64, f64) = (0.01, 20.0);

/// `(e^(-x), (1 - e^(-x))/x)`.
fn decay(x: f64) -> (f64, f64) {
    let lost = -(-x).exp_m1();
    (1.0 - lost, if x > 0.0 { lost / x } else { 1.0 })
}

impl Branch {
    /// `∫ T²/(G τ) dt` over a step that begins at `tension`.
    fn loss(&self, tension: f64, change: f64, elapsed: f64) -> f64 {
        let x = elapsed / self.time;
        if x == 0.0 {
            return 0.0;
        }
        let steady = self.modulus * change / x;
        let moving = tension - steady;
        let square = if x < 0.1 {
            // Gauss's rule with three points: the closed form would lose the digits in which both parts agree.
            let at = |part: f64| {
                let (kept, mean) = decay(part * x);
                let tension = kept * tension + self.modulus * mean * change * part;
                tension * tension
            };
            let reach = 0.5 * 0.6_f64.sqrt();
            x * (5.0 * at(0.5 - reach) + 8.0 * at(0.5) + 5.0 * at(0.5 + reach)) / 18.0
        } else {
            let once = -(-x).exp_m1();
            let twice = -(-2.0 * x).exp_m1();
            0.5 * moving * moving * twice + 2.0 * moving * steady * once + steady * steady * x
        };
        square / self.modulus
    }
}

impl SlipElement {
    /// Tension and slipped strain at a stretch; whether it slips.
    fn at(&self, slipped: f64, stretch: f64) -> (f64, f64, bool) {
        let trial = self.modulus * (stretch - 1.0 - slipped);
        if trial.abs() <= self.slip {
            return (trial, slipped, false);
        }
        let tension = self.slip.copysign(trial);
        (tension, stretch - 1.0 - tension / self.modulus, true)
    }
}

impl LineMaterial {
    /// Number of history values per line.
    pub fn history_count(&self) -> usize {
        self.branches.len() + self.slips.len() + usize::from(self.breaks.is_some())
    }

    /// Whether states must be kept or checked from step to step: it remembers, or its law ends somewhere.
    pub fn remembers(&self) -> bool {
        self.history_count() > 0 || self.law.axial().known_range() != (0.0, f64::INFINITY)
    }

    /// History at the start of a run at this stretch.
    pub fn initial_history(&self, stretch: f64, history: &mut [f64]) {
        let (branches, rest) = history.split_at_mut(self.branches.len());
        for (tension, branch) in branches.iter_mut().zip(&self.branches) {
            *tension = match self.start {
                HistoryStart::Fresh => branch.modulus * (stretch - 1.0),
                HistoryStart::Relaxed => 0.0,
            };
        }
        rest.fill(0.0);
        for (slipped, slip) in rest.iter_mut().zip(&self.slips) {
            *slipped = slip.at(0.0, stretch).1;
        }
    }

    /// Whether the history says that it is broken.
    pub fn is_broken(&self, history: &[f64]) -> bool {
        self.breaks.is_some() && history.last().is_some_and(|&broken| broken != 0.0)
    }

    /// The law alone.
    pub fn elastic(&self, stretch: f64) -> Response {
        let law = self.law.axial();
        let asked = stretch.clamp(ASKED.0, ASKED.1);
        let (tension, tangent, beyond) = (law.tension(asked), law.tangent(asked), stretch - asked);
        Response {
            tension: tension + tangent * beyond,
            tangent,
            energy: law.energy(asked) + beyond * (tension + 0.5 * tangent * beyond),
        }
    }

    /// Tension, its derivative and energies at `stretch`, some time after `past`. Without a past: at the start of a run.
    pub fn respond(&self, past: Option<Past<'_>>, stretch: f64) -> Response {
        if past.is_some_and(|past| self.is_broken(past.history)) {
            return Response::default();
        }
        let mut response = self.elastic(stretch);
        for (index, branch) in self.branches.iter().enumerate() {
            let (tension, tangent) = match past {
                Some(past) => {
                    let (kept, mean) = decay(past.elapsed / branch.time);
                    let tangent = branch.modulus * mean;
                    (kept * past.history[index] + tangent * (stretch - past.stretch), tangent)
                }
                None if self.start == HistoryStart::Relaxed => (0.0, 0.0),
                None => (branch.modulus * (stretch - 1.0), branch.modulus),
            };
            response.tension += tension;
            response.tangent += tangent;
            response.energy += 0.5 * tension * tension / branch.modulus;
        }
        for (index, slip) in self.slips.iter().enumerate() {
            let slipped = past.map_or(0.0, |past| past.history[self.branches.len() + index]);
            let (tension, _, slips) = slip.at(slipped, stretch);
            response.tension += tension;
            response.energy += 0.5 * tension * tension / slip.modulus;
            if !slips {
                response.tangent += slip.modulus;
            }
        }
        response
    }

    /// The history at `stretch`, some time after `past`; true when it broke there.
    pub fn advance(&self, past: Past<'_>, stretch: f64, history: &mut [f64]) -> bool {
        history.copy_from_slice(past.history);
        if self.is_broken(past.history) {
            return false;
        }
        for (index, branch) in self.branches.iter().enumerate() {
            let (kept, mean) = decay(past.elapsed / branch.time);
            history[index] = kept * past.history[index] + branch.modulus * mean * (stretch - past.stretch);
        }
        for (index, slip) in self.slips.iter().enumerate() {
            let place = self.branches.len() + index;
            history[place] = slip.at(past.history[place], stretch).1;
        }
        let Some(breaks) = self.breaks else { return false };
        let over = breaks.strain.is_some_and(|strain| stretch - 1.0 >= strain)
            || breaks.tension.is_some_and(|tension| self.respond(Some(past), stretch).tension >= tension);
        if over && let Some(broken) = history.last_mut() {
            *broken = 1.0;
        }
        over
    }

    /// Energy that creep and slip have taken per unloaded length or volume on the way from `past` to `stretch`, not negative: exact for a
    /// stretch that goes in a straight line.
    pub fn loss(&self, past: Past<'_>, stretch: f64) -> f64 {
        if self.is_broken(past.history) {
            return 0.0;
        }
        let mut sum = 0.0;
        for (branch, &tension) in self.branches.iter().zip(past.history) {
            sum += branch.loss(tension, stretch - past.stretch, past.elapsed);
        }
        for (slip, &slipped) in self.slips.iter().zip(&past.history[self.branches.len()..]) {
            let (tension, after, _) = slip.at(slipped, stretch);
            sum += tension.abs() * (after - slipped).abs();
        }
        sum
    }

    /// A bound on |tangent| between two stretches, whatever the history.
    pub fn tangent_bound(&self, low: f64, high: f64) -> f64 {
        let beside = self.branches.iter().map(|branch| branch.modulus);
        let slips = self.slips.iter().map(|slip| slip.modulus);
        let asked = |stretch: f64| stretch.clamp(ASKED.0, ASKED.1);
        self.law.axial().tangent_bound(asked(low), asked(high)) + beside.chain(slips).sum::<f64>()
    }

    /// Checks every parameter.
    ///
    /// # Errors
    /// [`MaterialError`] naming the first one out of range.
    pub fn validate(&self) -> Result<(), MaterialError> {
        self.law.axial().validate()?;
        for (index, branch) in self.branches.iter().enumerate() {
            positive("branch", &format!("branches[{index}].modulus"), branch.modulus)?;
            positive("branch", &format!("branches[{index}].time"), branch.time)?;
        }
        for (index, slip) in self.slips.iter().enumerate() {
            positive("slip element", &format!("slips[{index}].modulus"), slip.modulus)?;
            positive("slip element", &format!("slips[{index}].slip"), slip.slip)?;
        }
        if let Some(breaks) = self.breaks {
            let (tension, strain) = (breaks.tension, breaks.strain);
            if tension.is_none() && strain.is_none() {
                return Err(value_error("break", "tension", 0.0, "given, or `strain`, or both"));
            }
            tension.map_or(Ok(()), |tension| positive("break", "tension", tension))?;
            strain.map_or(Ok(()), |strain| positive("break", "strain", strain))?;
        }
        Ok(())
    }
}
