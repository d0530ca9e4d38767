//! `ParaView` series: one `.vtu` file per frame and a `.vtu.series` file that lists them with their times.

use std::path::{Path, PathBuf};
use vtkio::model::{
    Attribute, Attributes, ByteOrder, CellType, Cells, DataArray, DataSet, ElementType, IOBuffer, Piece,
    UnstructuredGridPiece, Version, VertexNumbers, Vtk,
};

/// What stays the same in every frame.
#[derive(Clone, Debug, Default)]
pub struct VtkCells {
    /// Lines between particles.
    pub segments: Vec<[u32; 2]>,
    /// Triangles.
    pub triangles: Vec<[u32; 3]>,
    /// Quadrilaterals.
    pub quads: Vec<[u32; 4]>,
}

/// One frame; slices are flat `xyzxyz…`.
#[derive(Clone, Copy, Debug)]
pub struct VtkFrame<'a> {
    /// Time in s.
    pub t: f64,
    /// Positions in m.
    pub positions: &'a [f64],
    /// Velocities in m/s.
    pub velocities: &'a [f64],
}

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

impl VtkCells {
    fn build(&self) -> Cells {
        let mut cells = Cells {
            cell_verts: VertexNumbers::XML { connectivity: Vec::new(), offsets: Vec::new() },
            types: Vec::new(),
        };
        let VertexNumbers::XML { connectivity, offsets } = &mut cells.cell_verts else {
            unreachable!("made two lines above")
        };
        let mut add = |corners: &[u32], kind: CellType| {
            connectivity.extend(corners.iter().map(|&i| u64::from(i)));
            offsets.push(connectivity.len() as u64);
            cells.types.push(kind);
        };
        self.segments.iter().for_each(|c| add(c, CellType::Line));
        self.triangles.iter().for_each(|c| add(c, CellType::Triangle));
        self.quads.iter().for_each(|c| add(c, CellType::Quad));
        cells
    }
}

/// Writes `name_0000.vtu`, … and `name.vtu.series` into `folder`. Returns the files written, the series last.
///
/// Every file is written whole or not at all; when one fails, those before it stay.
///
/// # Errors
/// [`VtkError`].
pub fn write_series<'a>(
    folder: &Path,
    name: &str,
    cells: &VtkCells,
    frames: impl IntoIterator<Item = VtkFrame<'a>>,
) -> Result<Vec<PathBuf>, VtkError> {
    let mut files = Vec::new();
    let mut entries = Vec::new();
    for (index, frame) in frames.into_iter().enumerate() {
        let file = format!("{name}_{index:04}.vtu");
        let path = folder.join(&file);
        let bytes = encode(cells, frame)
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

fn encode(cells: &VtkCells, frame: VtkFrame<'_>) -> Result<Vec<u8>, vtkio::Error> {
    let speed: Vec<f64> = (frame.velocities.chunks_exact(3))
        .map(|v| (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]).sqrt())
        .collect();
    let array = |name: &str, elem, data: Vec<f64>| {
        Attribute::DataArray(DataArray { name: name.into(), elem, data: IOBuffer::F64(data) })
    };
    let velocity = frame.velocities.to_vec();
    let grid = Vtk {
        version: Version::Auto,
        title: String::new(),
        byte_order: ByteOrder::LittleEndian,
        file_path: None,
        data: DataSet::UnstructuredGrid {
            meta: None,
            pieces: vec![Piece::Inline(Box::new(UnstructuredGridPiece {
                points: IOBuffer::F64(frame.positions.to_vec()),
                cells: cells.build(),
                data: Attributes {
                    point: vec![
                        array("velocity", ElementType::Vectors, velocity),
                        array("speed", ElementType::Scalars { num_comp: 1, lookup_table: None }, speed),
                    ],
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
        let folder = tempfile::tempdir().unwrap();
        let cells = VtkCells { segments: vec![[0, 1]], triangles: vec![[0, 1, 2]], quads: vec![] };
        let q = [0.0, 0.0, 0.0, 1.0, 0.1, 0.0, 0.0, 1.0, 1.0 / 3.0];
        let v = [3.0, 4.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 2.0];
        let frame = |t| VtkFrame { t, positions: &q, velocities: &v };
        let files = write_series(folder.path(), "cloth", &cells, [frame(0.0), frame(0.5)]).unwrap();
        assert_eq!(files.len(), 3);
        let series: serde_json::Value = serde_json::from_slice(&std::fs::read(&files[2]).unwrap()).unwrap();
        assert_eq!(series["files"][1]["time"], 0.5);
        assert_eq!(series["files"][1]["name"], "cloth_0001.vtu");
        let back = Vtk::import(&files[1]).unwrap();
        let DataSet::UnstructuredGrid { pieces, .. } = back.data else { panic!("wrong kind of data set") };
        let piece = pieces.into_iter().next().unwrap().into_loaded_piece_data(None).unwrap();
        assert_eq!(piece.points.cast_into::<f64>().unwrap(), q);
        assert_eq!(piece.cells.types, vec![CellType::Line, CellType::Triangle]);
        let Attribute::DataArray(speed) = &piece.data.point[1] else { panic!("speed is a data array") };
        assert_eq!(speed.data.clone().cast_into::<f64>().unwrap(), vec![5.0, 0.0, 2.0]);
    }
}
