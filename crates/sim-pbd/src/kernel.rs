//! The one place where threads share arrays: positions, orientations and multipliers during a sweep.
//!
//! Everything else is safe code on top of [`Sweep`]. Two threads may only ever work on stencils that share no particle;
//! the schedule guarantees it by construction (a colour holds no particle twice) and a test checks every schedule.
#![allow(unsafe_code)]
// These must vanish into the vectorised loops that call them.
#![allow(clippy::inline_always)]

use crate::options::{Formulation, GradientPoint};
use crate::schedule::Schedule;
use crate::sets::ConstraintSet;
use nalgebra::{Quaternion, UnitQuaternion, Vector3};
use std::marker::PhantomData;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// A mutable slice that several threads index at different places.
pub(crate) struct Shared<'a, T> {
    start: *mut T,
    len: usize,
    owner: PhantomData<&'a mut [T]>,
}

// SAFETY: a `Shared` stands for `&mut [T]` whose elements are handed out to threads one by one. Access goes through
// `Sweep` (whose constructor demands disjointness) only; `T: Send` values may be reached from any thread.
unsafe impl<T: Send> Send for Shared<'_, T> {}
// SAFETY: as above.
unsafe impl<T: Send> Sync for Shared<'_, T> {}

impl<'a, T: Copy> Shared<'a, T> {
    pub(crate) fn new(slice: &'a mut [T]) -> Self {
        Self { start: slice.as_mut_ptr(), len: slice.len(), owner: PhantomData }
    }

    /// # Safety
    /// No other thread writes element `i` at the same time.
    #[inline(always)]
    unsafe fn get(&self, i: usize) -> T {
        if i >= self.len {
            out_of_bounds(i, self.len);
        }
        // SAFETY: in bounds by the check; not written concurrently by the caller's promise.
        unsafe { *self.start.add(i) }
    }

    /// # Safety
    /// No other thread reads or writes element `i` at the same time.
    #[inline(always)]
    unsafe fn set(&self, i: usize, value: T) {
        if i >= self.len {
            out_of_bounds(i, self.len);
        }
        // SAFETY: in bounds by the check; exclusive by the caller's promise.
        unsafe { *self.start.add(i) = value };
    }
}

#[cold]
#[inline(never)]
fn out_of_bounds(i: usize, len: usize) -> ! {
    panic!("index {i} of {len}")
}

/// How a sweep corrects.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rule {
    pub formulation: Formulation,
    pub gradient: GradientPoint,
    pub relaxation: f64,
    /// Substep in s.
    pub dt: f64,
    /// Time at its end in s.
    pub t: f64,
}

/// The arrays of a step.
pub(crate) struct Arrays<'a> {
    /// `[x, y, z, inverse mass]` per particle.
    pub points: &'a mut [[f64; 4]],
    /// Positions at the start of the substep, same shape.
    pub start: &'a mut [[f64; 4]],
    /// `[i, j, k, w]` per orientation.
    pub orientations: &'a mut [[f64; 4]],
    /// Work values of all sets, one after the other.
    pub work: &'a mut [f64],
    /// Inverse inertia in 1/(kg·m²) about the material axes, one triple per orientation.
    pub inverse_inertia: &'a [[f64; 3]],
}

/// The right to correct the particles of the units a thread was given.
pub(crate) struct Sweep<'a> {
    region: &'a Region<'a>,
    /// Where the work values of the set begin.
    first_work: usize,
    pub rule: Rule,
}

