//! Reference cases by id, and comparisons that name what they compare.
#![allow(dead_code, reason = "every test binary uses its own part")]

use serde_json::Value;

/// One case of the reference set: named numbers and tables.
pub struct Case {
    id: String,
    values: Value,
}

impl Case {
    pub fn new(id: &str) -> Self {
        let all: Value = serde_json::from_str(include_str!("reference.json")).unwrap();
        let values = all.get(id).unwrap_or_else(|| panic!("no case {id}")).clone();
        Self { id: id.to_owned(), values }
    }

    fn get(&self, name: &str) -> &Value {
        self.values.get(name).unwrap_or_else(|| panic!("{} has no {name}", self.id))
    }

    pub fn number(&self, name: &str) -> f64 {
        self.get(name).as_f64().unwrap()
    }

    pub fn list(&self, name: &str) -> Vec<f64> {
        self.get(name).as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect()
    }

    pub fn table(&self, name: &str) -> Vec<Vec<f64>> {
        let rows = self.get(name).as_array().unwrap();
        rows.iter().map(|row| row.as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect()).collect()
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
