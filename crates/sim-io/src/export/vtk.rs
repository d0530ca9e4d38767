//! `ParaView` series: one `.vtu` file per frame and a `.vtu.series` file that lists them with their times.
//!
//! # Limitations
//! Frames are single precision, as recorded for pictures. Measure with the CSV file.

use crate::run::result::{Display, Frame, RunResult};
use std::path::{Path, PathBuf};
use vtkio::model::{
    Attribute, Attributes, ByteOrder, CellType, Cells, DataArray, DataSet, ElementType, IOBuffer, Piece,
    UnstructuredGridPiece, Version, VertexNumbers, Vtk,
};

/// A series that could not be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum VtkError {
    /// The file format library failed.
    #[error("cannot encode {path}")]
    Encode {
        /// Path.
        path: String,
        /// Cause.
        #[source]
        source: vtkio::Error,
    },
    /// A file could not be written.
    #[error("cannot write {path}")]
    Write {
        /// Path.
        path: String,
        /// Cause.
        #[source]
        source: std::io::Error,
    },
}

fn cells(display: &Display) -> Cells {
    let (mut connectivity, mut offsets, mut types) = (Vec::new(), Vec::new(), Vec::new());
    let mut add = |corners: &[u32], kind: CellType| {
        connectivity.extend(corners.iter().map(|&i| u64::from(i)));
        offsets.push(connectivity.len() as u64);
        types.push(kind);
    };
    display.lines.iter().for_each(|corners| add(corners, CellType::Line));
    display.triangles.iter().for_each(|corners| add(corners, CellType::Triangle));
    display.outlines.iter().for_each(|corners| add(corners, CellType::Line));
    display.solids.iter().for_each(|corners| add(corners, CellType::Triangle));
    Cells { cell_verts: VertexNumbers::XML { connectivity, offsets }, types }
}

/// Writes `NAME_0000.vtu`, … and `NAME.vtu.series` into `folder`, NAME being the scene's. Returns the files, the series last.
///
/// Every file is written whole or not at all; when one fails, those before it stay.
///
/// # Errors
/// [`VtkError`] naming the file.
pub fn write_series(result: &RunResult, folder: &Path) -> Result<Vec<PathBuf>, VtkError> {
    let name = &result.scene;
    let cells = cells(&result.display);
    let mut files = Vec::new();
    let mut entries = Vec::new();
    for (index, frame) in result.frames.iter().enumerate() {
        let file = format!("{name}_{index:04}.vtu");
        let path = folder.join(&file);
        let bytes = encode(&cells, frame, result.display.quantity)
            .map_err(|source| VtkError::Encode { path: path.display().to_string(), source })?;
        write(&path, &bytes)?;
        entries.push(serde_json::json!({"name": file, "time": frame.t}));
        files.push(path);
    }
    let series = serde_json::json!({"file-series-version": "1.0", "files": entries});
    let path = folder.join(format!("{name}.vtu.series"));
    write(&path, format!("{series:#}\n").as_bytes())?;
    files.push(path);
    Ok(files)
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), VtkError> {
    super::write_whole(path, bytes)
        .map_err(|source| VtkError::Write { path: path.display().to_string(), source })
}

fn encode(cells: &Cells, frame: &Frame, quantity: &str) -> Result<Vec<u8>, vtkio::Error> {
    let grid = Vtk {
        version: Version::Auto,
        title: String::new(),
        byte_order: ByteOrder::LittleEndian,
        file_path: None,
        data: DataSet::UnstructuredGrid {
            meta: None,
            pieces: vec![Piece::Inline(Box::new(UnstructuredGridPiece {
                points: IOBuffer::F32(frame.positions.concat()),
                cells: cells.clone(),
                data: Attributes {
                    point: vec![Attribute::DataArray(DataArray {
                        name: quantity.into(),
                        elem: ElementType::Scalars { num_comp: 1, lookup_table: None },
                        data: IOBuffer::F32(frame.speeds.clone()),
                    })],
                    cell: vec![],
                },
            }))],
        },
    };
    let mut bytes = Vec::new();
    grid.write_xml(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reader_gets_back_what_was_written() {
        let display =
            Display { points: 3, lines: vec![[0, 1]], triangles: vec![[0, 1, 2]], ..Display::default() };
        let positions = vec![[0.0, 0.0, 0.0], [1.0, 0.1, 0.0], [0.0, 1.0, 1.0 / 3.0]];
        let frame = Frame { t: 0.5, positions: positions.clone(), speeds: vec![5.0, 0.0, 2.0] };
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.vtu");
        std::fs::write(&path, encode(&cells(&display), &frame, display.quantity).unwrap()).unwrap();
        let DataSet::UnstructuredGrid { pieces, .. } = Vtk::import(&path).unwrap().data else {
            panic!("wrong kind of data set")
        };
        let piece = pieces.into_iter().next().unwrap().into_loaded_piece_data(None).unwrap();
        assert_eq!(piece.points.cast_into::<f32>().unwrap(), positions.concat());
        assert_eq!(piece.cells.types, vec![CellType::Line, CellType::Triangle]);
        let Attribute::DataArray(speed) = &piece.data.point[0] else { panic!("speed is a data array") };
        assert_eq!(speed.data.clone().cast_into::<f32>().unwrap(), frame.speeds);
    }
}
