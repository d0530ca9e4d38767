//! Reference cases by id, and comparisons that name what they compare.
#![allow(dead_code, reason = "every test binary uses its own part")]

use sim_verify::reference::{self, ReferenceError};

/// One case of the reference set; a name is looked up among the inputs first.
pub struct Case(&'static reference::Case);

impl Case {
    pub fn new(id: &str) -> Self {
        Self(reference::case(id).unwrap())
    }

    fn find<T>(name: &str, read: impl Fn(&str) -> Result<T, ReferenceError>) -> T {
        read(&format!("inputs/{name}")).or_else(|_| read(&format!("expected/{name}"))).unwrap()
    }

    pub fn number(&self, name: &str) -> f64 {
        Self::find(name, |path| self.0.number(path))
    }

    pub fn list(&self, name: &str) -> Vec<f64> {
        Self::find(name, |path| self.0.numbers(path))
    }

    pub fn table(&self, name: &str) -> Vec<Vec<f64>> {
        Self::find(name, |path| self.0.rows(path))
    }
}

/// Relative comparison; `scale` guards expected values near zero.
#[track_caller]
pub fn close_to(what: &str, value: f64, expected: f64, tolerance: f64, scale: f64) {
    let gap = (value - expected).abs();
    assert!(gap <= tolerance * scale, "{what}: {value} instead of {expected}, off by {:e}", gap / scale);
}

#[track_caller]
pub fn close(what: &str, value: f64, expected: f64, tolerance: f64) {
    close_to(what, value, expected, tolerance, expected.abs());
}
