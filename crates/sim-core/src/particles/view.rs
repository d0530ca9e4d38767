//! A particle system as methods see it: as it is, or within a step whose start it knows.

use super::ParticleSystem;
use crate::energy::{Energy, Work};
use crate::force::{Force, Kinematics};
use crate::system::{
    BlockSink, Definiteness, Dependence, ExplicitSystem, ForceMask, HistoryError, ImplicitSystem,
    MatrixRequest, ModelSystem, SplitSystem, StencilBound, StepStart, System,
};
use nalgebra::Matrix3;

/// The system, and where the present step began.
#[derive(Clone, Copy)]
struct View<'a> {
    system: &'a ParticleSystem,
    start: Option<StepStart<'a>>,
}

impl<'a> View<'a> {
    fn at(&self, t: f64, q: &'a [f64], v: &'a [f64]) -> Kinematics<'a> {
        let n = 3 * self.system.mass.len();
        assert_eq!(q.len(), n, "q has {} values, the system needs {n}", q.len());
        assert_eq!(v.len(), n, "v has {} values, the system needs {n}", v.len());
        Kinematics { t, q, v, mass: &self.system.mass, start: self.start }
    }

    /// Every force with what it may know.
    fn forces(&self, at: Kinematics<'a>) -> impl Iterator<Item = (&'a dyn Force, Kinematics<'a>)> + use<'a> {
        let system = self.system;
        system.forces.iter().enumerate().map(move |(index, force)| {
            let own = system.history[index]..system.history[index + 1];
            let start = at.start.map(|start| StepStart { internal: &start.internal[own], ..start });
            (&**force, Kinematics { start, ..at })
        })
    }

    fn masked(
        &self,
        mask: ForceMask,
        at: Kinematics<'a>,
    ) -> impl Iterator<Item = (&'a dyn Force, Kinematics<'a>)> + use<'a> {
        self.forces(at).enumerate().filter(move |(index, _)| mask.contains(*index)).map(|(_, force)| force)
    }

    /// What the system depends on whatever its forces.
    fn own_dependence(&self) -> Dependence {
        // Within a step the force of what creeps changes with the time since its start.
        let creeps = self.start.is_some() && self.system.history.last().is_some_and(|&count| count > 0);
        Dependence { time: creeps || !self.system.drives.is_empty(), velocity: false }
    }

    fn dependence(&self) -> Dependence {
        self.system.dependence.or(self.own_dependence())
    }

    fn force(&self, t: f64, q: &'a [f64], v: &'a [f64], f: &mut [f64]) {
        let at = self.at(t, q, v);
        assert_eq!(f.len(), q.len(), "f has {} values, the system needs {}", f.len(), q.len());
        f.copy_from_slice(&self.system.constant_force);
        for (force, at) in self.forces(at).filter(|(force, _)| !force.is_constant()) {
            force.add_force(at, f);
        }
    }

    fn energy(&self, t: f64, q: &'a [f64], v: &'a [f64]) -> Energy {
        let at = self.at(t, q, v);
        let kinetic = (v.chunks_exact(3).zip(&self.system.mass).zip(&self.system.inverse_mass))
            .filter(|&(_, &w)| w > 0.0)
            .map(|((v, &m), _)| 0.5 * m * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]))
            .sum();
        let mut energy = Energy { kinetic, ..Energy::default() };
        for (force, at) in self.forces(at) {
            force.add_energy(at, &mut energy);
        }
        energy
    }

    fn power(&self, t: f64, q: &'a [f64], v: &'a [f64], velocity: &[f64]) -> Work {
        let at = self.at(t, q, v);
        let mut power = Work::default();
        for (force, at) in self.forces(at) {
            force.add_power(at, velocity, &mut power);
        }
        if !self.system.drives.is_empty() {
            let mut f = vec![0.0; q.len()];
            self.force(t, q, v, &mut f);
            for &(i, _) in &self.system.drives {
                power.reaction -= (3 * i..3 * i + 3).map(|k| f[k] * velocity[k]).sum::<f64>();
            }
        }
        power
    }

    fn damping_stiffness(
        &self,
        t: f64,
        q: &'a [f64],
        v: &'a [f64],
        emit: &mut dyn FnMut(usize, usize, &Matrix3<f64>),
    ) {
        for (force, at) in self.forces(self.at(t, q, v)) {
            force.damping_stiffness(at, emit);
        }
    }

    fn stencil_bounds(&self, q: &[f64], emit: &mut dyn FnMut(StencilBound<'_>)) {
        for force in &self.system.forces {
            force.stencil_bounds(q, &self.system.mass, emit);
        }
    }

    fn part_force(&self, mask: ForceMask, t: f64, q: &'a [f64], v: &'a [f64], f: &mut [f64]) {
        let at = self.at(t, q, v);
        assert_eq!(f.len(), q.len(), "f has {} values, the system needs {}", f.len(), q.len());
        f.fill(0.0);
        for (force, at) in self.masked(mask, at) {
            force.add_force(at, f);
        }
    }
}