impl Sweep<'_> {
    #[inline(always)]
    pub(crate) fn point(&self, i: u32) -> [f64; 4] {
        // SAFETY: the promise of `Region::sweep`.
        unsafe { self.region.points.get(i as usize) }
    }

    #[inline(always)]
    pub(crate) fn set_point(&self, i: u32, value: [f64; 4]) {
        // SAFETY: the promise of `Region::sweep`.
        unsafe { self.region.points.set(i as usize, value) };
    }

    #[inline(always)]
    pub(crate) fn start(&self, i: u32) -> [f64; 4] {
        // SAFETY: the promise of `Region::sweep`.
        unsafe { self.region.start.get(i as usize) }
    }

    /// Only while no other thread sweeps.
    #[inline(always)]
    pub(crate) fn set_start(&self, i: u32, value: [f64; 4]) {
        // SAFETY: the promise of `Region::sweep`.
        unsafe { self.region.start.set(i as usize, value) };
    }

    #[inline(always)]
    pub(crate) fn position(&self, i: u32) -> Vector3<f64> {
        let p = self.point(i);
        Vector3::new(p[0], p[1], p[2])
    }

    #[inline(always)]
    pub(crate) fn start_position(&self, i: u32) -> Vector3<f64> {
        let p = self.start(i);
        Vector3::new(p[0], p[1], p[2])
    }

    #[inline(always)]
    pub(crate) fn inverse_mass(&self, i: u32) -> f64 {
        self.point(i)[3]
    }

    /// Moves particle `i` by `step`.
    #[inline(always)]
    pub(crate) fn shift(&self, i: u32, step: Vector3<f64>) {
        let p = self.point(i);
        self.set_point(i, [p[0] + step.x, p[1] + step.y, p[2] + step.z, p[3]]);
    }

    /// Inverse inertia about the material axes of orientation `i`.
    pub(crate) fn inverse_inertia(&self, i: u32) -> Vector3<f64> {
        Vector3::from(self.region.inverse_inertia[i as usize])
    }

    pub(crate) fn orientation(&self, i: u32) -> UnitQuaternion<f64> {
        // SAFETY: the promise of `Region::sweep`.
        let [x, y, z, w] = unsafe { self.region.orientations.get(i as usize) };
        UnitQuaternion::new_unchecked(Quaternion::new(w, x, y, z))
    }

    /// Turns orientation `i` by the rotation vector `turn` in its material axes.
    pub(crate) fn turn(&self, i: u32, turn: Vector3<f64>) {
        let turned = self.orientation(i) * UnitQuaternion::from_scaled_axis(turn);
        let q = UnitQuaternion::new_normalize(turned.into_inner());
        // SAFETY: the promise of `Region::sweep`.
        unsafe { self.region.orientations.set(i as usize, [q.i, q.j, q.k, q.w]) };
    }

    #[inline(always)]
    pub(crate) fn work(&self, i: usize) -> f64 {
        // SAFETY: the promise of `Region::sweep`.
        unsafe { self.region.work.get(self.first_work + i) }
    }

    /// Four consecutive work values.
    #[inline(always)]
    pub(crate) fn work4(&self, i: usize) -> [f64; 4] {
        [self.work(i), self.work(i + 1), self.work(i + 2), self.work(i + 3)]
    }

    #[inline(always)]
    pub(crate) fn set_work4(&self, i: usize, values: [f64; 4]) {
        for (k, value) in values.into_iter().enumerate() {
            self.set_work(i + k, value);
        }
    }

    #[inline(always)]
    pub(crate) fn set_work(&self, i: usize, value: f64) {
        // SAFETY: the promise of `Region::sweep`.
        unsafe { self.region.work.set(self.first_work + i, value) };
    }
}

/// One step's parallel region: the threads live as long as it does and meet at barriers.
pub(crate) struct Region<'a> {
    points: Shared<'a, [f64; 4]>,
    start: Shared<'a, [f64; 4]>,
    orientations: Shared<'a, [f64; 4]>,
    work: Shared<'a, f64>,
    inverse_inertia: &'a [[f64; 3]],
    sets: &'a [Box<dyn ConstraintSet>],
    schedule: &'a Schedule,
    barrier: SpinBarrier,
    /// What the workers shall do next; `None` ends them.
    command: Mutex<Option<Rule>>,
}

impl Region<'_> {
    /// # Safety
    /// While the result is used for units of the set, no other thread touches their particles, orientations and work
    /// values.
    unsafe fn sweep(&self, set: usize, rule: Rule) -> Sweep<'_> {
        Sweep { region: self, first_work: self.schedule.first_work(set), rule }
    }

    /// The share of one thread in one sweep over everything.
    fn share(&self, thread: usize, rule: Rule) {
        for level in self.schedule.levels() {
            for run in level {
                let units = run.part(thread, self.barrier.threads);
                if !units.is_empty() {
                    // SAFETY: the units of a level share no entity, and `part` gives each to one thread; the barrier
                    // below separates levels.
                    let sweep = unsafe { self.sweep(run.set, rule) };
                    self.sets[run.set].sweep(units, &sweep);
                }
            }
            self.barrier.wait();
        }
    }

    fn work_until_told_to_stop(&self, thread: usize) {
        let _guard = self.barrier.guard();
        loop {
            self.barrier.wait();
            let command = *self.command.lock().expect("a thread of this step panicked");
            let Some(rule) = command else { return };
            self.share(thread, rule);
        }
    }
}

