//! Files that appear whole or not at all.

use std::fs::{self, File, OpenOptions};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use super::{Problem, spec};

/// A file written in full under a temporary name, which is removed unless
/// [`Staged::commit`] gives it its own.
#[derive(Debug)]
pub(super) struct Staged {
    temporary: PathBuf,
    target: PathBuf,
}

/// Distinguishes the temporary files of one process.
static SERIAL: AtomicU64 = AtomicU64::new(0);

/// Writes a file beside `path` (on the same file system, so that a rename can move it).
pub(super) fn write(
    path: &Path,
    fill: impl FnOnce(&mut BufWriter<File>) -> Result<(), Problem>,
) -> Result<Staged, Problem> {
    // A link stays a link: what it points to is replaced.
    let target = spec::identity(path);
    let existing = fs::metadata(&target).ok();
    if let Some(existing) = &existing {
        if !existing.is_file() {
            return Err("is not a regular file; write to another path".into());
        }
        // A rename would replace it all the same.
        if existing.permissions().readonly() {
            return Err(
                "exists and is read-only; write to another path or change its permissions".into(),
            );
        }
    }
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    let serial = SERIAL.fetch_add(1, Ordering::Relaxed);
    // Shortened, because a name that is itself at the system's limit must not fail here.
    let stem: String = name.chars().take(40).collect();
    let temporary = target.with_file_name(format!(".{stem}.{}.{serial}.tmp", std::process::id()));

    let refused = |e: std::io::Error| match e.kind() {
        std::io::ErrorKind::NotFound => {
            "the folder does not exist; create it first, or write elsewhere".to_string()
        }
        _ => format!("cannot be written: {e}"),
    };
    let file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(&temporary)
        .map_err(refused)?;
    // From here on, an early return removes the temporary file.
    let staged = Staged { temporary, target };
    let mut writer = BufWriter::with_capacity(1 << 16, file);
    fill(&mut writer)?;
    writer.flush().map_err(refused)?;
    let file = writer.into_inner().map_err(|e| refused(e.into_error()))?;
    if let Some(existing) = existing {
        file.set_permissions(existing.permissions())
            .map_err(refused)?;
    }
    // Otherwise, a power cut could leave the new name on blocks that were never written.
    file.sync_all().map_err(refused)?;
    Ok(staged)
}

impl Staged {
    /// Gives the file its name, in place of any file that had it.
    pub(super) fn commit(self) -> Result<(), Problem> {
        fs::rename(&self.temporary, &self.target).map_err(|e| format!("cannot take its place: {e}"))
    }
}

impl Drop for Staged {
    fn drop(&mut self) {
        // After a rename there is nothing of this name, and nothing to do.
        let _ = fs::remove_file(&self.temporary);
    }
}