impl ParticleSystem {
    fn view(&self) -> View<'_> {
        View { system: self, start: None }
    }

    fn prescribed(&self, t: f64, q: &mut [f64], v: &mut [f64]) {
        for (particle, motion) in &self.drives {
            let (position, velocity) = motion.at(t);
            q[3 * particle..3 * particle + 3].copy_from_slice(&position);
            v[3 * particle..3 * particle + 3].copy_from_slice(&velocity);
        }
    }
}

/// The traits of a model, for the system itself and for the system within a step. A view is a few words and is made anew for
/// every call, so that it lives as long as the slices it is asked about.
macro_rules! model {
    ($type:ty, |$this:ident| $view:expr, $system:expr, { $($history:item)* }) => {
        impl System for $type {
            fn particle_count(&self) -> usize {
                let $this = self;
                $system.mass.len()
            }
            fn dependence(&self) -> Dependence {
                let $this = self;
                $view.dependence()
            }
            fn force(&self, t: f64, q: &[f64], v: &[f64], f: &mut [f64]) {
                let $this = self;
                $view.force(t, q, v, f);
            }
            fn energy(&self, t: f64, q: &[f64], v: &[f64]) -> Energy {
                let $this = self;
                $view.energy(t, q, v)
            }
            fn power(&self, t: f64, q: &[f64], v: &[f64], velocity: &[f64]) -> Work {
                let $this = self;
                $view.power(t, q, v, velocity)
            }
            fn prescribe(&self, t: f64, q: &mut [f64], v: &mut [f64]) {
                let $this = self;
                $system.prescribed(t, q, v);
            }
            fn internal_count(&self) -> usize {
                let $this = self;
                $system.history[$system.forces.len()]
            }
            $($history)*
        }

        impl ExplicitSystem for $type {
            fn mass(&self) -> &[f64] {
                let $this = self;
                &$system.mass
            }
            fn inverse_mass(&self) -> &[f64] {
                let $this = self;
                &$system.inverse_mass
            }
            fn stencil_bounds(&self, q: &[f64], emit: &mut dyn FnMut(StencilBound<'_>)) {
                let $this = self;
                $view.stencil_bounds(q, emit);
            }
        }

        impl ImplicitSystem for $type {
            fn rest_positions(&self) -> Option<&[f64]> {
                let $this = self;
                $system.rest_positions.as_deref()
            }
            fn is_free(&self, particle: usize) -> bool {
                let $this = self;
                $system.inverse_mass[particle] > 0.0
            }
            fn as_split(&self) -> Option<&dyn SplitSystem> {
                Some(self)
            }
            fn mass_matrix(&self, sink: &mut dyn BlockSink) {
                let $this = self;
                for (i, &m) in $system.mass.iter().enumerate() {
                    sink.add(i, i, &Matrix3::from_diagonal_element(m));
                }
            }
            fn damping_matrix(&self, t: f64, q: &[f64], v: &[f64], sink: &mut dyn BlockSink) {
                let $this = self;
                let view = $view;
                for (force, at) in view.forces(view.at(t, q, v)) {
                    force.damping_matrix(at, sink);
                }
            }
            fn stiffness_matrix(
                &self,
                t: f64,
                q: &[f64],
                v: &[f64],
                definiteness: Definiteness,
                sink: &mut dyn BlockSink,
            ) {
                let $this = self;
                let view = $view;
                for (force, at) in view.forces(view.at(t, q, v)) {
                    force.stiffness_matrix(at, definiteness, sink);
                }
            }
            fn weighted_matrix(
                &self,
                t: f64,
                q: &[f64],
                v: &[f64],
                request: MatrixRequest<'_>,
                sink: &mut dyn BlockSink,
            ) {
                let $this = self;
                let view = $view;
                for (force, at) in view.forces(view.at(t, q, v)) {
                    force.weighted_matrix(at, request, sink);
                }
            }
            fn damping_stiffness(
                &self,
                t: f64,
                q: &[f64],
                v: &[f64],
                emit: &mut dyn FnMut(usize, usize, &Matrix3<f64>),
            ) {
                let $this = self;
                $view.damping_stiffness(t, q, v, emit);
            }
        }

        impl SplitSystem for $type {
            fn force_ids(&self) -> Vec<&'static str> {
                let $this = self;
                $system.forces.iter().map(|force| force.id()).collect()
            }
            fn part_dependence(&self, mask: ForceMask) -> Dependence {
                let $this = self;
                let forces = $system.forces.iter().enumerate().filter(|(index, _)| mask.contains(*index));
                forces.fold($view.own_dependence(), |sum, (_, force)| sum.or(force.dependence()))
            }
            fn part_force(&self, mask: ForceMask, t: f64, q: &[f64], v: &[f64], f: &mut [f64]) {
                let $this = self;
                $view.part_force(mask, t, q, v, f);
            }
            fn part_damping_matrix(&self, mask: ForceMask, t: f64, q: &[f64], v: &[f64], sink: &mut dyn BlockSink) {
                let $this = self;
                let view = $view;
                for (force, at) in view.masked(mask, view.at(t, q, v)) {
                    force.damping_matrix(at, sink);
                }
            }
            fn part_stiffness_matrix(
                &self,
                mask: ForceMask,
                t: f64,
                q: &[f64],
                v: &[f64],
                definiteness: Definiteness,
                sink: &mut dyn BlockSink,
            ) {
                let $this = self;
                let view = $view;
                for (force, at) in view.masked(mask, view.at(t, q, v)) {
                    force.stiffness_matrix(at, definiteness, sink);
                }
            }
            fn part_weighted_matrix(
                &self,
                mask: ForceMask,
                t: f64,
                q: &[f64],
                v: &[f64],
                request: MatrixRequest<'_>,
                sink: &mut dyn BlockSink,
            ) {
                let $this = self;
                let view = $view;
                for (force, at) in view.masked(mask, view.at(t, q, v)) {
                    force.weighted_matrix(at, request, sink);
                }
            }
        }
    };
}

