//! A step in one piece, or cut where Newton's method does not converge.

/// Times that a step may be halved.
const MOST_CUTS: u32 = 6;

/// What is left of a step, counted in its smallest pieces.
#[derive(Debug)]
pub(crate) struct Pieces {
    done: u32,
    /// The next piece is the step divided by 2 to this power.
    level: u32,
}

impl Pieces {
    /// The step as a whole.
    pub fn new() -> Self {
        Self { done: 0, level: 0 }
    }

    /// Start and length of the next piece as fractions of the step; `None` when the step is complete.
    pub fn piece(&self) -> Option<(f64, f64)> {
        let whole = f64::from(1_u32 << MOST_CUTS);
        (self.done < 1 << MOST_CUTS).then(|| (f64::from(self.done) / whole, 0.5_f64.powi(self.level as i32)))
    }

    /// The piece has been made: the next is twice as long where two of its length make one.
    pub fn complete(&mut self) {
        self.done += 1 << (MOST_CUTS - self.level);
        while self.level > 0 && self.done.is_multiple_of(1 << (MOST_CUTS - self.level + 1)) {
            self.level -= 1;
        }
    }

    /// Halves the next piece; false when it may not be any shorter.
    pub fn cut(&mut self) -> bool {
        let may = self.level < MOST_CUTS;
        self.level += u32::from(may);
        may
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_join_to_the_step() {
        let mut pieces = Pieces::new();
        let mut made = Vec::new();
        let mut cuts = 2;
        while let Some((start, length)) = pieces.piece() {
            assert_eq!(start, made.iter().sum::<f64>());
            if cuts > 0 {
                assert!(pieces.cut());
                cuts -= 1;
                continue;
            }
            made.push(length);
            pieces.complete();
        }
        assert_eq!(made, [0.25, 0.25, 0.5]);
        let mut pieces = Pieces::new();
        assert_eq!((0..10).filter(|_| pieces.cut()).count(), MOST_CUTS as usize);
    }
}
