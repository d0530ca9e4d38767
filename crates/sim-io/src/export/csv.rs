//! Time series as CSV: one row per frame, one column per series, units in the header.

use crate::run::result::RunResult;
use std::path::{Path, PathBuf};

/// Writes all series of a run to `NAME.csv` in `folder`, NAME being the scene's; the first column is time. Returns the path.
///
/// # Errors
/// Any I/O error.
pub fn write_series(result: &RunResult, folder: &Path) -> std::io::Result<PathBuf> {
    let mut columns = vec![("t [s]".to_owned(), result.times.as_slice())];
    for series in &result.series {
        columns.push((format!("{} [{}]", series.name, series.unit), &series.values));
    }
    let path = folder.join(format!("{}.csv", result.scene));
    write_columns(&path, &columns)?;
    Ok(path)
}

/// Writes `columns` of (header, values) to `path`, whole or not at all. Numbers keep every digit (`f64` round trip).
///
/// # Errors
/// Any I/O error.
///
/// # Panics
/// When columns differ in length, with both numbers.
pub fn write_columns(path: &Path, columns: &[(String, &[f64])]) -> std::io::Result<()> {
    let rows = columns.first().map_or(0, |(_, values)| values.len());
    for (name, values) in columns {
        assert_eq!(values.len(), rows, "column `{name}` has {} rows, the first has {rows}", values.len());
    }
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(columns.iter().map(|(name, _)| name))?;
    for row in 0..rows {
        writer.write_record(columns.iter().map(|(_, values)| values[row].to_string()))?;
    }
    let bytes = writer.into_inner().map_err(csv::IntoInnerError::into_error)?;
    super::write_whole(path, &bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_survive_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep").join("x.csv");
        let (t, x) = (vec![0.0, 0.1 + 0.2], vec![1.0 / 3.0, -1e-300]);
        write_columns(&path, &[("t [s]".into(), &t), ("a, \"b\" [m]".into(), &x)]).unwrap();
        let mut reader = csv::Reader::from_path(&path).unwrap();
        assert_eq!(reader.headers().unwrap().get(1), Some("a, \"b\" [m]"));
        let back: Vec<Vec<f64>> =
            reader.records().map(|row| row.unwrap().iter().map(|s| s.parse().unwrap()).collect()).collect();
        assert_eq!(back, vec![vec![t[0], x[0]], vec![t[1], x[1]]]);
    }
}
