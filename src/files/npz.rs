//! `.npz`: a zip archive with an `.npy` file for each tensor.

use std::fs::File;
use std::io::{BufReader, Seek, Write};
use std::path::Path;

use zip::result::ZipError;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

use super::{Named, Problem, npy, open, spec};
use crate::host::HostTensor;

/// The most bytes that one byte of deflate can stand for.
const DEFLATE_RATIO: u64 = 1032;

/// Reads every tensor of an archive.
pub(super) fn read(path: &Path) -> Result<Vec<Named>, Problem> {
    let mut archive = Archive::open(path)?;
    let entries = std::mem::take(&mut archive.entries);
    entries
        .into_iter()
        .map(|(index, name)| match name.strip_suffix(".npy") {
            Some(name) => Ok((name.to_string(), archive.tensor(index, name)?)),
            None => Err(format!(
                "holds `{name}`, which is not an .npy file; name the tensor to read, or make the archive with numpy.savez"
            )),
        })
        .collect()
}

/// Reads the tensor of that name, or the only one.
pub(super) fn read_one(path: &Path, name: Option<&str>) -> Result<HostTensor, Problem> {
    let mut archive = Archive::open(path)?;
    let (index, names): (Vec<usize>, Vec<&str>) = archive
        .entries
        .iter()
        .filter_map(|(index, name)| Some((index, name.strip_suffix(".npy")?)))
        .unzip();
    let chosen = spec::choose(&names, name)?;
    let (index, name) = (index[chosen], names[chosen].to_string());
    archive.tensor(index, &name)
}

struct Archive {
    zip: ZipArchive<BufReader<File>>,
    /// The files in it: index and name.
    entries: Vec<(usize, String)>,
    size: u64,
}

impl Archive {
    fn open(path: &Path) -> Result<Archive, Problem> {
        let (file, metadata) = open(path)?;
        let mut zip = ZipArchive::new(BufReader::new(file)).map_err(damaged)?;
        if zip.has_duplicate_names() {
            return Err("holds two files of one name; make the archive with numpy.savez".into());
        }
        // A bomb: the same few bytes, unpacked over and over.
        if zip.has_overlapping_files().map_err(damaged)? {
            return Err("has entries that share their bytes; it is damaged or malicious".into());
        }
        let mut entries = Vec::with_capacity(zip.len());
        for index in 0..zip.len() {
            let name = match zip.name_for_index(index) {
                Some(name) => name.map_err(damaged)?.into_owned(),
                None => continue,
            };
            // Archivers add the folders that names with a slash imply; they hold nothing.
            if !name.ends_with('/') {
                entries.push((index, name));
            }
        }
        Ok(Archive {
            zip,
            entries,
            size: metadata.len(),
        })
    }

    fn tensor(&mut self, index: usize, name: &str) -> Result<HostTensor, Problem> {
        let archive_size = self.size;
        let mut read = || {
            let mut entry = self.zip.by_index(index).map_err(damaged)?;
            let (packed, size) = (entry.compressed_size(), entry.size());
            // What the entry claims is believed no further than its bytes allow.
            let (stored, most) = match entry.compression() {
                CompressionMethod::Stored => (true, Some(packed)),
                CompressionMethod::Deflated => (false, packed.checked_mul(DEFLATE_RATIO)),
                other => return Err(unread(&other.to_string())),
            };
            if packed > archive_size || most.is_none_or(|most| size > most) {
                return Err(format!(
                    "announces {size} bytes, packed into {packed} of an archive of {archive_size}; it is damaged or malicious"
                ));
            }
            npy::read_from(&mut entry, size, stored)
        };
        read().map_err(|problem| format!("tensor `{name}`: {problem}"))
    }
}

fn damaged(e: ZipError) -> Problem {
    match e {
        ZipError::UnsupportedArchive(what) => unread(what),
        other => format!("is not a whole zip archive: {other}"),
    }
}

fn unread(what: &str) -> Problem {
    format!(
        "is packed in a way that is not read ({what}); use numpy.savez or numpy.savez_compressed"
    )
}

/// Writes tensors, uncompressed as numpy.savez does.
pub(super) fn write(
    writer: &mut (impl Write + Seek),
    tensors: &[(&str, &HostTensor)],
) -> Result<(), Problem> {
    let mut zip = ZipWriter::new(writer);
    for (name, tensor) in tensors {
        if name.ends_with('/') || name.contains('\0') {
            return Err(format!(
                "a tensor in an .npz cannot be called `{}`; leave out the slash at the end and any NUL",
                name.escape_default()
            ));
        }
        // Sizes beyond 32 bits need a wider record, announced beforehand.
        let large = tensor.bytes().len() as u64 + (1 << 17) > u64::from(u32::MAX);
        let options = SimpleFileOptions::DEFAULT
            .compression_method(CompressionMethod::Stored)
            .large_file(large);
        zip.start_file(format!("{name}.npy"), options)
            .map_err(|e| format!("tensor `{name}` cannot be written: {e}"))?;
        npy::write(&mut zip, tensor).map_err(|problem| format!("tensor `{name}`: {problem}"))?;
    }
    zip.finish()
        .map_err(|e| format!("cannot be written: {e}"))?;
    Ok(())
}
