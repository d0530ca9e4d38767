//! Tests of the whole crate, one binary so that they link once.

// Reference values stand as their sources print them; axes are numbers here.
#![allow(clippy::approx_constant, clippy::needless_range_loop)]

mod belts;
mod chains;
mod common;
mod contact;
mod levers;
mod orders;
mod pulleys;
mod reference;
mod registry;
mod reports;
mod rods;
