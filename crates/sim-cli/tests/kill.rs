//! Runs that are killed at random moments leave the results of a run that never stopped.

#![cfg(unix)]

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

fn command(folder: &Path, more: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sim"));
    command.args(["run", "rope", "--json", "--until", "0.5", "--set", "output.report=false"]);
    command.args(more).current_dir(folder).stdout(Stdio::null()).stderr(Stdio::piped());
    command
}

/// All files of a folder; of the summary without what the clock says.
fn contents(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let named = files.map(|path| (path.file_name().unwrap().to_string_lossy().into_owned(), path));
    // A kill while results are written leaves temporary files; the results beside them are what counts.
    named
        .filter(|(name, _)| !name.starts_with(".tmp"))
        .map(|(name, path)| {
            let mut bytes = std::fs::read(&path).unwrap();
            if name == "summary.json" {
                let mut summary: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
                assert!(summary["wall_s"].take().is_number());
                bytes = serde_json::to_vec(&summary).unwrap();
            }
            (name, bytes)
        })
        .collect()
}

#[test]
fn twenty_kills_change_no_byte() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let started = std::time::Instant::now();
    assert!(command(folder.path(), &["--out", "out"]).status().unwrap().success());
    let length = started.elapsed().as_secs_f64();
    let whole = contents(&out);
    assert!(whole.len() > 20, "frames, series and summary: {}", whole.len());
    std::fs::remove_dir_all(&out).unwrap();
    let mut seed = 0x2545_f491_4f6c_dd1d_u64;
    let mut resumed = 0;
    for kill in 0..=20 {
        let latest = out.join("checkpoint.sim");
        let place = if latest.exists() { "--resume" } else { "--out" };
        resumed += u32::from(latest.exists());
        let mut child = command(folder.path(), &[place, "out", "--checkpoint-every", "0s"]).spawn().unwrap();
        if kill < 20 {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let share = (seed >> 11) as f64 / (1_u64 << 53) as f64;
            std::thread::sleep(Duration::from_secs_f64(share * length));
            // It may have come to its end before: then the next run starts anew.
            let _ = child.kill();
            child.wait().unwrap();
        } else {
            let output = child.wait_with_output().unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        }
    }
    assert!(resumed > 0, "no run went on from a checkpoint");
    assert!(contents(&out) == whole, "the results differ");
}
