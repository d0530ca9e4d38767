//! The file itself: letters, version, length, checksum, contents.

use super::{CURRENT, CheckpointError, FORMAT, Foreign, Identity, LINK, PART, PREVIOUS, Which};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::path::Path;

const MAGIC: [u8; 8] = *b"simcheck";
const HEAD: usize = MAGIC.len() + 4 + 8 + 4;

/// Writes a checkpoint into `folder`; when it fails, the one before is still there.
pub(crate) fn write<T: Serialize>(
    folder: &Path,
    identity: &Identity,
    contents: &T,
) -> Result<(), CheckpointError> {
    let path = folder.join(CURRENT);
    let fail = |source| CheckpointError::Write { path: path.clone(), source };
    let bytes = postcard::to_stdvec(&(identity, contents)).map_err(|error| fail(io::Error::other(error)))?;
    let placed = (|| {
        fs::create_dir_all(folder)?;
        let part = folder.join(PART);
        let mut file = File::create(&part)?;
        file.write_all(&MAGIC)?;
        file.write_all(&FORMAT.to_le_bytes())?;
        file.write_all(&(bytes.len() as u64).to_le_bytes())?;
        file.write_all(&crc32fast::hash(&bytes).to_le_bytes())?;
        file.write_all(&bytes)?;
        file.sync_all()?;
        keep_previous(folder)?;
        fs::rename(&part, &path)?;
        sync_folder(folder)
    })();
    if placed.is_err() {
        // On a full disk its bytes are worth more to what is written next.
        let _ = fs::remove_file(folder.join(PART));
    }
    placed.map_err(fail)
}

/// Keeps the newest checkpoint under a second name, so that at no moment there is none.
fn keep_previous(folder: &Path) -> io::Result<()> {
    let (current, link, previous) = (folder.join(CURRENT), folder.join(LINK), folder.join(PREVIOUS));
    if !current.try_exists()? {
        return Ok(());
    }
    let _ = fs::remove_file(&link);
    // File systems without hard links get a copy.
    if fs::hard_link(&current, &link).is_err() {
        fs::copy(&current, &link)?;
        File::open(&link)?.sync_all()?;
    }
    fs::rename(&link, &previous)
}

#[cfg(unix)]
fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

#[cfg(not(unix))]
#[expect(clippy::unnecessary_wraps, reason = "folders cannot be synced here")]
fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}

/// Reads a checkpoint that belongs to `wanted`.
pub(crate) fn read<T: DeserializeOwned>(
    folder: &Path,
    which: Which,
    wanted: &Identity,
) -> Result<T, CheckpointError> {
    let path = which.path(folder);
    let mut file = File::open(&path).map_err(|source| match source.kind() {
        io::ErrorKind::NotFound => CheckpointError::Missing { path: path.clone() },
        _ => CheckpointError::Read { path: path.clone(), source },
    })?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).map_err(|source| CheckpointError::Read { path: path.clone(), source })?;
    decode(&bytes, wanted).map_err(|refusal| match refusal {
        Refusal::Damaged(reason) => CheckpointError::Damaged { path, reason },
        Refusal::Version(found) => CheckpointError::Version { path, found },
        Refusal::Foreign(Foreign { what, found, wanted }) => {
            CheckpointError::Foreign { path, what, found, wanted }
        }
    })
}

enum Refusal {
    Damaged(String),
    Version(u32),
    Foreign(Foreign),
}

