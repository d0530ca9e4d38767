//! A measured curve: monotone piecewise cubic between points.

use super::{AxialLaw, Law, LawInfo, MaterialError, value_error};
use serde::{Deserialize, Serialize};

/// Registry entry.
pub const INFO: LawInfo = LawInfo {
    id: "table",
    summary: "measured points, monotone cubic between them",
    source: "Fritsch & Carlson, SIAM J. Numer. Anal. 17 (1980) 238; slopes of Fritsch & Butland, SIAM J. Sci. Stat. Comput. 5 (1984) 300",
    limitations: "Elastic: loading and unloading follow one curve. The stiffness is continuous, its slope is not.",
    sample: |unit| {
        let strains = vec![-0.9, -0.2, 0.0, 0.3, 0.8, 2.0, 6.0];
        let tensions = [-1.1, -0.3, 0.0, 0.5, 1.8, 3.1, 3.6].map(|tension| tension * unit).to_vec();
        let law = Table::new(strains, tensions, Below::Linear, Above::Linear);
        Law::Table(law.expect("the sample is in order"))
    },
};

/// What a table says below its first strain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Below {
    /// Nothing: being there is an error.
    Error,
    /// It goes on straight.
    Linear,
    /// No tension: for tables that start at strain 0 and tension 0.
    Slack,
}

/// What a table says above its last strain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Above {
    /// Nothing: being there is an error.
    Error,
    /// It goes on straight.
    Linear,
}

/// Points `(strain, tension)` joined by cubics that keep every rise and fall of the points and have no overshoot.
///
/// The slope at an inner point is zero where the points turn, else the harmonic mean of the two secants weighted by the lengths beside it;
/// at the ends it is that of the three-point parabola, cut so that it stays monotone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Points", into = "Points")]
pub struct Table {
    points: Points,
    slopes: Vec<f64>,
    /// ∫ from the first point to each.
    integrals: Vec<f64>,
    /// ∫ from the first point to strain 0.
    origin: f64,
}

/// The table as files give it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Points {
    /// Strains λ - 1, strictly increasing, above -1; they reach from below or at 0 to above it.
    pub strains: Vec<f64>,
    /// Tension in N or Pa per strain; the curve passes through 0 at strain 0, which must be one of the points.
    pub tensions: Vec<f64>,
    /// Below the first strain.
    pub below: Below,
    /// Above the last strain.
    pub above: Above,
}

impl TryFrom<Points> for Table {
    type Error = MaterialError;

    fn try_from(points: Points) -> Result<Self, MaterialError> {
        Self::new(points.strains, points.tensions, points.below, points.above)
    }
}

impl From<Table> for Points {
    fn from(table: Table) -> Self {
        table.points
    }
}

/// Slope at an end from the two nearest intervals, kept monotone (de Boor's three-point formula as in Fritsch & Butland).
fn end_slope(h: [f64; 2], d: [f64; 2]) -> f64 {
    let slope = ((2.0 * h[0] + h[1]) * d[0] - h[0] * d[1]) / (h[0] + h[1]);
    if slope * d[0] <= 0.0 {
        0.0
    } else if d[0] * d[1] <= 0.0 && slope.abs() > 3.0 * d[0].abs() {
        3.0 * d[0]
    } else {
        slope
    }
}

fn slopes(x: &[f64], y: &[f64]) -> Vec<f64> {
    let h: Vec<f64> = x.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let d: Vec<f64> = y.windows(2).zip(&h).map(|(pair, h)| (pair[1] - pair[0]) / h).collect();
    if d.len() == 1 {
        return vec![d[0]; 2];
    }
    let last = d.len() - 1;
    let mut slopes = vec![end_slope([h[0], h[1]], [d[0], d[1]])];
    for i in 1..d.len() {
        slopes.push(if d[i - 1] * d[i] > 0.0 {
            let (w0, w1) = (2.0 * h[i] + h[i - 1], h[i] + 2.0 * h[i - 1]);
            (w0 + w1) / (w0 / d[i - 1] + w1 / d[i])
        } else {
            0.0
        });
    }
    slopes.push(end_slope([h[last], h[last - 1]], [d[last], d[last - 1]]));
    slopes
}

/// Where a strain lies.
enum Piece {
    Below,
    Above,
    /// Interval and distance from its left end.
    Between(usize, f64),
}

