//! Tables and a `ParaView` file of a structure.

use super::analyse::SWING;
use super::display::{QUARTER, is_physical, translation};
use super::result::{EndState, StructureResult};
use crate::export::vtk::VtkError;
use crate::export::write_whole;
use sim_fem::load::Direction;
use std::path::{Path, PathBuf};
use vtkio::model::{
    Attribute, Attributes, ByteOrder, CellType, Cells, DataArray, DataSet, ElementType, IOBuffer, Piece,
    UnstructuredGridPiece, Version, VertexNumbers, Vtk,
};

/// Writes `NAME_nodes.csv`, `NAME_members.csv` and, for analyses with a path, time or modes, `NAME.csv` into `folder`.
///
/// # Errors
/// Any I/O error.
pub(super) fn write_tables(result: &StructureResult, folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut write = |suffix: &str, writer: csv::Writer<Vec<u8>>| -> std::io::Result<()> {
        let path = folder.join(format!("{}{suffix}.csv", result.scene));
        write_whole(&path, &writer.into_inner().map_err(csv::IntoInnerError::into_error)?)?;
        files.push(path);
        Ok(())
    };
    if let Some(end) = &result.end {
        write("_nodes", nodes(result, end)?)?;
        write("_members", members(result, end)?)?;
    }
    let rows = result.table.iter().map(|(_, values)| values.len()).max().unwrap_or(0);
    if rows > 0 {
        let mut writer = csv::Writer::from_writer(Vec::new());
        writer.write_record(result.table.iter().map(|(name, _)| name))?;
        for row in 0..rows {
            let cell = |values: &Vec<f64>| values.get(row).map_or_else(String::new, ToString::to_string);
            writer.write_record(result.table.iter().map(|(_, values)| cell(values)))?;
        }
        write("", writer)?;
    }
    Ok(files)
}

fn nodes(result: &StructureResult, end: &EndState) -> std::io::Result<csv::Writer<Vec<u8>>> {
    let structure = &result.built.structure;
    let rotates = (0..structure.node_count()).any(|node| structure.dof(node, Direction::Rz).is_some());
    let directions = &Direction::ALL[..if rotates { 6 } else { 3 }];
    let mut header: Vec<String> = ["node", "x [m]", "y [m]", "z [m]"].map(str::to_owned).into();
    for direction in directions {
        header.push(format!("u_{direction} [{}]", if direction.is_rotation() { "rad" } else { "m" }));
    }
    let reactions = !end.reaction.is_empty();
    for direction in directions.iter().filter(|_| reactions) {
        let unit = if direction.is_rotation() { "N·m" } else { "N" };
        header.push(format!("reaction_{direction} [{unit}]"));
    }
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(&header)?;
    for node in 0..structure.node_count() {
        let mut row = vec![result.built.node_name(node)];
        row.extend(structure.node(node).map(|x| x.to_string()));
        row.extend(directions.iter().map(|&d| structure.value(&end.displacement, node, d).to_string()));
        if reactions {
            row.extend(directions.iter().map(|&d| structure.value(&end.reaction, node, d).to_string()));
        }
        writer.write_record(&row)?;
    }
    Ok(writer)
}

fn members(result: &StructureResult, end: &EndState) -> std::io::Result<csv::Writer<Vec<u8>>> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record([
        "member",
        "kind",
        "first node",
        "last node",
        "axial force [N]",
        "strain [1]",
        "stress [Pa]",
        "utilisation [1]",
    ])?;
    for (index, (member, carried)) in result.built.structure.members().iter().zip(&end.members).enumerate() {
        let mut ends = member.nodes().map(|node| result.built.node_name(node));
        let first = ends.next().unwrap_or_default();
        writer.write_record([
            result.built.member_name(index),
            member.element().id().to_owned(),
            first.clone(),
            ends.last().unwrap_or(first),
            carried.axial_force.to_string(),
            carried.strain.to_string(),
            carried.stress.to_string(),
            carried.utilisation.map_or_else(String::new, |share| share.to_string()),
        ])?;
    }
    Ok(writer)
}

/// Writes `NAME.vtu` into `folder`: reference positions, displacements as a vector per node, forces per member. Analyses without an
/// end state give one vector per shape (`mode 1`, …) instead.
///
/// # Errors
/// [`VtkError`] naming the file.
pub(super) fn write_vtk(result: &StructureResult, folder: &Path) -> Result<PathBuf, VtkError> {
    let path = folder.join(format!("{}.vtu", result.scene));
    let bytes =
        encode(result).map_err(|source| VtkError::Encode { path: path.display().to_string(), source })?;
    write_whole(&path, &bytes)
        .map_err(|source| VtkError::Write { path: path.display().to_string(), source })?;
    Ok(path)
}

fn array(name: &str, components: u32, data: Vec<f64>) -> Attribute {
    let elem = match components {
        3 => ElementType::Vectors,
        _ => ElementType::Scalars { num_comp: 1, lookup_table: None },
    };
    Attribute::DataArray(DataArray { name: name.into(), elem, data: IOBuffer::F64(data) })
}

fn encode(result: &StructureResult) -> Result<Vec<u8>, vtkio::Error> {
    let structure = &result.built.structure;
    let vector = |displacement: &[f64]| {
        let nodes = 0..structure.node_count();
        nodes
            .flat_map(|node| <[f64; 3]>::from(translation(structure, node, displacement)))
            .collect::<Vec<f64>>()
    };
    let mut point = Vec::new();
    if let Some(end) = &result.end {
        point.push(array("displacement", 3, vector(&end.displacement)));
        if !end.reaction.is_empty() {
            point.push(array("reaction", 3, vector(&end.reaction)));
        }
    }
    if !is_physical(result) {
        // A quarter of a period after the start of each shape it is at its largest.
        for shown in result.shown.iter().skip(QUARTER).step_by(SWING) {
            point.push(array(&shown.label.replace(' ', "_"), 3, vector(&shown.displacement)));
        }
    }
    let (mut connectivity, mut offsets, mut types) = (Vec::new(), Vec::new(), Vec::new());
    for member in structure.members() {
        connectivity.extend(member.nodes().map(|node| node as u64));
        offsets.push(connectivity.len() as u64);
        types.push(if member.nodes().count() == 2 { CellType::Line } else { CellType::Vertex });
    }
    let cell = result.end.as_ref().map_or_else(Vec::new, |end| {
        let column =
            |read: fn(&sim_fem::elements::MemberResult) -> f64| end.members.iter().map(read).collect();
        vec![
            array("axial_force", 1, column(|member| member.axial_force)),
            array("stress", 1, column(|member| member.stress)),
            array("utilisation", 1, column(|member| member.utilisation.unwrap_or(0.0))),
        ]
    });
    let points = (0..structure.node_count()).flat_map(|node| structure.node(node)).collect();
    let grid = Vtk {
        version: Version::Auto,
        title: String::new(),
        byte_order: ByteOrder::LittleEndian,
        file_path: None,
        data: DataSet::UnstructuredGrid {
            meta: None,
            pieces: vec![Piece::Inline(Box::new(UnstructuredGridPiece {
                points: IOBuffer::F64(points),
                cells: Cells { cell_verts: VertexNumbers::XML { connectivity, offsets }, types },
                data: Attributes { point, cell },
            }))],
        },
    };
    let mut bytes = Vec::new();
    grid.write_xml(&mut bytes)?;
    Ok(bytes)
}
