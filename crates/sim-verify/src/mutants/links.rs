//! Extended position-based dynamics of links written out, with one mistake at a time.
//!
//! The right version is that of Macklin, Müller & Chentanez (2016).

use crate::judge::links::{LinkOutcome, LinkedParticles};
use nalgebra::Vector3;

/// A mistake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LinkMistake {
    None,
    /// Corrections push a stretched pair farther apart.
    FlippedGradient,
    /// Half of every correction is made.
    HalfCorrection,
    /// Both ends take half, whatever their masses.
    EqualShares,
    /// Masses stand where inverse masses belong.
    MassAsWeight,
    /// Pinned ends count as movable in the denominator.
    PinnedCounts,
    /// α/h for α/h².
    ComplianceByStep,
    /// Compliance left out: every link is rigid.
    NoCompliance,
    /// α λ left out of the residual: stiffness depends on the iterations.
    NoMultiplierTerm,
    /// Multipliers are kept from step to step.
    KeptMultiplier,
    /// 1 + γ left out of the denominator.
    NoGammaBelow,
    /// The dashpot acts on the length instead of its change.
    DashpotOnLength,
    /// No dashpot.
    NoDashpot,
    /// Velocities are those before the corrections.
    OldVelocity,
    /// The direction is that of the start of the step.
    StaleDirection,
    /// l² − L² for l − L, gradients to match.
    SquaredLength,
    /// Forces are λ/h instead of λ/h².
    ForceByStep,
    /// Gravity acts on pinned particles' neighbors twice: once in v, once in x.
    DoubleGravity,
    /// Corrections are all computed before any is applied, and then all applied.
    SimultaneousCorrections,
}

/// Advances by the written-out method.
pub(super) fn written(model: &LinkedParticles, mistake: LinkMistake) -> LinkOutcome {
    use LinkMistake as M;
    let (n, h) = (model.mass.len(), model.dt);
    let vector = |values: &[f64], i: usize| Vector3::from_column_slice(&values[3 * i..3 * i + 3]);
    let mut x: Vec<Vector3<f64>> = (0..n).map(|i| vector(&model.q, i)).collect();
    let mut v: Vec<Vector3<f64>> = (0..n).map(|i| vector(&model.v, i)).collect();
    let pinned = |i: usize| model.pinned.contains(&i);
    let weight = |i: usize| match mistake {
        _ if pinned(i) => 0.0,
        M::MassAsWeight => model.mass[i],
        _ => 1.0 / model.mass[i],
    };
    let gravity = Vector3::from(model.gravity);
    let mut multipliers = vec![0.0; model.links.len()];
    for _ in 0..model.steps {
        let start = x.clone();
        if mistake != M::KeptMultiplier {
            multipliers.fill(0.0);
        }
        for i in (0..n).filter(|&i| !pinned(i)) {
            v[i] += gravity * h;
            x[i] += v[i] * h;
            if mistake == M::DoubleGravity {
                x[i] += gravity * (h * h);
            }
        }
        let lengths: Vec<f64> =
            model.links.iter().map(|link| (start[link.ends[1]] - start[link.ends[0]]).norm()).collect();
        for _ in 0..model.iterations {
            let old = x.clone();
            for (index, link) in model.links.iter().enumerate() {
                let [a, b] = link.ends;
                let seen = if mistake == M::SimultaneousCorrections { &old } else { &x };
                let d = seen[b] - seen[a];
                let length = d.norm();
                let mut along = d / length;
                if mistake == M::StaleDirection {
                    along = (start[b] - start[a]) / lengths[index];
                }
                let mut value = length - link.rest_length;
                if mistake == M::SquaredLength {
                    value = length * length - link.rest_length * link.rest_length;
                    along *= 2.0 * length;
                }
                let softness = match mistake {
                    M::ComplianceByStep => link.compliance / h,
                    M::NoCompliance => 0.0,
                    _ => link.compliance / (h * h),
                };
                let gamma = if mistake == M::NoDashpot { 0.0 } else { link.compliance * link.damping / h };
                let change = if mistake == M::DashpotOnLength { length } else { length - lengths[index] };
                let below = if mistake == M::NoGammaBelow { 0.0 } else { gamma };
                let (mut wa, mut wb) = (weight(a), weight(b));
                if mistake == M::EqualShares && wa * wb > 0.0 {
                    (wa, wb) = (0.5 * (wa + wb), 0.5 * (wa + wb));
                }
                let counted = if mistake == M::PinnedCounts {
                    1.0 / model.mass[a] + 1.0 / model.mass[b]
                } else {
                    wa + wb
                };
                let multiplied =
                    if mistake == M::NoMultiplierTerm { 0.0 } else { softness * multipliers[index] };
                let mut step = -(value + multiplied + gamma * change)
                    / ((1.0 + below) * counted * along.norm_squared() + softness);
                match mistake {
                    M::HalfCorrection => step *= 0.5,
                    M::FlippedGradient => step = -step,
                    _ => {}
                }
                multipliers[index] += step;
                x[a] -= along * (wa * step);
                x[b] += along * (wb * step);
            }
        }
        if mistake != M::OldVelocity {
            for i in (0..n).filter(|&i| !pinned(i)) {
                v[i] = (x[i] - start[i]) / h;
            }
        }
    }
    let squared = if mistake == M::ForceByStep { h } else { h * h };
    LinkOutcome {
        q: x.iter().flat_map(|x| x.data.0[0]).collect(),
        v: v.iter().flat_map(|v| v.data.0[0]).collect(),
        forces: multipliers.iter().map(|multiplier| -multiplier / squared).collect(),
    }
}
