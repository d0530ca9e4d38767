//! Running a scene: frames, substeps, probes and the energy account.

pub mod result;
