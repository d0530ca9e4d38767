//! The workloads, one file each.

use crate::Workload;

/// Every workload.
pub const WORKLOADS: &[Workload] = &[];
