//! The box truss of the performance workload W5. Hidden: for the example and the bench task, which must measure the same input; no user
//! needs it.
//!
//! Nodes 4k + c at (k, Y, Z) m with (Y, Z) = (0,0), (1,0), (1,1), (0,1); bars around and once across each section, along the
//! edges and diagonally along the faces. E = 210e9 Pa, A = 1e-3 m², 7850 kg/m³ lumped; nodes c = 0, 1 held at every 20th
//! section; −1000 N along z on c = 2, 3.

use crate::elements::MassKind;
use crate::elements::truss::Truss;
use crate::load::Direction;
use crate::material::{Material, Section};
use crate::{Structure, StructureBuilder};

/// The truss with `bays` bays.
///
/// # Panics
/// Never for at least 1 bay.
pub fn box_truss(bays: usize) -> Structure {
    let material = Material::new(210e9).with_density(7850.0);
    let bar = Truss::new(&material, &Section::area(1e-3)).expect("the numbers above are in range");
    let mut builder = StructureBuilder::new();
    builder.mass(MassKind::Lumped);
    for k in 0..=bays {
        let x = k as f64;
        builder.nodes([[x, 0.0, 0.0], [x, 1.0, 0.0], [x, 1.0, 1.0], [x, 0.0, 1.0]]);
    }
    for k in 0..=bays {
        for c in 0..4 {
            builder.element(bar, &[4 * k + c, 4 * k + (c + 1) % 4]);
        }
        builder.element(bar, &[4 * k, 4 * k + 2]);
        if k < bays {
            for c in 0..4 {
                builder.element(bar, &[4 * k + c, 4 * k + 4 + c]);
                builder.element(bar, &[4 * k + c, 4 * k + 4 + (c + 1) % 4]);
            }
        }
        if k % 20 == 0 {
            builder.pin(4 * k).pin(4 * k + 1);
        }
        builder.force(4 * k + 2, Direction::Z, -1000.0).force(4 * k + 3, Direction::Z, -1000.0);
    }
    builder.build().expect("every node is used and every bar has length")
}