model!(ParticleSystem, |this| this.view(), this, {
    fn remembers(&self) -> bool {
        self.forces.iter().any(|force| force.remembers())
    }

    fn begin_history(&self, q: &[f64], internal: &mut [f64]) {
        for (index, force) in self.forces.iter().enumerate() {
            force.begin_history(q, &mut internal[self.history[index]..self.history[index + 1]]);
        }
    }

    fn in_step(&self, start: StepStart<'_>, run: &mut dyn FnMut(&dyn ModelSystem)) -> bool {
        run(&InStep { system: self, start });
        true
    }

    fn advance_internal(
        &self,
        start: StepStart<'_>,
        (t, q, v): (f64, &[f64], &[f64]),
        internal: &mut [f64],
    ) -> Result<(), HistoryError> {
        let view = View { system: self, start: Some(start) };
        for (index, (force, at)) in view.forces(view.at(t, q, v)).enumerate() {
            force.advance_internal(at, &mut internal[self.history[index]..self.history[index + 1]])?;
        }
        Ok(())
    }

    fn inelastic_loss(&self, start: StepStart<'_>, (t, q, v): (f64, &[f64], &[f64])) -> f64 {
        let view = View { system: self, start: Some(start) };
        view.forces(view.at(t, q, v)).map(|(force, at)| force.inelastic_loss(at)).sum()
    }

    fn broken(&self, internal: &[f64], report: &mut dyn FnMut(&'static str, usize)) {
        for (index, force) in self.forces.iter().enumerate() {
            let own = &internal[self.history[index]..self.history[index + 1]];
            force.broken(own, &mut |stencil| report(force.id(), stencil));
        }
    }
});

/// A particle system within a step.
struct InStep<'a> {
    system: &'a ParticleSystem,
    start: StepStart<'a>,
}

model!(InStep<'_>, |this| View { system: this.system, start: Some(this.start) }, this.system, {
    fn remembers(&self) -> bool {
        false
    }
});
