//! How often a checkpoint is made.

use std::str::FromStr;

/// Distance of two checkpoints; they are made at the end of the frame in which it has passed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Every {
    /// Wall-clock time in s, written `5s`, `2min` or `1h`.
    Wall(f64),
    /// Simulated time in s, written `0.1sim`.
    Simulated(f64),
}

/// A text that is no distance of checkpoints.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{text}`: must be a finite number that is not negative with `s`, `min` or `h` for wall-clock time or `sim` for seconds of \
     simulated time, like 30s or 0.1sim"
)]
pub struct EveryError {
    /// What was given.
    pub text: String,
}

impl FromStr for Every {
    type Err = EveryError;

    fn from_str(text: &str) -> Result<Self, EveryError> {
        let wrong = || EveryError { text: text.to_owned() };
        let unit_at = text.rfind(|c: char| c.is_ascii_digit() || c == '.').map_or(0, |i| i + 1);
        let (number, unit) = text.split_at(unit_at);
        let number: f64 = number.parse().map_err(|_| wrong())?;
        let every = match unit {
            "s" => Self::Wall(number),
            "min" => Self::Wall(60.0 * number),
            "h" => Self::Wall(3600.0 * number),
            "sim" => Self::Simulated(number),
            _ => return Err(wrong()),
        };
        let (Self::Wall(length) | Self::Simulated(length)) = every;
        if length.is_finite() && length >= 0.0 { Ok(every) } else { Err(wrong()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_told_apart() {
        assert_eq!("5s".parse(), Ok(Every::Wall(5.0)));
        assert_eq!("1.5min".parse(), Ok(Every::Wall(90.0)));
        assert_eq!("2h".parse(), Ok(Every::Wall(7200.0)));
        assert_eq!("1e-1sim".parse(), Ok(Every::Simulated(0.1)));
        for wrong in ["", "5", "s", "5 s", "-1s", "1e999s", "nansim", "5m", "5ſ"] {
            assert!(wrong.parse::<Every>().is_err(), "{wrong}");
        }
    }
}
