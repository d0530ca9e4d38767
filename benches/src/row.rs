//! One line of a benchmark table.

use serde::Serialize;

/// A measured quantity, with a peer's value from the same run where there is one.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Row {
    /// Workload id.
    pub workload: String,
    /// Size and variant, e.g. `n=100, two threads`.
    pub case: String,
    /// What is measured, e.g. `time per solve`.
    pub quantity: String,
    /// Unit of `ours` and of `peer`.
    pub unit: &'static str,
    /// Our figure: the median of the repeats.
    pub ours: f64,
    /// Largest minus smallest repeat, as a fraction of the median.
    pub spread: f64,
    /// Name of the peer.
    pub peer_name: Option<String>,
    /// The peer's figure.
    pub peer: Option<f64>,
    /// What is wanted.
    pub goal: Option<Goal>,
    /// Anything worth saying: iterations, solver chosen, memory.
    pub note: String,
    /// Whether the answer agrees with the expected one; `None` where there is none.
    pub correct: Option<bool>,
}

/// What a row should reach.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Goal {
    /// `ours / peer` at most this.
    RatioAtMost(f64),
    /// `ours / peer` at least this.
    RatioAtLeast(f64),
    /// `ours` at most this.
    AtMost(f64),
    /// `ours` at least this.
    AtLeast(f64),
}

impl Row {
    /// `ours / peer`.
    pub fn ratio(&self) -> Option<f64> {
        self.peer.map(|peer| self.ours / peer)
    }

    /// Whether the goal is met; `None` without a goal or without the peer it needs.
    pub fn met(&self) -> Option<bool> {
        match self.goal? {
            Goal::RatioAtMost(limit) => self.ratio().map(|ratio| ratio <= limit),
            Goal::RatioAtLeast(limit) => self.ratio().map(|ratio| ratio >= limit),
            Goal::AtMost(limit) => Some(self.ours <= limit),
            Goal::AtLeast(limit) => Some(self.ours >= limit),
        }
    }

    /// The row as one line of text.
    pub fn line(&self) -> String {
        let peer = match (&self.peer_name, self.ratio()) {
            (Some(name), Some(ratio)) => format!("{ratio:7.3} x {name}"),
            _ => String::new(),
        };
        let goal = match (self.goal, self.met()) {
            (Some(goal), Some(met)) => format!("{} {}", if met { "ok  " } else { "MISS" }, goal_text(goal)),
            _ => String::new(),
        };
        let wrong = if self.correct == Some(false) { "  WRONG ANSWER" } else { "" };
        format!(
            "{:4} {:28} {:26} {:>11.4} {:9} ±{:3.0}% {:34} {:18} {}{wrong}",
            self.workload,
            self.case,
            self.quantity,
            self.ours,
            self.unit,
            50.0 * self.spread,
            peer,
            goal,
            self.note
        )
    }
}

fn goal_text(goal: Goal) -> String {
    match goal {
        Goal::RatioAtMost(limit) => format!("(ratio <= {limit})"),
        Goal::RatioAtLeast(limit) => format!("(ratio >= {limit})"),
        Goal::AtMost(limit) => format!("(<= {limit})"),
        Goal::AtLeast(limit) => format!("(>= {limit})"),
    }
}
