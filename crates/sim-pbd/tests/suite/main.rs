//! Tests of the whole crate, one binary so that they link once.

mod common;
mod orders;
mod reference;
mod registry;
mod reports;