impl Table {
    /// Joins the points.
    ///
    /// # Errors
    /// [`MaterialError`] naming the point that is out of order.
    pub fn new(
        strains: Vec<f64>,
        tensions: Vec<f64>,
        below: Below,
        above: Above,
    ) -> Result<Self, MaterialError> {
        let points = Points { strains, tensions, below, above };
        check(&points)?;
        let slopes = slopes(&points.strains, &points.tensions);
        let mut table = Self { points, slopes, integrals: vec![0.0], origin: 0.0 };
        for i in 0..table.slopes.len() - 1 {
            let h = table.points.strains[i + 1] - table.points.strains[i];
            let before = table.integrals[i];
            table.integrals.push(before + table.cubic_integral(i, h));
        }
        table.origin = table.integral(0.0);
        Ok(table)
    }

    /// The points.
    pub fn points(&self) -> &Points {
        &self.points
    }

    fn find(&self, strain: f64) -> Piece {
        let x = &self.points.strains;
        let after = x.partition_point(|&point| point <= strain);
        if after == 0 {
            Piece::Below
        } else if after == x.len() {
            Piece::Above
        } else {
            Piece::Between(after - 1, strain - x[after - 1])
        }
    }

    /// Coefficients `c1, c2, c3` of `y + c1 s + c2 s² + c3 s³` in interval `i`.
    fn coefficients(&self, i: usize) -> [f64; 3] {
        let (x, y) = (&self.points.strains, &self.points.tensions);
        let h = x[i + 1] - x[i];
        let secant = (y[i + 1] - y[i]) / h;
        let (m0, m1) = (self.slopes[i], self.slopes[i + 1]);
        [m0, (3.0 * secant - 2.0 * m0 - m1) / h, (m0 + m1 - 2.0 * secant) / (h * h)]
    }

    fn cubic_integral(&self, i: usize, s: f64) -> f64 {
        let [c1, c2, c3] = self.coefficients(i);
        s * (self.points.tensions[i] + s * (c1 / 2.0 + s * (c2 / 3.0 + s * c3 / 4.0)))
    }

    fn slope_below(&self) -> f64 {
        if self.points.below == Below::Slack { 0.0 } else { self.slopes[0] }
    }

    fn integral(&self, strain: f64) -> f64 {
        let (x, y) = (&self.points.strains, &self.points.tensions);
        let last = x.len() - 1;
        match self.find(strain) {
            Piece::Below => {
                let s = strain - x[0];
                s * (y[0] + 0.5 * self.slope_below() * s)
            }
            Piece::Above => {
                let s = strain - x[last];
                self.integrals[last] + s * (y[last] + 0.5 * self.slopes[last] * s)
            }
            Piece::Between(i, s) => self.integrals[i] + self.cubic_integral(i, s),
        }
    }
}

fn check(points: &Points) -> Result<(), MaterialError> {
    let Points { strains, tensions, below, .. } = points;
    let law = INFO.id;
    if strains.len() != tensions.len() || strains.len() < 2 {
        return Err(MaterialError::TableLength { law, strains: strains.len(), tensions: tensions.len() });
    }
    for (name, values) in [("strains", strains), ("tensions", tensions)] {
        if let Some(i) = values.iter().position(|value| !value.is_finite()) {
            return Err(value_error(law, format!("{name}[{i}]"), values[i], "finite"));
        }
    }
    if strains[0] <= -1.0 {
        return Err(value_error(law, "strains[0]", strains[0], "above -1: at -1 the length is zero"));
    }
    if let Some(i) = strains.windows(2).position(|pair| pair[1] <= pair[0]) {
        let field = format!("strains[{}]", i + 1);
        return Err(value_error(law, field, strains[i + 1], "above the strain before it"));
    }
    let Some(zero) = strains.iter().position(|&strain| strain == 0.0) else {
        let message = "no point at strain 0; the tension there is 0 by definition of the unloaded length";
        return Err(MaterialError::Together { law, message: message.into() });
    };
    if tensions[zero] != 0.0 {
        let field = format!("tensions[{zero}]");
        return Err(value_error(law, field, tensions[zero], "0 at strain 0, the unloaded length"));
    }
    if *below == Below::Slack && zero != 0 {
        let requirement = "0 when the part is slack below the table";
        return Err(value_error(law, "strains[0]", strains[0], requirement));
    }
    Ok(())
}

