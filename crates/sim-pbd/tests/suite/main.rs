//! Tests of the whole crate, one binary so that they link once.

mod belts;
mod common;
mod contact;
mod orders;
mod reference;
mod registry;
mod reports;
