//! Reference cases: published, closed-form and high-precision values by case id.
//!
//! The files lie in `reference/` of this crate, with a README that names their sources. Values are reached by a path of names and
//! indices separated by `/`, because names contain dots and brackets:
//!
//! ```
//! use sim_verify::reference::case;
//!
//! let case = case("A-limit-damped-table").unwrap();
//! assert_eq!(case.number("inputs/zeta/1").unwrap(), 0.05);
//! assert_eq!(case.numbers("expected/limit_central_difference").unwrap(), [2.0; 6]);
//! assert_eq!(case.unit("inputs/zeta").unwrap(), "1");
//! let error = case.number("expected/limit").unwrap_err();
//! assert!(error.to_string().contains("limit_kdk_lagged"));
//! ```

use nalgebra::{Complex, DMatrix};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// Letter, name and text of each file.
const FILES: [(char, &str, &str); 6] = [
    ('A', "time integrators", include_str!("../reference/A_integrators.json")),
    (
        'B',
        "springs, ropes, waves, materials",
        include_str!("../reference/B_springs_ropes_waves_rheology.json"),
    ),
    ('C', "belts and pulleys", include_str!("../reference/C_belts_pulleys.json")),
    ('D', "trusses, cables, beams", include_str!("../reference/D_truss_cable_beam_fem.json")),
    ('E', "linear algebra", include_str!("../reference/E_linear_algebra.json")),
    ('F', "position-based dynamics and contact", include_str!("../reference/F_pbd_xpbd_contact.json")),
];

static CASES: LazyLock<Vec<Case>> = LazyLock::new(|| {
    FILES
        .iter()
        .flat_map(|(area, _, text)| {
            serde_json::from_str::<Vec<Case>>(text)
                .unwrap_or_else(|error| panic!("reference file {area}: {error}"))
        })
        .collect()
});

/// A value with its unit.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Quantity {
    /// Number, list, list of rows, complex number `{re, im}` or text.
    pub value: Value,
    /// `"1"` when dimensionless.
    pub unit: String,
}

/// One case.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// Id; its first letter is the area.
    pub id: String,
    /// One line for people.
    pub title: String,
    /// The exact problem and algorithm.
    pub description: String,
    /// What is given.
    pub inputs: BTreeMap<String, Quantity>,
    /// What must come out.
    pub expected: BTreeMap<String, Quantity>,
    /// Advice on how closely, in words.
    pub tolerance: String,
    /// First number of that advice.
    pub suggested_rtol: Option<f64>,
    /// `exact`, `computed`, `published` or a mixture.
    pub confidence: String,
    /// How the values were checked.
    pub verified_by: Vec<String>,
    /// Where they come from.
    pub source: String,
    /// Remarks.
    #[serde(default)]
    pub notes: Option<String>,
}

/// A case or a value in it that does not exist, or is of another kind.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReferenceError {
    /// No such case.
    #[error("there is no reference case {id}")]
    NoCase {
        /// Id asked for.
        id: String,
    },
    /// No such value.
    #[error("{case}: no {path}; there are {known}")]
    NoValue {
        /// Case id.
        case: String,
        /// Path asked for.
        path: String,
        /// Names or number of entries at the place where the path fails.
        known: String,
    },
    /// The value is not what was asked for.
    #[error("{case}: {path} is not {wanted}")]
    Kind {
        /// Case id.
        case: String,
        /// Path asked for.
        path: String,
        /// What was asked for.
        wanted: &'static str,
    },
}

/// Every case of every area, in file order.
pub fn cases() -> &'static [Case] {
    &CASES
}

/// Letter and name of every area.
pub fn areas() -> impl Iterator<Item = (char, &'static str)> {
    FILES.iter().map(|&(letter, name, _)| (letter, name))
}

/// The case with this id.
///
/// # Errors
/// [`ReferenceError::NoCase`].
pub fn case(id: &str) -> Result<&'static Case, ReferenceError> {
    CASES.iter().find(|case| case.id == id).ok_or_else(|| ReferenceError::NoCase { id: id.to_owned() })
}

/// The cases that none of `covered` names.
pub fn open_cases(covered: &[&str]) -> Vec<&'static Case> {
    CASES.iter().filter(|case| !covered.contains(&case.id.as_str())).collect()
}

fn number_of(value: &Value) -> Option<f64> {
    value.as_f64()
}

fn list_of<T>(value: &Value, entry: impl Fn(&Value) -> Option<T>) -> Option<Vec<T>> {
    value.as_array()?.iter().map(entry).collect()
}

impl Case {
    /// Area letter.
    pub fn area(&self) -> char {
        self.id.chars().next().unwrap_or('?')
    }

    fn quantity(&self, path: &str) -> Result<(&Quantity, Vec<String>), ReferenceError> {
        let mut steps = path.split('/').map(str::to_owned);
        let missing =
            |known: String| ReferenceError::NoValue { case: self.id.clone(), path: path.to_owned(), known };
        let table = match steps.next().as_deref() {
            Some("inputs") => &self.inputs,
            Some("expected") => &self.expected,
            _ => return Err(missing("inputs, expected".into())),
        };
        let name = steps.next().unwrap_or_default();
        let names = || table.keys().cloned().collect::<Vec<_>>().join(", ");
        Ok((table.get(&name).ok_or_else(|| missing(names()))?, steps.collect()))
    }