/// The main thread's view of a region: between sweeps the others wait, and everything is its own.
pub(crate) struct MainThread<'a> {
    region: &'a Region<'a>,
}

impl MainThread<'_> {
    /// All constraints once, in the order of the schedule, on all threads.
    pub(crate) fn sweep_all(&mut self, rule: Rule) {
        if self.region.barrier.threads > 1 {
            *self.region.command.lock().expect("a thread of this step panicked") = Some(rule);
            self.region.barrier.wait();
        }
        self.region.share(0, rule);
    }

    /// Exclusive access to the arrays, with the work values of `set`.
    pub(crate) fn alone(&mut self, set: usize, rule: Rule) -> Sweep<'_> {
        // SAFETY: `&mut self` is not inside `sweep_all`, so that all other threads wait at the barrier.
        unsafe { self.region.sweep(set, rule) }
    }
}

/// Runs `main` on this thread while `threads - 1` others stand by for its sweeps.
// The arrays are taken over for as long as the region lives.
#[allow(clippy::needless_pass_by_value)]
pub(crate) fn with_threads<R>(
    threads: usize,
    arrays: Arrays<'_>,
    sets: &[Box<dyn ConstraintSet>],
    schedule: &Schedule,
    main: impl FnOnce(&mut MainThread<'_>) -> R,
) -> R {
    let region = Region {
        points: Shared::new(arrays.points),
        start: Shared::new(arrays.start),
        orientations: Shared::new(arrays.orientations),
        work: Shared::new(arrays.work),
        inverse_inertia: arrays.inverse_inertia,
        sets,
        schedule,
        barrier: SpinBarrier::new(threads),
        command: Mutex::new(None),
    };
    if threads == 1 {
        return main(&mut MainThread { region: &region });
    }
    std::thread::scope(|scope| {
        let region = &region;
        for thread in 1..threads {
            scope.spawn(move || region.work_until_told_to_stop(thread));
        }
        let _guard = region.barrier.guard();
        let result = main(&mut MainThread { region });
        *region.command.lock().expect("a thread of this step panicked") = None;
        region.barrier.wait();
        result
    })
}

/// Threads that wait for each other many times within one step.
///
/// It spins, because the phases between two waits last microseconds, and yields after a while, because the machine may
/// have fewer free cores than threads.
pub(crate) struct SpinBarrier {
    threads: usize,
    waiting: AtomicUsize,
    generation: AtomicUsize,
    abandoned: AtomicBool,
}

const SPINS_BEFORE_YIELD: u32 = 500;

impl SpinBarrier {
    pub(crate) fn new(threads: usize) -> Self {
        Self {
            threads,
            waiting: AtomicUsize::new(0),
            generation: AtomicUsize::new(0),
            abandoned: AtomicBool::new(false),
        }
    }

    /// Returns when all threads have called it.
    ///
    /// # Panics
    /// When another thread panicked and will never come.
    pub(crate) fn wait(&self) {
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
            assert!(!self.abandoned.load(Ordering::Relaxed), "another thread of this step panicked");
            if spins < SPINS_BEFORE_YIELD {
                spins += 1;
                std::hint::spin_loop();
            } else {
                std::thread::yield_now();
            }
        }
    }

    /// Marks the barrier as abandoned when dropped during a panic.
    pub(crate) fn guard(&self) -> AbandonGuard<'_> {
        AbandonGuard(self)
    }
}

pub(crate) struct AbandonGuard<'a>(&'a SpinBarrier);

impl Drop for AbandonGuard<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.abandoned.store(true, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn barrier_separates_phases() {
        let barrier = SpinBarrier::new(3);
        let count = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    for phase in 1..=200 {
                        count.fetch_add(1, Ordering::Relaxed);
                        barrier.wait();
                        assert_eq!(count.load(Ordering::Relaxed), 3 * phase);
                        barrier.wait();
                    }
                });
            }
        });
        assert_eq!(count.load(Ordering::Relaxed), 600);
    }
}
