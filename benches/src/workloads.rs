//! The workloads, one file each.

use crate::Workload;

pub mod memory;
pub mod shapes;
pub mod w1;
pub mod w2;
pub mod w3;
pub mod w4;
pub mod w5;

/// Every workload.
pub const WORKLOADS: &[Workload] = &[
    w1::WORKLOAD,
    w2::WORKLOAD,
    w3::WORKLOAD,
    w4::WORKLOAD,
    w5::WORKLOAD,
    shapes::GRIDS,
    shapes::GARMENTS,
    memory::WORKLOAD,
];
