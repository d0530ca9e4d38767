//! Every exact problem against its own equation of motion and against published values.

use sim_verify::problems::{duffing::Duffing, kepler::Kepler, pendulum::Pendulum};
use sim_verify::{ExactProblem, PROBLEMS, problem, residual_study};

#[test]
fn every_solution_solves_its_equation_of_motion() {
    for problem in PROBLEMS {
        let report = residual_study(*problem, 40);
        assert!(report.velocity < 1e-9, "{}: {report:?}", problem.id());
        assert!(report.force < 1e-9, "{}: {report:?}", problem.id());
        assert!(report.start == 0.0, "{}: {report:?}", problem.id());
        assert!(report.largest_force > 0.1, "{}: {report:?}", problem.id());
    }
}

#[test]
fn ids_are_unique_and_found() {
    for problem_ in PROBLEMS {
        assert_eq!(PROBLEMS.iter().filter(|other| other.id() == problem_.id()).count(), 1);
        assert_eq!(problem(problem_.id()).unwrap().id(), problem_.id());
    }
    assert!(problem("perpetual_motion").is_none());
}

#[test]
fn a_wrong_solution_is_noticed() {
    struct Wrong(&'static dyn ExactProblem);
    impl ExactProblem for Wrong {
        fn id(&self) -> &'static str {
            "wrong"
        }
        fn source(&self) -> &'static str {
            ""
        }
        fn t_end(&self) -> f64 {
            self.0.t_end()
        }
        fn build(&self) -> (Box<dyn sim_core::ModelSystem>, sim_core::State) {
            self.0.build()
        }
        fn exact(&self, t: f64) -> sim_core::State {
            // A clock one per mille fast: kinematics wrong by the same share.
            self.0.exact(1.001 * t)
        }
        fn max_frequency(&self) -> f64 {
            self.0.max_frequency()
        }
        fn scales(&self) -> (f64, f64) {
            self.0.scales()
        }
    }
    for problem in PROBLEMS {
        let report = residual_study(&Wrong(*problem), 20);
        assert!(report.velocity > 5e-4 && report.force > 1e-4, "{}: {report:?}", problem.id());
    }
}

/// A-pendulum-10deg, A-pendulum-60deg, A-pendulum-90deg (Jacobi elliptic functions).
#[test]
fn pendulum_reference_values() {
    let degree = std::f64::consts::PI / 180.0;
    let cases = [
        (
            10.0,
            2.4620260997519674,
            [0.05073597649565157, -0.14509828198566332, 0.03433024989548148, 0.16159767764472552],
            [-0.4264049946316829, -0.247477486155915, -0.4369694482866473, -0.16820208496323846],
        ),
        (
            60.0,
            2.637172527210425,
            [0.3962184805521253, -0.7684604396783772, 0.6892720495297924, 0.279061689859932],
            [-2.350482045579573, -1.6921290419413315, -1.8848719892573713, 2.4559989415992716],
        ),
        (
            90.0,
            2.90049756680566,
            [0.7711841799051948, -0.9176082879641647, 1.5384331116856798, -1.4955429353453638],
            [-3.0620711135064567, -2.8189146404781686, -0.65045555777931, -0.9914886625020728],
        ),
    ];
    for (angle, period, theta, rate) in cases {
        let pendulum = Pendulum { gravity: 9.80665, length: 1.5, amplitude: angle * degree };
        assert!((pendulum.period() / period - 1.0).abs() < 1e-13, "period at {angle} degrees");
        for (t, (theta, rate)) in [0.5, 1.0, 3.0, 10.0].into_iter().zip(theta.into_iter().zip(rate)) {
            let state = pendulum.exact(t);
            assert!((state.q[0] - theta).abs() < 2e-13, "{angle} degrees, t = {t}: {}", state.q[0]);
            assert!((state.v[0] - rate).abs() < 5e-13, "{angle} degrees, t = {t}: {}", state.v[0]);
        }
    }
}

/// A-duffing-hardening.
#[test]
fn duffing_reference_values() {
    let duffing = Duffing { alpha: 1.0, beta: 1.0, amplitude: 1.0 };
    let x = [0.23369179114314126, 0.9471295420802195, 0.31958473892605904];
    let v = [-1.2016226194170685, -0.44787538402591326, -1.18010587502436];
    for (t, (x, v)) in [1.0, 5.0, 20.0].into_iter().zip(x.into_iter().zip(v)) {
        let state = duffing.exact(t);
        assert!((state.q[0] - x).abs() < 1e-12 && (state.v[0] - v).abs() < 1e-12, "t = {t}: {state:?}");
    }
}

/// A-kepler-e06.
#[test]
fn kepler_reference_values() {
    let kepler = Kepler { eccentricity: 0.6 };
    let states = [
        [-0.6289481768266242, 0.7996647309700393, -0.9825156909388113, -0.02276317009743042],
        [-0.8837707793862566, -0.7671137155927865, 0.8193821223981331, -0.19398778461076005],
        [-0.7700755784112404, 0.7883448169944244, -0.8941837319886915, -0.12346176415844096],
    ];
    for (t, expected) in [1.0, 5.0, 20.0].into_iter().zip(states) {
        let s = kepler.exact(t);
        for (found, expected) in [s.q[0], s.q[1], s.v[0], s.v[1]].into_iter().zip(expected) {
            assert!((found - expected).abs() < 1e-12, "t = {t}: {found} for {expected}");
        }
    }
}
