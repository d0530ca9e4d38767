//! One parallel region per solve: threads that walk through the same phases, separated by a spinning barrier.
//!
//! Phases of a solve last 30 µs to a few ms. Handing each phase to a thread pool costs as much as the phase itself, so
//! that two threads gain nothing below about 2 ms; a spinning barrier costs 0.2 µs. Work is cut into parts that depend
//! on the problem alone; threads only decide who computes a part, hence the same bits for any number of threads.
//!
//! Threads exchange vectors through [`Shared`], which checks at run time, part by part, that nobody writes what another
//! thread reads: a wrong phase order panics instead of racing.
#![allow(unsafe_code)]

use std::cell::UnsafeCell;
use std::ops::{Deref, DerefMut, Range};
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, AtomicUsize, Ordering};

/// Spins (of about 50 ns) before a waiting thread lets others run: phases are balanced, so that a longer wait means that
/// the missing thread is not running.
const SPINS_BEFORE_YIELD: usize = 400;

/// A barrier that spins, then yields; it breaks instead of hanging when a thread panics.
#[derive(Debug)]
struct SpinBarrier {
    threads: usize,
    /// Zero when there are fewer processors than threads: then somebody always waits for a processor.
    spins: usize,
    waiting: AtomicUsize,
    generation: AtomicUsize,
    broken: AtomicBool,
}

impl SpinBarrier {
    fn wait(&self) {
        if self.threads == 1 {
            return;
        }
        let generation = self.generation.load(Ordering::Acquire);
        if self.waiting.fetch_add(1, Ordering::AcqRel) + 1 == self.threads {
            self.waiting.store(0, Ordering::Relaxed);
            self.generation.store(generation.wrapping_add(1), Ordering::Release);
            return;
        }
        let mut spins = 0;
        while self.generation.load(Ordering::Acquire) == generation {
            assert!(!self.broken.load(Ordering::Relaxed), "another thread of the solve panicked");
            spins += 1;
            if spins < self.spins {
                std::hint::spin_loop();
            } else {
                std::thread::yield_now();
            }
        }
    }
}

struct BreakOnPanic<'a>(&'a SpinBarrier);

impl Drop for BreakOnPanic<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.broken.store(true, Ordering::Relaxed);
        }
    }
}

/// One thread of a team.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Worker<'a> {
    index: usize,
    barrier: &'a SpinBarrier,
}

impl Worker<'_> {
    /// Waits until every thread of the team is here.
    pub(crate) fn barrier(&self) {
        self.barrier.wait();
    }

    /// Whether this thread does what only one thread does.
    pub(crate) fn is_first(&self) -> bool {
        self.index == 0
    }

    /// The parts out of `count` that this thread computes: a contiguous run, equal up to one.
    pub(crate) fn share(&self, count: usize) -> Range<usize> {
        let threads = self.barrier.threads;
        self.index * count / threads..(self.index + 1) * count / threads
    }
}

/// Runs `work` on `threads` threads at once, the calling thread among them, and returns the calling thread's result.
pub(crate) fn run<R, F>(threads: usize, work: F) -> R
where
    F: Fn(Worker<'_>) -> R + Sync,
{
    let threads = threads.max(1);
    let processors =
        if threads == 1 { 1 } else { std::thread::available_parallelism().map_or(1, usize::from) };
    let barrier = SpinBarrier {
        threads,
        spins: if threads <= processors { SPINS_BEFORE_YIELD } else { 0 },
        waiting: AtomicUsize::new(0),
        generation: AtomicUsize::new(0),
        broken: AtomicBool::new(false),
    };
    let (barrier, work) = (&barrier, &work);
    std::thread::scope(|scope| {
        for index in 1..barrier.threads {
            scope.spawn(move || {
                let _guard = BreakOnPanic(barrier);
                work(Worker { index, barrier });
            });
        }
        let _guard = BreakOnPanic(barrier);
        work(Worker { index: 0, barrier })
    })
}

/// Numbers that threads hand to each other, one per part.
#[derive(Debug)]
pub(crate) struct Partials(Vec<AtomicU64>);

impl Partials {
    pub(crate) fn new(parts: usize) -> Self {
        Self((0..parts).map(|_| AtomicU64::new(0)).collect())
    }

    pub(crate) fn set(&self, part: usize, value: f64) {
        self.0[part].store(value.to_bits(), Ordering::Relaxed);
    }

    pub(crate) fn get(&self, part: usize) -> f64 {
        f64::from_bits(self.0[part].load(Ordering::Relaxed))
    }

    /// The sum over all parts, in their order. Call it between two barriers.
    pub(crate) fn sum(&self) -> f64 {
        (0..self.0.len()).map(|k| self.get(k)).sum()
    }
}

/// A vector in parts, each borrowed for reading by many or for writing by one thread.
#[derive(Debug)]
pub(crate) struct Shared<T> {
    cells: Box<[UnsafeCell<T>]>,
    bounds: Vec<usize>,
    /// Readers of each part; −1 while it is written.
    borrows: Vec<AtomicI32>,
}

// SAFETY: access goes through guards only; `borrows` gives a part to one writer or to any number of readers, so that
// no two threads ever hold a part of which one is written.
unsafe impl<T: Send + Sync> Sync for Shared<T> {}

impl<T: Copy> Shared<T> {
    /// `bounds` are the part boundaries, from 0 to the length.
    pub(crate) fn new(value: T, bounds: &[usize]) -> Self {
        let len = bounds.last().copied().unwrap_or(0);
        debug_assert!(bounds.is_sorted() && bounds.first() == Some(&0));
        Self {
            cells: (0..len).map(|_| UnsafeCell::new(value)).collect(),
            bounds: bounds.to_vec(),
            borrows: (1..bounds.len()).map(|_| AtomicI32::new(0)).collect(),
        }
    }

    pub(crate) fn parts(&self) -> usize {
        self.borrows.len()
    }

    pub(crate) fn part_range(&self, part: usize) -> Range<usize> {
        self.bounds[part]..self.bounds[part + 1]
    }

    /// The whole vector when no other thread can hold it.
    pub(crate) fn get_mut(&mut self) -> &mut [T] {
        // SAFETY: `&mut self` excludes every guard; `UnsafeCell<T>` has the layout of `T`.
        unsafe { std::slice::from_raw_parts_mut(self.cells.as_mut_ptr().cast::<T>(), self.cells.len()) }
    }

    fn pointer(&self, start: usize) -> *mut T {
        UnsafeCell::raw_get(self.cells[start..].as_ptr())
    }

    /// Borrows consecutive parts for reading.
    ///
    /// # Panics
    /// If one of them is being written.
    pub(crate) fn read(&self, parts: Range<usize>) -> Reading<'_, T> {
        for part in parts.clone() {
            let before = self.borrows[part].fetch_add(1, Ordering::Acquire);
            assert!(before >= 0, "part {part} is read while it is written");
        }
        let range = self.bounds[parts.start]..self.bounds[parts.end];
        // SAFETY: the counters of all parts of the range are held until the guard drops, so nobody writes them.
        let slice = unsafe { std::slice::from_raw_parts(self.pointer(range.start), range.len()) };
        Reading { slice, borrows: &self.borrows[parts] }
    }

    /// Borrows everything for reading.
    pub(crate) fn read_all(&self) -> Reading<'_, T> {
        self.read(0..self.parts())
    }

    /// Borrows consecutive parts for writing.
    ///
    /// # Panics
    /// If one of them is being read or written.
    pub(crate) fn write(&self, parts: Range<usize>) -> Writing<'_, T> {
        for part in parts.clone() {
            let free = self.borrows[part].compare_exchange(0, -1, Ordering::Acquire, Ordering::Relaxed);
            assert!(free.is_ok(), "part {part} is written while it is borrowed ({free:?})");
        }
        let range = self.bounds[parts.start]..self.bounds[parts.end];
        // SAFETY: the parts of the range are marked as written until the guard drops, so no other borrow of them exists.
        let slice = unsafe { std::slice::from_raw_parts_mut(self.pointer(range.start), range.len()) };
        Writing { slice, borrows: &self.borrows[parts] }
    }
}

