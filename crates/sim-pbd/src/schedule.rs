//! In which order units are visited, and which may be visited together.

use crate::options::SolveOrder;
use crate::sets::ConstraintSet;
use std::ops::Range;

/// Shorter runs stay on one thread: handing them over costs more than they do.
const SHARED_FROM: usize = 512;
/// Shares are multiples of this, so that lanes stay full.
const GRAIN: usize = 8;

/// Consecutive units of one set that share no entity.
#[derive(Clone, Debug)]
pub(crate) struct Run {
    pub set: usize,
    pub units: Range<usize>,
}

impl Run {
    /// The units of `thread` out of `threads`.
    pub(crate) fn part(&self, thread: usize, threads: usize) -> Range<usize> {
        let len = self.units.len();
        if threads == 1 || len < SHARED_FROM {
            return if thread == 0 { self.units.clone() } else { 0..0 };
        }
        let share = len.div_ceil(threads).next_multiple_of(GRAIN);
        let first = self.units.start + (thread * share).min(len);
        first..(first + share).min(self.units.end)
    }
}

/// Runs by level (or colour). The units of a level share no entity.
#[derive(Clone, Debug)]
pub(crate) struct Schedule {
    order: SolveOrder,
    runs: Vec<Run>,
    levels: Vec<Range<usize>>,
    first_work: Vec<usize>,
}

impl Schedule {
    /// Finds levels or colours and puts the units of every set in that order.
    pub(crate) fn new(sets: &mut [Box<dyn ConstraintSet>], entities: usize, order: SolveOrder) -> Self {
        let levels = match order {
            SolveOrder::List => list_levels(sets, entities),
            SolveOrder::Colors => colors(sets, entities),
        };
        let count = levels.iter().flatten().max().map_or(0, |&last| last as usize + 1);
        let mut by_level: Vec<Vec<Run>> = vec![Vec::new(); count];
        for (set, levels) in levels.iter().enumerate() {
            let mut units: Vec<u32> = (0..levels.len() as u32).collect();
            units.sort_by_key(|&unit| levels[unit as usize]);
            sets[set].reorder(&units);
            let mut first = 0;
            for same in units.chunk_by(|&a, &b| levels[a as usize] == levels[b as usize]) {
                by_level[levels[same[0] as usize] as usize]
                    .push(Run { set, units: first..first + same.len() });
                first += same.len();
            }
        }
        let mut schedule =
            Self { order, runs: Vec::new(), levels: Vec::with_capacity(count), first_work: vec![0] };
        for runs in by_level {
            let first = schedule.runs.len();
            schedule.runs.extend(runs);
            schedule.levels.push(first..schedule.runs.len());
        }
        for set in sets {
            schedule.first_work.push(schedule.first_work[schedule.first_work.len() - 1] + set.work_len());
        }
        schedule
    }

    pub(crate) fn order(&self) -> SolveOrder {
        self.order
    }

    pub(crate) fn levels(&self) -> impl Iterator<Item = &[Run]> {
        self.levels.iter().map(|level| &self.runs[level.clone()])
    }

    /// Where the work values of `set` begin; of the set after the last one, their total.
    pub(crate) fn first_work(&self, set: usize) -> usize {
        self.first_work[set]
    }

    pub(crate) fn work_len(&self) -> usize {
        self.first_work[self.first_work.len() - 1]
    }
}

/// A unit stands one level above every earlier unit with which it shares an entity: going by levels does the same
/// as going by the list.
fn list_levels(sets: &[Box<dyn ConstraintSet>], entities: usize) -> Vec<Vec<u32>> {
    let mut next = vec![0_u32; entities];
    let mut level_of = |set: &dyn ConstraintSet, unit: usize| {
        let mut level = 0;
        set.entities(unit, &mut |e| level = level.max(next[e as usize]));
        set.entities(unit, &mut |e| next[e as usize] = level + 1);
        level
    };
    sets.iter().map(|set| (0..set.units()).map(|unit| level_of(set.as_ref(), unit)).collect()).collect()
}

/// The first colour that no earlier unit with a common entity has.
fn colors(sets: &[Box<dyn ConstraintSet>], entities: usize) -> Vec<Vec<u32>> {
    let mut taken: Vec<Vec<u64>> = vec![Vec::new(); entities];
    let mut union = Vec::new();
    let mut color_of = |set: &dyn ConstraintSet, unit: usize| {
        union.clear();
        set.entities(unit, &mut |e| {
            for (word, &bits) in taken[e as usize].iter().enumerate() {
                if word == union.len() {
                    union.push(0);
                }
                union[word] |= bits;
            }
        });
        let word = union.iter().position(|&bits| bits != u64::MAX).unwrap_or(union.len());
        let bit = union.get(word).map_or(0, |bits: &u64| bits.trailing_ones());
        set.entities(unit, &mut |e| {
            let words = &mut taken[e as usize];
            if words.len() <= word {
                words.resize(word + 1, 0);
            }
            words[word] |= 1 << bit;
        });
        64 * word as u32 + bit
    };
    sets.iter().map(|set| (0..set.units()).map(|unit| color_of(set.as_ref(), unit)).collect()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::constraint::Bound;
    use crate::constraints::distance::Distance;
    use crate::constraints::rope_bending::RopeBending;
    use crate::sets::Batch;
    use std::collections::BTreeSet;

    fn mixed() -> Vec<Box<dyn ConstraintSet>> {
        let n = 200_u32;
        let mut next = 7_u32;
        let mut random = |bound: u32| {
            next = next.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (next >> 8) % bound
        };
        let mut pairs = Vec::new();
        while pairs.len() < 2000 {
            let (a, b) = (random(n), random(n));
            if a != b {
                pairs.push(Bound::rigid([a, b], Distance { rest_length: 1.0 }));
            }
        }
        let triples = (0..n - 2).map(|i| Bound::rigid([i, i + 1, i + 2], RopeBending)).collect();
        vec![Box::new(Batch::new(pairs)), Box::new(Batch::new(triples))]
    }

    #[test]
    fn no_level_holds_an_entity_twice_and_nothing_is_lost() {
        for order in [SolveOrder::List, SolveOrder::Colors] {
            let mut sets = mixed();
            let schedule = Schedule::new(&mut sets, 200, order);
            let mut visited = 0;
            for level in schedule.levels() {
                let mut seen = BTreeSet::new();
                for run in level {
                    for threads in [1, 2, 3, 7] {
                        let parts: Vec<usize> =
                            (0..threads).flat_map(|thread| run.part(thread, threads)).collect();
                        assert_eq!(parts, run.units.clone().collect::<Vec<_>>(), "{threads} threads");
                    }
                    for unit in run.units.clone() {
                        visited += 1;
                        sets[run.set]
                            .entities(unit, &mut |e| assert!(seen.insert(e), "{e} twice in a level"));
                    }
                }
            }
            assert_eq!(visited, 2198);
        }
    }

    #[test]
    fn levels_keep_the_list_order_of_units_that_touch() {
        let mut sets = mixed();
        let levels = list_levels(&sets, 200);
        let mut last = vec![None; 200];
        for (set, levels) in levels.iter().enumerate() {
            for (unit, &level) in levels.iter().enumerate() {
                sets[set].entities(unit, &mut |e| {
                    assert!(last[e as usize].is_none_or(|before| before < level));
                    last[e as usize] = Some(level);
                });
            }
        }
        let colors = Schedule::new(&mut sets, 200, SolveOrder::Colors).levels.len();
        assert!(colors < levels.iter().flatten().max().map_or(0, |&l| l as usize + 1), "colours are fewer");
    }
}