fn decode<T: DeserializeOwned>(bytes: &[u8], wanted: &Identity) -> Result<T, Refusal> {
    let damaged = |reason: String| Refusal::Damaged(reason);
    let Some((head, body)) = bytes.split_at_checked(HEAD) else {
        return Err(damaged(format!("{} bytes are less than its head of {HEAD}", bytes.len())));
    };
    let (magic, rest) = head.split_at(MAGIC.len());
    let (version, rest) = rest.split_at(4);
    let (length, sum) = rest.split_at(8);
    if magic != MAGIC {
        return Err(damaged("it does not begin like a checkpoint".to_owned()));
    }
    let word = |bytes: &[u8]| bytes.iter().rev().fold(0_u64, |sum, &byte| sum << 8 | u64::from(byte));
    // The version first: another one may mean other lengths and sums.
    let version = word(version) as u32;
    if version != FORMAT {
        return Err(Refusal::Version(version));
    }
    if body.len() as u64 != word(length) {
        return Err(damaged(format!(
            "it has {} bytes after its head instead of {}",
            body.len(),
            word(length)
        )));
    }
    let (found, stated) = (crc32fast::hash(body), word(sum) as u32);
    if found != stated {
        return Err(damaged(format!("its checksum is {found:08x} instead of {stated:08x}")));
    }
    let unreadable =
        |error: postcard::Error| Refusal::Damaged(format!("its contents cannot be read: {error}"));
    let (identity, rest): (Identity, _) = postcard::take_from_bytes(body).map_err(unreadable)?;
    identity.compare(wanted).map_err(Refusal::Foreign)?;
    let (contents, rest) = postcard::take_from_bytes(rest).map_err(unreadable)?;
    if !rest.is_empty() {
        return Err(damaged(format!("{} bytes follow its contents", rest.len())));
    }
    Ok(contents)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn identity() -> Identity {
        Identity { program: "p 1".into(), name: "rope".into(), scene: 1, model: 2, frames: 3 }
    }

    fn read_one(folder: &Path) -> Result<Vec<f64>, CheckpointError> {
        read(folder, Which::Latest, &identity())
    }

    #[test]
    fn the_one_before_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        assert!(matches!(read_one(folder.path()), Err(CheckpointError::Missing { .. })));
        for k in 0..3 {
            write(folder.path(), &identity(), &vec![f64::from(k), -0.0]).unwrap();
        }
        assert_eq!(read_one(folder.path()).unwrap()[0], 2.0);
        let previous: Vec<f64> = read(folder.path(), Which::Previous, &identity()).unwrap();
        assert_eq!(previous[0], 1.0);
        super::super::remove(folder.path()).unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn every_flipped_bit_and_every_missing_byte_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), &identity(), &vec![1.5, 2.5]).unwrap();
        let path = folder.path().join(CURRENT);
        let whole = fs::read(&path).unwrap();
        for bit in 0..8 * whole.len() {
            let mut changed = whole.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            assert!(decode::<Vec<f64>>(&changed, &identity()).is_err(), "bit {bit}");
        }
        for length in 0..whole.len() {
            assert!(decode::<Vec<f64>>(&whole[..length], &identity()).is_err(), "{length} bytes");
        }
        let longer = [&whole[..], &[0]].concat();
        assert!(matches!(decode::<Vec<f64>>(&longer, &identity()), Err(Refusal::Damaged(_))));
        let mut newer = whole.clone();
        newer[MAGIC.len()] += 1;
        assert!(matches!(decode::<Vec<f64>>(&newer, &identity()), Err(Refusal::Version(2))));
        // A file that its sum agrees with but that asks for more numbers than it has bytes costs no memory.
        let body = postcard::to_stdvec(&(identity(), u64::MAX)).unwrap();
        let mut lying = whole[..MAGIC.len() + 4].to_vec();
        lying.extend((body.len() as u64).to_le_bytes());
        lying.extend(crc32fast::hash(&body).to_le_bytes());
        lying.extend(body);
        assert!(matches!(decode::<Vec<f64>>(&lying, &identity()), Err(Refusal::Damaged(_))));
    }

    #[test]
    fn what_differs_is_named() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), &identity(), &1_u32).unwrap();
        let other = |change: fn(&mut Identity)| {
            let mut wanted = identity();
            change(&mut wanted);
            read::<u32>(folder.path(), Which::Latest, &wanted).unwrap_err().to_string()
        };
        assert!(other(|i| i.program = "p 2".into()).contains("program is p 1, that of this run p 2"));
        assert!(other(|i| i.name = "belt".into()).contains("scene is rope, that of this run belt"));
        assert!(other(|i| i.frames = 4).contains("frames is 3, that of this run 4"));
        assert!(other(|i| i.scene = 7).contains("contents of the scene"));
        assert!(other(|i| i.model = 7).contains("model"));
    }

    #[test]
    fn a_full_disk_leaves_the_one_before() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), &identity(), &vec![1.0]).unwrap();
        // A folder in the place of the temporary file stands for a write that fails.
        fs::create_dir(folder.path().join(PART)).unwrap();
        assert!(matches!(write(folder.path(), &identity(), &vec![2.0]), Err(CheckpointError::Write { .. })));
        assert_eq!(read_one(folder.path()).unwrap(), [1.0]);
    }
}