/// Parts borrowed for reading.
pub(crate) struct Reading<'a, T> {
    slice: &'a [T],
    borrows: &'a [AtomicI32],
}

impl<T> Deref for Reading<'_, T> {
    type Target = [T];
    fn deref(&self) -> &[T] {
        self.slice
    }
}

impl<T> Drop for Reading<'_, T> {
    fn drop(&mut self) {
        for borrow in self.borrows {
            borrow.fetch_sub(1, Ordering::Release);
        }
    }
}

/// Parts borrowed for writing.
pub(crate) struct Writing<'a, T> {
    slice: &'a mut [T],
    borrows: &'a [AtomicI32],
}

impl<T> Deref for Writing<'_, T> {
    type Target = [T];
    fn deref(&self) -> &[T] {
        self.slice
    }
}

impl<T> DerefMut for Writing<'_, T> {
    fn deref_mut(&mut self) -> &mut [T] {
        self.slice
    }
}

impl<T> Drop for Writing<'_, T> {
    fn drop(&mut self) {
        for borrow in self.borrows {
            borrow.store(0, Ordering::Release);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phases_see_each_others_results() {
        for threads in [1, 2, 4] {
            let bounds: Vec<usize> = (0..=8).map(|k| 100 * k).collect();
            let (a, b) = (Shared::new(0.0_f64, &bounds), Shared::new(0.0_f64, &bounds));
            let partials = Partials::new(8);
            let total = run(threads, |worker| {
                for round in 0..50 {
                    for part in worker.share(8) {
                        for v in a.write(part..part + 1).iter_mut() {
                            *v = f64::from(round) + part as f64;
                        }
                    }
                    worker.barrier();
                    for part in worker.share(8) {
                        let all = a.read_all();
                        b.write(part..part + 1).iter_mut().zip(all.iter().rev()).for_each(|(b, a)| *b += a);
                        partials.set(part, b.read(part..part + 1).iter().sum());
                    }
                    worker.barrier();
                }
                partials.sum()
            });
            // Every part of b received the last 100 mirrored entries of a, which are those of part 7: the sum over
            // rounds of round + 7.
            assert_eq!(total, 800.0 * (0..50).map(|round| f64::from(round) + 7.0).sum::<f64>());
        }
    }

    #[test]
    #[should_panic(expected = "part 1 is written while it is borrowed")]
    fn a_conflict_panics() {
        let shared = Shared::new(0_u8, &[0, 5, 9]);
        let _reading = shared.read(1..2);
        let _writing = shared.write(0..2);
    }

    #[test]
    #[should_panic(expected = "part 3")]
    fn a_panic_in_one_thread_ends_the_others() {
        let shared = Shared::new(0_u8, &[0, 1, 2, 3, 4]);
        run(2, |worker| {
            if worker.is_first() {
                let _reading = shared.read(3..4);
                drop(shared.write(3..4));
            }
            worker.barrier();
        });
    }
}
