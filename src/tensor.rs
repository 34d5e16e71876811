//! The layer for everybody: tensors with a run-time dtype, operations by name,
//! asynchronous reads.

use std::sync::Arc;

use crate::device::{Gpu, PooledBuffer, Selector};
use crate::dispatch::{Decision, Policy};
use crate::dtype::{DType, Element};
use crate::error::{Error, Result};
use crate::host::HostTensor;
use crate::operation::{Call, Variant};
use crate::params::Params;
use crate::plan::BufferView;
use crate::registry;
use crate::spec::{Alignment, TensorSpec, broadcast_strides, resolve_axis, row_major};

/// Where tensors live and operations run: a GPU with the CPU to fall back on,
/// or the CPU alone. A handle; clones share everything.
#[derive(Clone, Debug)]
pub struct Device(Arc<DeviceInner>);

#[derive(Debug)]
struct DeviceInner {
    gpu: Option<Gpu>,
    policy: Policy,
    notice: Option<String>,
}

impl PartialEq for Device {
    fn eq(&self, other: &Device) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
            || (self.0.gpu == other.0.gpu && self.0.policy == other.0.policy)
    }
}

impl Device {
    /// The best adapter of this machine (or the one that `PORTCULLIS_ADAPTER`
    /// names), with the policy that the environment states. Where no adapter
    /// works, the CPU: [`Device::notice`] then says so.
    ///
    /// # Errors
    /// [`Error::NoAdapter`] when one was named that is not there, or when the
    /// policy requires a GPU and there is none.
    pub async fn request() -> Result<Device> {
        Device::with(&Selector::Best, Policy::from_environment()?).await
    }

    /// The adapter that `selector` names, with this policy.
    ///
    /// # Errors
    /// As [`Device::request`].
    pub async fn with(selector: &Selector, policy: Policy) -> Result<Device> {
        let opened = Gpu::open(selector).await;
        match opened {
            Ok(gpu) => Ok(Device::from_gpu(gpu, policy)),
            Err(error)
                if policy.require_gpu || !matches!(selector, Selector::Cpu | Selector::Best) =>
            {
                Err(error)
            }
            Err(error) => {
                // A name in the environment that no adapter has is not a reason to fall back.
                let named = std::env::var(crate::device::ADAPTER_VARIABLE).unwrap_or_default();
                let wanted = Selector::parse(&named);
                if *selector == Selector::Best && !matches!(wanted, Selector::Best | Selector::Cpu)
                {
                    return Err(error);
                }
                let notice = format!("running on the CPU: {error}");
                Ok(Device(Arc::new(DeviceInner {
                    gpu: None,
                    policy,
                    notice: Some(notice),
                })))
            }
        }
    }

    /// As [`Device::request`], blocking.
    ///
    /// # Errors
    /// As [`Device::request`].
    #[cfg(not(target_arch = "wasm32"))]
    pub fn request_blocking() -> Result<Device> {
        crate::device::blocking::block_on(Device::request())
    }

    /// A GPU of the caller's.
    pub fn from_gpu(gpu: Gpu, policy: Policy) -> Device {
        Device(Arc::new(DeviceInner {
            gpu: Some(gpu),
            policy,
            notice: None,
        }))
    }

    /// The CPU alone.
    pub fn cpu() -> Device {
        Device(Arc::new(DeviceInner {
            gpu: None,
            policy: Policy::default(),
            notice: None,
        }))
    }

    /// The GPU, if there is one.
    pub fn gpu(&self) -> Option<&Gpu> {
        self.0.gpu.as_ref()
    }

    /// What the choice of variants keeps to.
    pub fn policy(&self) -> &Policy {
        &self.0.policy
    }

    /// Why the CPU is used, where no adapter worked.
    pub fn notice(&self) -> Option<&str> {
        self.0.notice.as_deref()
    }

    /// Links, compiles and probes what these calls need, and says for each
    /// which variant will run and why not a faster one.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when the policy leaves no variant; [`Error::DeviceLost`].
    pub async fn prepare(&self, calls: &[Call]) -> Result<Vec<Decision>> {
        let mut decisions = Vec::with_capacity(calls.len());
        for call in calls {
            decisions.push(match self.gpu() {
                Some(gpu) => gpu.prepare(call, self.policy()).await?,
                None => self.cpu_decision(call)?,
            });
        }
        Ok(decisions)
    }

