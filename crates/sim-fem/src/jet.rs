//! Numbers that carry their derivatives with respect to the twelve degrees of freedom of a beam.

use std::ops::{Add, Mul, Neg, Sub};

/// Number of independent variables.
pub(crate) const VARIABLES: usize = 12;
const PAIRS: usize = VARIABLES * (VARIABLES + 1) / 2;

/// What the kinematics of a beam needs of a number: written once, run as value, gradient or Hessian.
pub(crate) trait Number:
    Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Neg<Output = Self>
{
    /// A number without derivatives.
    fn constant(value: f64) -> Self;
    /// The value alone.
    fn value(&self) -> f64;
    /// Times a constant.
    fn scale(self, factor: f64) -> Self;
    /// A function of one variable, given its value and first two derivatives here.
    fn chain(self, value: f64, first: f64, second: f64) -> Self;

    /// Square root of a positive number.
    fn sqrt(self) -> Self {
        let root = self.value().sqrt();
        self.chain(root, 0.5 / root, -0.25 / (root * self.value()))
    }

    /// 1/x.
    fn recip(self) -> Self {
        let r = 1.0 / self.value();
        self.chain(r, -r * r, 2.0 * r * r * r)
    }
}

impl Number for f64 {
    fn constant(value: f64) -> Self {
        value
    }
    fn value(&self) -> f64 {
        *self
    }
    fn scale(self, factor: f64) -> Self {
        self * factor
    }
    fn chain(self, value: f64, _first: f64, _second: f64) -> Self {
        value
    }
}

/// Value and gradient.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Gradient {
    pub(crate) v: f64,
    pub(crate) g: [f64; VARIABLES],
}

/// Value, gradient and lower triangle of the Hessian, row by row.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hessian {
    pub(crate) v: f64,
    pub(crate) g: [f64; VARIABLES],
    h: [f64; PAIRS],
}

impl Gradient {
    /// Independent variable number `index`.
    pub(crate) fn variable(value: f64, index: usize) -> Self {
        let mut g = [0.0; VARIABLES];
        g[index] = 1.0;
        Self { v: value, g }
    }

    fn combine(self, other: Self, v: f64, a: f64, b: f64) -> Self {
        Self { v, g: std::array::from_fn(|i| a * self.g[i] + b * other.g[i]) }
    }
}

impl Hessian {
    /// Independent variable number `index`.
    pub(crate) fn variable(value: f64, index: usize) -> Self {
        Self { v: value, g: Gradient::variable(value, index).g, h: [0.0; PAIRS] }
    }

    /// Second derivative.
    pub(crate) fn second(&self, i: usize, j: usize) -> f64 {
        let (i, j) = (i.max(j), i.min(j));
        self.h[i * (i + 1) / 2 + j]
    }

    fn combine(self, other: Self, v: f64, a: f64, b: f64) -> Self {
        Self {
            v,
            g: std::array::from_fn(|i| a * self.g[i] + b * other.g[i]),
            h: std::array::from_fn(|i| a * self.h[i] + b * other.h[i]),
        }
    }
}

impl Number for Gradient {
    fn constant(value: f64) -> Self {
        Self { v: value, g: [0.0; VARIABLES] }
    }
    fn value(&self) -> f64 {
        self.v
    }
    fn scale(self, factor: f64) -> Self {
        Self { v: self.v * factor, g: self.g.map(|g| g * factor) }
    }
    fn chain(self, value: f64, first: f64, _second: f64) -> Self {
        Self { v: value, g: self.g.map(|g| g * first) }
    }
}

impl Number for Hessian {
    fn constant(value: f64) -> Self {
        Self { v: value, g: [0.0; VARIABLES], h: [0.0; PAIRS] }
    }
    fn value(&self) -> f64 {
        self.v
    }
    fn scale(self, factor: f64) -> Self {
        Self { v: self.v * factor, g: self.g.map(|g| g * factor), h: self.h.map(|h| h * factor) }
    }
    fn chain(self, value: f64, first: f64, second: f64) -> Self {
        let mut result = Self { v: value, g: self.g.map(|g| g * first), h: self.h.map(|h| h * first) };
        let mut k = 0;
        for i in 0..VARIABLES {
            for j in 0..=i {
                result.h[k] += second * self.g[i] * self.g[j];
                k += 1;
            }
        }
        result
    }
}

macro_rules! linear_operators {
    ($type:ident) => {
        impl Add for $type {
            type Output = Self;
            fn add(self, other: Self) -> Self {
                self.combine(other, self.v + other.v, 1.0, 1.0)
            }
        }
        impl Sub for $type {
            type Output = Self;
            fn sub(self, other: Self) -> Self {
                self.combine(other, self.v - other.v, 1.0, -1.0)
            }
        }
        impl Neg for $type {
            type Output = Self;
            fn neg(self) -> Self {
                self.scale(-1.0)
            }
        }
    };
}
linear_operators!(Gradient);
linear_operators!(Hessian);

impl Mul for Gradient {
    type Output = Self;
    fn mul(self, other: Self) -> Self {
        self.combine(other, self.v * other.v, other.v, self.v)
    }
}

impl Mul for Hessian {
    type Output = Self;
    fn mul(self, other: Self) -> Self {
        let mut result = self.combine(other, self.v * other.v, other.v, self.v);
        let mut k = 0;
        for i in 0..VARIABLES {
            for j in 0..=i {
                result.h[k] += self.g[i] * other.g[j] + self.g[j] * other.g[i];
                k += 1;
            }
        }
        result
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn function<N: Number>(x: N, y: N) -> N {
        (x * y + x).sqrt() * (y - x.scale(0.3)).recip() - x * x
    }

    #[test]
    fn derivatives_equal_differences() {
        let (x, y, step) = (0.7, 1.9, 1e-4);
        let jet = function(Hessian::variable(x, 0), Hessian::variable(y, 5));
        let gradient = function(Gradient::variable(x, 0), Gradient::variable(y, 5));
        assert_eq!(jet.g, gradient.g);
        assert_eq!(jet.v, function(x, y));
        let fx = (function(x + step, y) - function(x - step, y)) / (2.0 * step);
        let fxy =
            (function(x + step, y + step) - function(x + step, y - step) - function(x - step, y + step)
                + function(x - step, y - step))
                / (4.0 * step * step);
        let fxx = (function(x + step, y) - 2.0 * function(x, y) + function(x - step, y)) / (step * step);
        assert!((jet.g[0] - fx).abs() < 1e-6 && fx.abs() > 0.1);
        assert!((jet.second(5, 0) - fxy).abs() < 1e-5 && fxy.abs() > 0.1);
        assert!((jet.second(0, 0) - fxx).abs() < 1e-5 && fxx.abs() > 0.1);
        assert_eq!(jet.second(3, 0), 0.0);
    }
}