    /// The raw value at `inputs/NAME/…` or `expected/NAME/…`.
    ///
    /// # Errors
    /// [`ReferenceError::NoValue`] that lists what there is.
    pub fn value(&self, path: &str) -> Result<&Value, ReferenceError> {
        let (quantity, steps) = self.quantity(path)?;
        steps.iter().try_fold(&quantity.value, |at, step| {
            let next = match at {
                Value::Array(list) => step.parse().ok().and_then(|i: usize| list.get(i)),
                other => other.get(step),
            };
            next.ok_or_else(|| ReferenceError::NoValue {
                case: self.id.clone(),
                path: path.to_owned(),
                known: match at {
                    Value::Array(list) => format!("{} entries", list.len()),
                    Value::Object(map) => map.keys().cloned().collect::<Vec<_>>().join(", "),
                    _ => "no entries".into(),
                },
            })
        })
    }

    fn read<T>(
        &self,
        path: &str,
        wanted: &'static str,
        read: impl Fn(&Value) -> Option<T>,
    ) -> Result<T, ReferenceError> {
        read(self.value(path)?).ok_or_else(|| ReferenceError::Kind {
            case: self.id.clone(),
            path: path.to_owned(),
            wanted,
        })
    }

    /// The unit of `inputs/NAME` or `expected/NAME`.
    ///
    /// # Errors
    /// [`ReferenceError::NoValue`].
    pub fn unit(&self, path: &str) -> Result<&str, ReferenceError> {
        Ok(&self.quantity(path)?.0.unit)
    }

    /// A number.
    ///
    /// # Errors
    /// [`ReferenceError`].
    pub fn number(&self, path: &str) -> Result<f64, ReferenceError> {
        self.read(path, "a number", number_of)
    }

    /// A list of numbers.
    ///
    /// # Errors
    /// [`ReferenceError`].
    pub fn numbers(&self, path: &str) -> Result<Vec<f64>, ReferenceError> {
        self.read(path, "a list of numbers", |value| list_of(value, number_of))
    }

    /// A point or vector.
    ///
    /// # Errors
    /// [`ReferenceError`].
    pub fn vector(&self, path: &str) -> Result<[f64; 3], ReferenceError> {
        self.read(path, "a list of three numbers", |value| list_of(value, number_of)?.try_into().ok())
    }

    /// Rows of numbers, which need not be of equal length.
    ///
    /// # Errors
    /// [`ReferenceError`].
    pub fn rows(&self, path: &str) -> Result<Vec<Vec<f64>>, ReferenceError> {
        self.read(path, "a list of lists of numbers", |value| list_of(value, |row| list_of(row, number_of)))
    }

    /// A matrix.
    ///
    /// # Errors
    /// [`ReferenceError`], also when rows differ in length.
    pub fn matrix(&self, path: &str) -> Result<DMatrix<f64>, ReferenceError> {
        let rows = self.rows(path)?;
        let columns = rows.first().map_or(0, Vec::len);
        if rows.iter().any(|row| row.len() != columns) {
            return Err(ReferenceError::Kind {
                case: self.id.clone(),
                path: path.to_owned(),
                wanted: "a matrix",
            });
        }
        Ok(DMatrix::from_fn(rows.len(), columns, |r, c| rows[r][c]))
    }

    /// A complex number.
    ///
    /// # Errors
    /// [`ReferenceError`].
    pub fn complex(&self, path: &str) -> Result<Complex<f64>, ReferenceError> {
        self.read(path, "a complex number", |value| {
            Some(Complex::new(number_of(value.get("re")?)?, number_of(value.get("im")?)?))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_case_is_read_and_unique() {
        let count = |area| cases().iter().filter(|case| case.area() == area).count();
        assert_eq!(areas().map(|(letter, _)| count(letter)).collect::<Vec<_>>(), [50, 30, 14, 25, 10, 20]);
        for (index, case) in cases().iter().enumerate() {
            assert!(cases()[..index].iter().all(|other| other.id != case.id), "{} twice", case.id);
            assert!(!case.expected.is_empty() && !case.source.is_empty(), "{}", case.id);
        }
    }

    #[test]
    fn values_of_every_kind() {
        let sdof = case("A-sdof-explicit_euler-undamped").unwrap();
        // k/m h = 2.5 for ω = 5 rad/s and h = 0.1 s.
        assert_eq!(sdof.matrix("expected/A").unwrap(), DMatrix::from_row_slice(2, 2, &[1.0, 0.1, -2.5, 1.0]));
        assert_eq!(sdof.unit("inputs/k").unwrap(), "N/m");
        let tr_bdf2 = case("A-stability-function-tr-bdf2").unwrap();
        let r = tr_bdf2.complex("expected/R/3").unwrap();
        assert!((r.norm() - tr_bdf2.number("expected/abs_R/3").unwrap()).abs() < 1e-14);
        let spring = case("B-spring-jacobian-stretched").unwrap();
        assert_eq!(spring.vector("inputs/x_i").unwrap(), [0.3, -0.2, 0.5]);
    }

    #[test]
    fn errors_say_what_there_is() {
        assert_eq!(case("Z-9").unwrap_err().to_string(), "there is no reference case Z-9");
        let case = case("A-limit-damped-table").unwrap();
        for (path, fragment) in [
            ("inputs/zeta/9", "6 entries"),
            ("inputs/eta", "there are zeta"),
            ("outputs/zeta", "inputs, expected"),
        ] {
            let text = case.value(path).unwrap_err().to_string();
            assert!(text.contains(fragment), "{text}");
        }
        assert!(matches!(case.number("inputs/zeta"), Err(ReferenceError::Kind { .. })));
        assert!(matches!(case.complex("inputs/zeta/0"), Err(ReferenceError::Kind { .. })));
    }
}
