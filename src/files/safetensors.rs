//! `.safetensors`: a JSON header, then the tensors' bytes.

use std::cmp::Reverse;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;

use safetensors::tensor::{Dtype, Metadata, TensorInfo};

use super::stored::{self, Layout, Stored};
use super::{Named, Problem, open, spec};
use crate::dtype::DType;
use crate::host::HostTensor;

/// The longest header that the format allows.
const LONGEST_HEADER: u64 = 100_000_000;

/// The key of the header that is not a tensor.
const RESERVED: &str = "__metadata__";

/// Reads every tensor of a file.
pub(super) fn read(path: &Path) -> Result<Vec<Named>, Problem> {
    let mut contents = Contents::open(path)?;
    (0..contents.tensors.len())
        .map(|i| Ok((contents.tensors[i].0.clone(), contents.tensor(i)?)))
        .collect()
}

/// Reads the tensor of that name, or the only one.
pub(super) fn read_one(path: &Path, name: Option<&str>) -> Result<HostTensor, Problem> {
    let mut contents = Contents::open(path)?;
    let names: Vec<&str> = contents.tensors.iter().map(|(n, _)| n.as_str()).collect();
    let chosen = spec::choose(&names, name)?;
    contents.tensor(chosen)
}

/// A file whose header has been read and found to describe the whole of it.
pub(super) struct Contents {
    file: File,
    header: Metadata,
    /// Where the tensors' bytes start in the file.
    data: u64,
    /// In the order of their bytes; those without any, by name.
    pub(super) tensors: Vec<(String, TensorInfo)>,
}

impl Contents {
    pub(super) fn open(path: &Path) -> Result<Contents, Problem> {
        let (mut file, metadata) = open(path)?;
        let size = metadata.len();
        let unreadable = |e: std::io::Error| match e.kind() {
            std::io::ErrorKind::UnexpectedEof => {
                "ends within its header; it is cut short".to_string()
            }
            _ => format!("cannot be read: {e}"),
        };
        let mut length = [0; 8];
        file.read_exact(&mut length).map_err(unreadable)?;
        let length = u64::from_le_bytes(length);
        let held = size.saturating_sub(8);
        if length > held || length > LONGEST_HEADER {
            return Err(format!(
                "announces a header of {length} bytes in a file of {size}, and the limit is {LONGEST_HEADER}; it is cut short, or no .safetensors file"
            ));
        }
        let mut text = vec![0; length as usize];
        file.read_exact(&mut text).map_err(unreadable)?;
        let header: Metadata = serde_json::from_slice(&text)
            .map_err(|e| format!("has a header that does not do: {e}; save the file again"))?;
        let (described, there) = (header.data_len() as u64, held - length);
        if described != there {
            return Err(format!(
                "describes {described} bytes of tensors and holds {there}; it is cut short or damaged"
            ));
        }
        let mut tensors: Vec<(String, TensorInfo)> = header
            .tensors()
            .into_iter()
            .map(|(name, info)| (name, info.clone()))
            .collect();
        tensors.sort_by(|(a, x), (b, y)| (x.data_offsets, a).cmp(&(y.data_offsets, b)));
        Ok(Contents {
            file,
            header,
            data: 8 + length,
            tensors,
        })
    }

    /// The text under a key of the file's metadata.
    pub(super) fn metadata(&self, key: &str) -> Option<&str> {
        self.header
            .metadata()
            .as_ref()?
            .get(key)
            .map(String::as_str)
    }

    /// Reads the tensor of this index.
    pub(super) fn tensor(&mut self, index: usize) -> Result<HostTensor, Problem> {
        let (name, info) = &self.tensors[index];
        let mut read = || {
            let layout = Layout {
                stored: stored_as(info.dtype)?,
                big_endian: false,
                fortran: false,
                shape: info.shape.clone(),
            };
            let start = self.data + info.data_offsets.0 as u64;
            self.file
                .seek(SeekFrom::Start(start))
                .map_err(|e| format!("cannot be read: {e}"))?;
            // The header was checked against the file's size: the bytes are there.
            stored::read(&mut self.file, &layout, true)
        };
        read().map_err(|problem| format!("tensor `{name}`: {problem}"))
    }
}

fn stored_as(dtype: Dtype) -> Result<Stored, Problem> {
    Ok(match dtype {
        Dtype::F32 => Stored::Exact(DType::F32),
        Dtype::F16 => Stored::Exact(DType::F16),
        Dtype::BF16 => Stored::Exact(DType::BF16),
        Dtype::I32 => Stored::Exact(DType::I32),
        Dtype::U32 => Stored::Exact(DType::U32),
        Dtype::BOOL => Stored::Bool,
        Dtype::I8 => Stored::I8,
        Dtype::U8 => Stored::U8,
        Dtype::I16 => Stored::I16,
        Dtype::U16 => Stored::U16,
        Dtype::I64 => Stored::I64,
        Dtype::U64 => Stored::U64,
        Dtype::F64 => Stored::F64,
        other => {
            return Err(format!(
                "the dtype {other} is not read; convert it to F32, F16, BF16, I32 or U32"
            ));
        }
    })
}

/// Writes tensors, the widest elements first as the format's own writers do, so that
/// each tensor is aligned to its elements in a mapped file.
pub(super) fn write(
    writer: &mut impl Write,
    tensors: &[(&str, &HostTensor)],
) -> Result<(), Problem> {
    if tensors.iter().any(|(name, _)| *name == RESERVED) {
        return Err(format!(
            "a tensor cannot be called `{RESERVED}`, which the format keeps for itself; rename it"
        ));
    }
    let mut sorted = tensors.to_vec();
    sorted.sort_by_key(|(name, tensor)| (Reverse(tensor.dtype().size()), *name));

    let mut end = 0;
    let infos = sorted
        .iter()
        .map(|(name, tensor)| {
            let start = end;
            end += tensor.bytes().len();
            let info = TensorInfo {
                dtype: match tensor.dtype() {
                    DType::F32 => Dtype::F32,
                    DType::F16 => Dtype::F16,
                    DType::BF16 => Dtype::BF16,
                    DType::I32 => Dtype::I32,
                    DType::U32 => Dtype::U32,
                },
                shape: tensor.shape().to_vec(),
                data_offsets: (start, end),
            };
            (name.to_string(), info)
        })
        .collect();
    let header = Metadata::new(None, infos).map_err(|e| format!("cannot be described: {e}"))?;
    let mut header =
        serde_json::to_vec(&header).map_err(|e| format!("cannot be described: {e}"))?;
    header.resize(header.len().next_multiple_of(8), b' ');
    let length = header.len() as u64;
    if length > LONGEST_HEADER {
        return Err(format!(
            "the header takes {length} bytes, and the limit is {LONGEST_HEADER}; write fewer tensors to a file"
        ));
    }
    let length = length.to_le_bytes();
    [&length[..], &header]
        .into_iter()
        .chain(sorted.iter().map(|(_, tensor)| tensor.bytes()))
        .try_for_each(|part| writer.write_all(part))
        .map_err(|e| format!("cannot be written: {e}"))
}