    fn cpu_decision(&self, call: &Call) -> Result<Decision> {
        let policy = self.policy();
        let reason = match policy.forced {
            Some(forced) if forced != Variant::Cpu => {
                format!("the policy forces `{forced}`, and there is no GPU")
            }
            _ if policy.forbidden.contains(&Variant::Cpu) => {
                "the policy forbids the CPU, and there is no GPU".into()
            }
            _ if policy.require_gpu => "the policy requires a GPU, and there is none".into(),
            _ => {
                return Ok(Decision {
                    variant: Variant::Cpu,
                    rejected: Vec::new(),
                    prepared: None,
                });
            }
        };
        Err(Error::Unavailable {
            operation: call.name().into(),
            reason,
        })
    }

    /// A decision without waiting: natively with probes, in browsers only with what `prepare` probed.
    fn decide(&self, call: &Call) -> Result<Decision> {
        let Some(gpu) = self.gpu() else {
            return self.cpu_decision(call);
        };
        #[cfg(not(target_arch = "wasm32"))]
        return crate::device::blocking::block_on(gpu.decide(call, self.policy(), true));
        #[cfg(target_arch = "wasm32")]
        {
            // Without probes there is nothing to wait for: the first poll is the last.
            let mut future = std::pin::pin!(gpu.decide(call, self.policy(), false));
            match future
                .as_mut()
                .poll(&mut std::task::Context::from_waker(std::task::Waker::noop()))
            {
                std::task::Poll::Ready(decision) => decision,
                std::task::Poll::Pending => Err(Error::Unavailable {
                    operation: call.name().into(),
                    reason: "not prepared; await `Device::prepare` first".into(),
                }),
            }
        }
    }

    /// Submits everything recorded so far. Reads do it by themselves.
    ///
    /// # Errors
    /// [`Error::DeviceLost`], [`Error::Device`].
    pub fn submit(&self) -> Result<()> {
        self.gpu().map_or(Ok(()), Gpu::submit)
    }
}

#[derive(Debug)]
enum Storage {
    Host(HostTensor),
    Gpu(PooledBuffer),
}

/// A tensor with a run-time dtype, on a device. Clones share their elements;
/// no operation changes a tensor.
#[derive(Clone, Debug)]
pub struct Tensor {
    device: Device,
    dtype: DType,
    shape: Vec<usize>,
    strides: Vec<isize>,
    // Elements from the storage's start to the first one.
    offset: usize,
    storage: Arc<Storage>,
}

impl Tensor {
    /// Uploads a slice in row-major order.
    ///
    /// ```
    /// use portcullis::{Device, Tensor};
    /// let x = Tensor::from_slice(&Device::cpu(), &[1.0f32, 2.0, 3.0, 4.0], &[2, 2])?;
    /// assert_eq!(x.shape(), [2, 2]);
    /// # Ok::<(), portcullis::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Shape`] when the shape does not hold exactly these elements; [`Error::OutOfMemory`].
    pub fn from_slice<T: Element>(device: &Device, data: &[T], shape: &[usize]) -> Result<Tensor> {
        Tensor::from_host(device, HostTensor::new(shape, data.to_vec())?)
    }

    /// Uploads a host tensor.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`]; [`Error::Limit`] beyond what one buffer holds.
    pub fn from_host(device: &Device, tensor: HostTensor) -> Result<Tensor> {
        let (dtype, shape) = (tensor.dtype(), tensor.shape().to_vec());
        let storage = match device.gpu() {
            None => Storage::Host(tensor),
            Some(gpu) => {
                let bytes = tensor.bytes();
                let buffer = gpu.allocate("a tensor", bytes.len() as u64)?;
                gpu.upload(buffer.buffer(), bytes)?;
                Storage::Gpu(buffer)
            }
        };
        Ok(Tensor::whole(device, dtype, shape, storage))
    }

    fn whole(device: &Device, dtype: DType, shape: Vec<usize>, storage: Storage) -> Tensor {
        let strides = row_major(&shape);
        Tensor {
            device: device.clone(),
            dtype,
            shape,
            strides,
            offset: 0,
            storage: Arc::new(storage),
        }
    }

