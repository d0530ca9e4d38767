//! The workloads, one file each.

use crate::Workload;

pub mod w4;

/// Every workload.
pub const WORKLOADS: &[Workload] = &[w4::WORKLOAD];
