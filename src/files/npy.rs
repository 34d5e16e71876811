//! `.npy`: one tensor behind a text header.

use std::io::{Read, Write};
use std::path::Path;

use super::stored;
use super::{Problem, npy_header, open};
use crate::dtype::DType;
use crate::host::HostTensor;

const MAGIC: &[u8] = b"\x93NUMPY";

/// The longest header read and written. numpy itself reads no more than 10 000 bytes
/// unless told to; those of plain tensors are 118.
const LONGEST_HEADER: usize = 65_535;

/// Reads the tensor of an `.npy` file.
pub(super) fn read(path: &Path) -> Result<HostTensor, Problem> {
    let (mut file, metadata) = open(path)?;
    read_from(&mut file, metadata.len(), true)
}

/// Reads a tensor from `size` bytes of `.npy`. `proven` says that so many are there.
pub(super) fn read_from(
    reader: &mut dyn Read,
    size: u64,
    proven: bool,
) -> Result<HostTensor, Problem> {
    let mut start = [0; 8];
    fill(reader, &mut start, "magic number")?;
    if !start.starts_with(MAGIC) {
        return Err("does not start as an .npy file does; save it with numpy.save".into());
    }
    let (before, length) = match start[6..] {
        [1, 0] => {
            let mut length = [0; 2];
            fill(reader, &mut length, "header")?;
            (10, u64::from(u16::from_le_bytes(length)))
        }
        [2 | 3, 0] => {
            let mut length = [0; 4];
            fill(reader, &mut length, "header")?;
            (12, u64::from(u32::from_le_bytes(length)))
        }
        _ => {
            return Err(format!(
                "is of version {}.{} of the .npy format; 1.0, 2.0 and 3.0 are read",
                start[6], start[7]
            ));
        }
    };
    if length > size.saturating_sub(before) {
        return Err(format!(
            "announces a header of {length} bytes in a file of {size}; the file is cut short or damaged"
        ));
    }
    let mut header = match usize::try_from(length) {
        Ok(length) if length <= LONGEST_HEADER => vec![0; length],
        _ => {
            return Err(format!(
                "has a header of {length} bytes; the limit is {LONGEST_HEADER}, which every plain array keeps to"
            ));
        }
    };
    fill(reader, &mut header, "header")?;
    let layout = npy_header::parse(&header)?;

    let held = size - before - length;
    let needed = layout.stored.bytes_of(&layout.shape);
    if needed != Some(held) {
        let shape = &layout.shape;
        return Err(match needed {
            Some(needed) if needed < held => format!(
                "holds {} bytes after its tensor of shape {shape:?}; save several arrays to an .npz",
                held - needed
            ),
            Some(needed) => format!(
                "announces the shape {shape:?}, which takes {needed} bytes, and holds {held}; the file is cut short or damaged"
            ),
            None => format!(
                "announces the shape {shape:?}, whose bytes are beyond counting, and holds {held}; the header is wrong"
            ),
        });
    }
    let tensor = stored::read(reader, &layout, proven)?;
    // In an archive, the checksum is compared where the end is met.
    match reader.read(&mut [0]) {
        Ok(0) => Ok(tensor),
        Ok(_) => Err("goes on beyond the size that it announces; the file is damaged".into()),
        Err(e) => Err(format!("cannot be read to its end: {e}")),
    }
}

fn fill(reader: &mut dyn Read, bytes: &mut [u8], what: &str) -> Result<(), Problem> {
    reader.read_exact(bytes).map_err(|e| match e.kind() {
        std::io::ErrorKind::UnexpectedEof => format!("ends within its {what}; it is cut short"),
        _ => format!("cannot be read: {e}"),
    })
}

/// Writes a tensor as `.npy`.
pub(super) fn write(writer: &mut impl Write, tensor: &HostTensor) -> Result<(), Problem> {
    let descr = match tensor.dtype() {
        DType::F32 => "<f4",
        DType::F16 => "<f2",
        DType::BF16 => "<V2",
        DType::I32 => "<i4",
        DType::U32 => "<u4",
    };
    let extents: Vec<_> = tensor.shape().iter().map(ToString::to_string).collect();
    let comma = if extents.len() == 1 { "," } else { "" };
    let mut header = format!(
        "{{'descr': '{descr}', 'fortran_order': False, 'shape': ({}{comma}), }}",
        extents.join(", ")
    );
    // Spaces and a line end fill up to a multiple of 64, so that the data is aligned.
    let before = MAGIC.len() + 4;
    let length = (before + header.len() + 1).next_multiple_of(64) - before;
    header.extend(std::iter::repeat_n(' ', length - header.len() - 1));
    header.push('\n');
    let Ok(length) = u16::try_from(length) else {
        return Err(format!(
            "a tensor of rank {} has a header of {length} bytes, and the limit is {LONGEST_HEADER}; reshape it",
            extents.len()
        ));
    };
    [MAGIC, &[1, 0], &length.to_le_bytes(), header.as_bytes()]
        .into_iter()
        .chain([tensor.bytes()])
        .try_for_each(|part| writer.write_all(part))
        .map_err(|e| format!("cannot be written: {e}"))
}