    /// Where the tensor lives.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// How elements are stored.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// The extents, outermost first.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        self.shape.iter().product()
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.shape.contains(&0)
    }

    /// Dtype and layout, as plans take them.
    pub fn spec(&self) -> TensorSpec {
        let spec = TensorSpec::new(self.dtype, self.shape.clone()).strided(self.strides.clone());
        let alignment = if self.offset == 0 {
            Alignment::Binding
        } else {
            Alignment::Element
        };
        TensorSpec { alignment, ..spec }
    }

    /// The buffer and offset, where the tensor lives on a GPU.
    pub fn buffer_view(&self) -> Option<BufferView> {
        match &*self.storage {
            Storage::Gpu(buffer) => Some(BufferView::at(
                buffer.buffer(),
                (self.offset * self.dtype.size()) as u64,
            )),
            Storage::Host(_) => None,
        }
    }

    /// The same elements with axes in another order. No copy.
    ///
    /// # Errors
    /// [`Error::Axis`] or [`Error::Shape`] unless `axes` names every axis once.
    pub fn permute(&self, axes: &[i64]) -> Result<Tensor> {
        let rank = self.shape.len();
        let axes: Vec<usize> = axes
            .iter()
            .map(|&a| resolve_axis("permute", a, rank))
            .collect::<Result<_>>()?;
        let mut sorted = axes.clone();
        sorted.sort_unstable();
        if sorted != (0..rank).collect::<Vec<_>>() {
            return Err(Error::Shape {
                operation: "permute".into(),
                problem: format!("axes {axes:?} do not name each of the {rank} axes once"),
            });
        }
        let mut view = self.clone();
        view.shape = axes.iter().map(|&a| self.shape[a]).collect();
        view.strides = axes.iter().map(|&a| self.strides[a]).collect();
        Ok(view)
    }

    /// The elements `start..start + length` along an axis. No copy.
    ///
    /// # Errors
    /// [`Error::Axis`]; [`Error::Shape`] when the range is beyond the axis.
    pub fn narrow(&self, axis: i64, start: usize, length: usize) -> Result<Tensor> {
        let axis = resolve_axis("narrow", axis, self.shape.len())?;
        let extent = self.shape[axis];
        if start.checked_add(length).is_none_or(|end| end > extent) {
            return Err(Error::Shape {
                operation: "narrow".into(),
                problem: format!(
                    "{length} elements from {start} do not lie within axis {axis} of extent {extent}"
                ),
            });
        }
        let mut view = self.clone();
        view.shape[axis] = length;
        if !view.is_empty() {
            view.offset = (self.offset as isize + start as isize * self.strides[axis]) as usize;
        }
        Ok(view)
    }

    /// The same elements repeated to a larger shape, by NumPy's rule. No copy.
    ///
    /// # Errors
    /// [`Error::Shape`] when the tensor does not broadcast to `shape`.
    pub fn broadcast_to(&self, shape: &[usize]) -> Result<Tensor> {
        let merged = crate::spec::broadcast_shapes("broadcast_to", &[&self.shape, shape])?;
        if merged != shape {
            return Err(Error::Shape {
                operation: "broadcast_to".into(),
                problem: format!("{:?} does not broadcast to {shape:?}", self.shape),
            });
        }
        let mut view = self.clone();
        view.strides = broadcast_strides(
            &TensorSpec::new(self.dtype, self.shape.clone()).strided(self.strides.clone()),
            shape,
        );
        view.shape = shape.to_vec();
        Ok(view)
    }

    /// The same elements in another shape. No copy, so only of contiguous tensors.
    ///
    /// # Errors
    /// [`Error::Shape`] when the number of elements differs or the tensor is strided.
    pub fn reshape(&self, shape: &[usize]) -> Result<Tensor> {
        let problem = if crate::host::element_count(shape) != Some(self.len()) {
            Some(format!(
                "{:?} has {} elements and {shape:?} does not",
                self.shape,
                self.len()
            ))
        } else if !crate::plan::is_row_major(&self.shape, &self.strides) {
            Some(
                "a strided view has no other shape; copy it with `cast` to its own dtype first"
                    .into(),
            )
        } else {
            None
        };
        if let Some(problem) = problem {
            return Err(Error::Shape {
                operation: "reshape".into(),
                problem,
            });
        }
        Ok(Tensor {
            shape: shape.to_vec(),
            strides: row_major(shape),
            ..self.clone()
        })
    }

    /// Reads the elements back, in row-major order. Submits what was recorded before.
    ///
    /// # Errors
    /// [`Error::DType`] when `T` is another dtype's type; [`Error::DeviceLost`].
    pub async fn to_vec<T: Element>(&self) -> Result<Vec<T>> {
        let host = self.to_host().await?;
        host.as_slice::<T>()
            .map(<[T]>::to_vec)
            .ok_or_else(|| Error::DType {
                operation: "to_vec".into(),
                input: "tensor".into(),
                found: self.dtype,
                accepted: T::DTYPE.name().into(),
            })
    }

    /// As [`Tensor::to_vec`], blocking.
    ///
    /// # Errors
    /// As [`Tensor::to_vec`].
    #[cfg(not(target_arch = "wasm32"))]
    pub fn to_vec_blocking<T: Element>(&self) -> Result<Vec<T>> {
        crate::device::blocking::block_on(self.to_vec())
    }

    /// Reads the tensor back.
    ///
    /// # Errors
    /// [`Error::DeviceLost`]; [`Error::OutOfMemory`].
    pub async fn to_host(&self) -> Result<HostTensor> {
        let spec = self.spec();
        let Some((low, high)) = spec.extent() else {
            return Ok(HostTensor::zeros(self.dtype, &self.shape));
        };
        let first = (self.offset as isize + low) as usize;
        let count = (high - low + 1) as usize;
        let size = self.dtype.size();
        match &*self.storage {
            Storage::Host(tensor) => HostTensor::gather(
                self.dtype,
                &self.shape,
                &self.strides,
                tensor.bytes(),
                self.offset,
            ),
            Storage::Gpu(buffer) => {
                let Some(gpu) = self.device.gpu() else {
                    return Err(Error::NoAdapter(
                        "a tensor on a GPU has a device without one".into(),
                    ));
                };
                // Copies start at multiples of 4 bytes.
                let start = first * size / 4 * 4;
                let bytes = gpu
                    .read(
                        buffer.buffer(),
                        start as u64,
                        ((first + count) * size - start) as u64,
                    )
                    .await?;
                let offset = self.offset - start / size;
                HostTensor::gather(self.dtype, &self.shape, &self.strides, &bytes, offset)
            }
        }
    }

    /// As [`Tensor::to_host`], blocking.
    ///
    /// # Errors
    /// As [`Tensor::to_host`].
    #[cfg(not(target_arch = "wasm32"))]
    pub fn to_host_blocking(&self) -> Result<HostTensor> {
        crate::device::blocking::block_on(self.to_host())
    }
}

