//! Running a prepared plan on buffers that show every fault: poisoned, with
//! sentinels around each view.

use crate::device::Gpu;
use crate::error::{Error, Result};
use crate::gate::Instance;
use crate::gate::problem::InstanceInput;
use crate::host::HostTensor;
use crate::plan::{BufferView, Prepared};
use crate::spec::Alignment;

/// What a run left behind.
pub struct Execution {
    /// The outputs.
    pub outputs: Vec<HostTensor>,
    /// What was written outside the outputs, if anything.
    pub damage: Option<String>,
}

/// Fills memory that nobody should read or write: an odd number in every dtype.
pub(crate) const POISON: u8 = 0xa5;
/// Poisoned bytes before and behind each view: a multiple of every binding alignment.
const GUARD: u64 = 256;

/// One view's place in one of the run's buffers.
struct Place {
    buffer: usize,
    /// Of the lowest element stored.
    start: u64,
    bytes: Vec<u8>,
    /// The view's first element, relative to `start`.
    first: u64,
}

/// Runs a prepared plan on an instance's inputs, in buffers and an encoder of
/// its own: whatever else is recorded or submitted on the device is not touched.
///
/// # Errors
/// Whatever binding or the device reports.
pub async fn execute(gpu: &Gpu, prepared: &Prepared, instance: &Instance) -> Result<Execution> {
    let call = &prepared.plan().call;
    let mut images: Vec<Vec<u8>> = Vec::new();
    // One common buffer, or one for each view.
    let mut place = |bytes: &[u8], first: u64, offset: u64| {
        if images.is_empty() || !call.shared_buffers {
            images.push(Vec::new());
        }
        let buffer = images.len() - 1;
        let image = &mut images[buffer];
        let start = (image.len() as u64).next_multiple_of(GUARD) + GUARD + offset;
        image.resize(start as usize, POISON);
        image.extend_from_slice(bytes);
        image.resize(
            (image.len() as u64 + GUARD).next_multiple_of(16) as usize,
            POISON,
        );
        Place {
            buffer,
            start,
            bytes: bytes.to_vec(),
            first,
        }
    };
    let inputs: Vec<Option<Place>> = instance
        .inputs
        .iter()
        .map(|input| {
            let InstanceInput {
                stored,
                first,
                offset,
                ..
            } = input.as_ref()?;
            let size = stored.dtype().size() as u64;
            Some(place(
                stored.bytes(),
                *first as u64 * size,
                *offset as u64 * size,
            ))
        })
        .collect();
    let outputs: Vec<Place> = call
        .outputs
        .iter()
        .map(|spec| {
            let size = spec.dtype.size();
            // Three elements in: odd for every width of access.
            let offset = if spec.alignment == Alignment::Element {
                3 * size
            } else {
                0
            };
            place(&vec![POISON; spec.len() * size], 0, offset as u64)
        })
        .collect();

    use wgpu::BufferUsages as Usage;
    let usage = Usage::STORAGE | Usage::COPY_SRC | Usage::COPY_DST;
    let buffers = images
        .iter()
        .map(|image| upload(gpu, image, usage))
        .collect::<Result<Vec<_>>>()?;
    let poisoned_scratch = |bytes: u64| {
        Ok(BufferView::new(&upload(
            gpu,
            &vec![POISON; bytes as usize],
            usage,
        )?))
    };
    let scratch = prepared
        .plan()
        .scratch
        .iter()
        .map(|s| poisoned_scratch(s.bytes))
        .collect::<Result<Vec<_>>>()?;
    let view = |place: &Place| BufferView::at(&buffers[place.buffer], place.start + place.first);
    let input_views: Vec<_> = inputs
        .iter()
        .map(|place| place.as_ref().map(view))
        .collect();
    let output_views: Vec<_> = outputs.iter().map(view).collect();
    let bound = prepared.bind(&input_views, &output_views, &scratch)?;

    let total: u64 = images.iter().map(|image| image.len() as u64).sum();
    let staging = gpu.create_buffer(
        "read-back",
        total.max(16),
        Usage::MAP_READ | Usage::COPY_DST,
    )?;
    let operation = call.name();
    gpu.catching(operation, "commands", 0, |device| {
        let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor {
            label: Some("gate"),
        });
        bound.record(&mut encoder);
        let mut at = 0;
        for (buffer, image) in buffers.iter().zip(&images) {
            encoder.copy_buffer_to_buffer(buffer, 0, &staging, at, image.len() as u64);
            at += image.len() as u64;
        }
        gpu.queue().submit([encoder.finish()]);
    })?;
    let read = gpu.map_read(&staging, total).await?;

    let mut after: Vec<&[u8]> = Vec::new();
    let mut rest = &read[..];
    for image in &images {
        let (one, others) = rest.split_at(image.len());
        after.push(one);
        rest = others;
    }
    let mut tensors = Vec::new();
    for (place, spec) in outputs.iter().zip(&call.outputs) {
        let range = place.start as usize..place.start as usize + place.bytes.len();
        tensors.push(HostTensor::from_bytes(
            spec.dtype,
            &spec.shape,
            &after[place.buffer][range.clone()],
        )?);
        // What is left must be as it was.
        images[place.buffer][range.clone()].copy_from_slice(&after[place.buffer][range]);
    }
    let damage = damage(&images, &after, &inputs, &outputs, call);
    for buffer in &buffers {
        buffer.destroy();
    }
    Ok(Execution {
        outputs: tensors,
        damage,
    })
}

fn upload(gpu: &Gpu, image: &[u8], usage: wgpu::BufferUsages) -> Result<wgpu::Buffer> {
    let buffer = gpu.catching("gate", "a test buffer", image.len() as u64, |device| {
        device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("gate"),
            size: (image.len() as u64).max(16),
            usage,
            mapped_at_creation: true,
        })
    })?;
    if !image.is_empty() {
        let refused = |e: wgpu::MapRangeError| Error::Device {
            operation: "gate".into(),
            message: e.to_string(),
        };
        let mut range = buffer
            .slice(..image.len() as u64)
            .get_mapped_range_mut()
            .map_err(refused)?;
        range.slice(..).copy_from_slice(image);
    }
    buffer.unmap();
    Ok(buffer)
}

/// The first byte outside the outputs that changed, described.
fn damage(
    before: &[Vec<u8>],
    after: &[&[u8]],
    inputs: &[Option<Place>],
    outputs: &[Place],
    call: &crate::operation::Call,
) -> Option<String> {
    let signature = call.operation.signature();
    for (buffer, (before, after)) in before.iter().zip(after).enumerate() {
        let Some(at) = before.iter().zip(*after).position(|(a, b)| a != b) else {
            continue;
        };
        let inside = |place: &Place| {
            place.buffer == buffer
                && (place.start..place.start + place.bytes.len() as u64).contains(&(at as u64))
        };
        for (i, place) in inputs.iter().enumerate() {
            if place.as_ref().is_some_and(inside) {
                return Some(format!(
                    "input `{}` was written to",
                    signature.input_name(i)
                ));
            }
        }
        let distance = |place: &Place| at as i64 - place.start as i64;
        let near = outputs
            .iter()
            .enumerate()
            .filter(|(_, p)| p.buffer == buffer)
            .min_by_key(|(_, p)| distance(p).abs());
        return Some(match near {
            Some((i, place)) => format!(
                "a sentinel was overwritten, {} bytes from the start of output `{}` of {} bytes",
                distance(place),
                signature.outputs[i].name,
                place.bytes.len()
            ),
            None => format!("a sentinel of an input was overwritten, {at} bytes into its buffer"),
        });
    }
    None
}