impl AxialLaw for Table {
    fn id(&self) -> &'static str {
        INFO.id
    }

    fn energy(&self, stretch: f64) -> f64 {
        self.integral(stretch - 1.0) - self.origin
    }

    fn tension(&self, stretch: f64) -> f64 {
        let (x, y) = (&self.points.strains, &self.points.tensions);
        let last = x.len() - 1;
        match self.find(stretch - 1.0) {
            Piece::Below => y[0] + self.slope_below() * (stretch - 1.0 - x[0]),
            Piece::Above => y[last] + self.slopes[last] * (stretch - 1.0 - x[last]),
            Piece::Between(i, s) => {
                let [c1, c2, c3] = self.coefficients(i);
                y[i] + s * (c1 + s * (c2 + s * c3))
            }
        }
    }

    fn tangent(&self, stretch: f64) -> f64 {
        match self.find(stretch - 1.0) {
            Piece::Below => self.slope_below(),
            Piece::Above => self.slopes[self.slopes.len() - 1],
            Piece::Between(i, s) => {
                let [c1, c2, c3] = self.coefficients(i);
                c1 + s * (2.0 * c2 + 3.0 * s * c3)
            }
        }
    }

    /// Over the whole table.
    fn tangent_bound(&self, _low: f64, _high: f64) -> f64 {
        let mut bound = self.slopes.iter().fold(0.0_f64, |a, slope| a.max(slope.abs()));
        for i in 0..self.slopes.len() - 1 {
            let h = self.points.strains[i + 1] - self.points.strains[i];
            let [c1, c2, c3] = self.coefficients(i);
            let vertex = -c2 / (3.0 * c3);
            if vertex > 0.0 && vertex < h {
                bound = bound.max((c1 + c2 * vertex).abs());
            }
        }
        bound
    }

    fn known_range(&self) -> (f64, f64) {
        let x = &self.points.strains;
        (
            if self.points.below == Below::Error { 1.0 + x[0] } else { 0.0 },
            if self.points.above == Above::Error { 1.0 + x[x.len() - 1] } else { f64::INFINITY },
        )
    }

    fn kinks(&self) -> Vec<f64> {
        self.points.strains.iter().map(|strain| 1.0 + strain).collect()
    }

    fn validate(&self) -> Result<(), MaterialError> {
        check(&self.points)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passes_through_its_points_and_keeps_their_rise_and_fall() {
        // A hard case of Fritsch & Carlson (RPN 14 data, shifted to start at 0): cubic splines overshoot.
        let strains = vec![0.0, 0.19, 0.43, 0.94, 1.57, 4.2, 5.2, 12.0];
        let tensions = vec![0.0, 2.76429e-5, 4.37498e-2, 0.169183, 0.469428, 0.94374, 0.998636, 0.999994];
        let law = Table::new(strains.clone(), tensions.clone(), Below::Slack, Above::Error).unwrap();
        for (e, t) in strains.iter().zip(&tensions) {
            assert!((law.tension(1.0 + e) - t).abs() < 1e-14);
        }
        let mut last = -1.0;
        for i in 0..=12000 {
            let tension = law.tension(1.0 + f64::from(i) * 1e-3);
            assert!(tension >= last, "falls at {i}");
            last = tension;
        }
        assert_eq!(law.tension(0.7), 0.0);
        assert_eq!(law.known_range(), (0.0, 13.0));
    }

    #[test]
    fn a_straight_line_stays_straight() {
        let law =
            Table::new(vec![-0.5, 0.0, 0.1, 3.0], vec![-1.0, 0.0, 0.2, 6.0], Below::Linear, Above::Linear);
        let law = law.unwrap();
        for i in 0..80 {
            let e = -0.9 + 0.1 * f64::from(i);
            assert!((law.tension(1.0 + e) - 2.0 * e).abs() < 1e-13);
            assert!((law.energy(1.0 + e) - e * e).abs() < 1e-12 * (1.0 + e * e));
        }
    }

    #[test]
    fn points_out_of_order_are_named() {
        let error = |strains: &[f64], tensions: &[f64], below| {
            Table::new(strains.to_vec(), tensions.to_vec(), below, Above::Error).unwrap_err().to_string()
        };
        let slack = Below::Slack;
        assert!(error(&[0.0, 0.2, 0.1], &[0.0, 1.0, 2.0], slack).contains("strains[2] = 0.1"));
        assert!(error(&[0.0, 0.2], &[0.5, 1.0], slack).contains("tensions[0] = 0.5"));
        assert!(error(&[-0.1, 0.0, 0.2], &[-1.0, 0.0, 1.0], slack).contains("slack"));
        assert!(error(&[0.1, 0.2], &[0.0, 1.0], Below::Error).contains("no point at strain 0"));
        assert!(error(&[0.0], &[0.0], slack).contains("at least 2"));
        assert!(error(&[0.0, f64::NAN], &[0.0, 1.0], slack).contains("strains[1] = NaN"));
    }
}