/// The outputs of an operation, by name, and which variant computed them.
#[derive(Debug)]
pub struct Outputs {
    names: Vec<&'static str>,
    tensors: Vec<Tensor>,
    decision: Decision,
}

impl Outputs {
    /// The output of this name.
    pub fn get(&self, name: &str) -> Option<&Tensor> {
        self.names
            .iter()
            .position(|n| *n == name)
            .map(|i| &self.tensors[i])
    }

    /// Names and tensors in order.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, &Tensor)> {
        self.names.iter().copied().zip(&self.tensors)
    }

    /// Which variant ran, and why not a faster one.
    pub fn decision(&self) -> &Decision {
        &self.decision
    }

    /// The first output.
    pub fn into_first(self) -> Tensor {
        self.tensors
            .into_iter()
            .next()
            .expect("every operation has an output")
    }

    /// The outputs in order.
    pub fn into_tensors(self) -> Vec<Tensor> {
        self.tensors
    }
}

/// Runs the operation called `name`. Work is recorded into the device's command
/// stream; nothing is submitted before a read or [`Device::submit`], but for
/// the probe of a fast variant on its first use.
///
/// ```
/// use portcullis::{Device, Params, Tensor, ops};
/// let x = Tensor::from_slice(&Device::cpu(), &[1.0f32, 1.0], &[1, 2])?;
/// let outputs = ops::call("softmax", &[Some(&x)], &Params::new())?;
/// assert_eq!(outputs.get("y").unwrap().to_vec_blocking::<f32>()?, [0.5, 0.5]);
/// # Ok::<(), portcullis::Error>(())
/// ```
///
/// # Errors
/// [`Error::UnknownOperation`]; whatever does not fit the operation; [`Error::Unavailable`] when the
/// policy leaves no variant; [`Error::DeviceLost`], [`Error::OutOfMemory`].
pub fn call(name: &str, inputs: &[Option<&Tensor>], params: &Params) -> Result<Outputs> {
    let operation = registry::find(name)?;
    let specs = inputs.iter().map(|t| t.map(Tensor::spec)).collect();
    let call = Call::new(operation, specs, params)?;
    let present: Vec<&Tensor> = inputs.iter().copied().flatten().collect();
    let Some(first) = present.first() else {
        return Err(Error::Inputs {
            operation: name.into(),
            problem: "no input says on which device to run".into(),
        });
    };
    let device = first.device.clone();
    if present.iter().any(|t| t.device != device) {
        return Err(Error::Inputs {
            operation: name.into(),
            problem: "inputs live on different devices; read one back and upload it to the other"
                .into(),
        });
    }
    let decision = device.decide(&call)?;
    let names = operation
        .signature()
        .outputs
        .iter()
        .map(|o| o.name)
        .collect();
    let tensors = match (&decision.prepared, device.gpu()) {
        (Some(prepared), Some(gpu)) => {
            let outputs = call.outputs.iter().map(|spec| {
                gpu.allocate(
                    "an output",
                    crate::plan::dense_bytes(spec.dtype, spec.len()),
                )
            });
            let outputs = outputs.collect::<Result<Vec<_>>>()?;
            let scratch = prepared
                .plan()
                .scratch
                .iter()
                .map(|s| gpu.allocate(s.name, s.bytes));
            let scratch = scratch.collect::<Result<Vec<_>>>()?;
            let views = |buffers: &[PooledBuffer]| -> Vec<BufferView> {
                buffers
                    .iter()
                    .map(|b| BufferView::new(b.buffer()))
                    .collect()
            };
            let mut input_views: Vec<_> = inputs
                .iter()
                .map(|t| t.and_then(Tensor::buffer_view))
                .collect();
            input_views.resize(call.inputs.len(), None);
            let bound = prepared.bind(&input_views, &views(&outputs), &views(&scratch))?;
            gpu.with_encoder(|encoder| bound.record(encoder));
            let wrap = |(buffer, spec): (PooledBuffer, &TensorSpec)| {
                Tensor::whole(
                    &device,
                    spec.dtype,
                    spec.shape.clone(),
                    Storage::Gpu(buffer),
                )
            };
            outputs.into_iter().zip(&call.outputs).map(wrap).collect()
        }
        _ => {
            let mut host = Vec::with_capacity(inputs.len());
            for input in inputs {
                host.push(input.map(read_now).transpose()?);
            }
            host.resize_with(call.inputs.len(), || None);
            let views: Vec<_> = host.iter().map(Option::as_ref).collect();
            let outputs = operation.cpu(&call, &views)?;
            outputs
                .into_iter()
                .map(|t| Tensor::from_host(&device, t))
                .collect::<Result<_>>()?
        }
    };
    Ok(Outputs {
        names,
        tensors,
        decision,
    })
}

#[cfg(not(target_arch = "wasm32"))]
fn read_now(tensor: &Tensor) -> Result<HostTensor> {
    tensor.to_host_blocking()
}

/// In browsers nothing blocks: only what lies in host memory can be taken at once.
#[cfg(target_arch = "wasm32")]
fn read_now(tensor: &Tensor) -> Result<HostTensor> {
    let mut future = std::pin::pin!(tensor.to_host());
    match future.as_mut().poll(&mut std::task::Context::from_waker(std::task::Waker::noop())) {
        std::task::Poll::Ready(tensor) => tensor,
        std::task::Poll::Pending => Err(Error::Unavailable {
            operation: "read".into(),
            reason: "no GPU variant can run this call, and a browser cannot wait for the input; read it with `to_host().await` and run on `Device::cpu()`".into(),
        }),
    }
}
