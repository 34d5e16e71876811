//! Problems to gate operations with.

use std::sync::OnceLock;

use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::gate::{Expected, Fill};
use crate::host::HostTensor;
use crate::operation::{Call, Op};
use crate::params::Params;
use crate::spec::TensorSpec;

/// How many problems to go through.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Effort {
    /// The edges of a variant's tiles, small: before its first use on an adapter.
    Probe,
    /// One or two problems: seconds for the whole registry on a software adapter.
    Quick,
    /// Sizes around every edge, exact-integer fills, special values.
    Standard,
    /// Everything, large sizes included.
    Full,
}

/// One input of a problem.
#[derive(Debug, Clone)]
pub struct ProblemInput {
    /// Dtype and layout. Strided views are read from a buffer of their extent.
    pub spec: TensorSpec,
    /// What it holds.
    pub fill: Fill,
    /// The elements in front of the view in its buffer; only for unaligned views.
    pub offset: usize,
}

/// Inputs and parameters to run an operation on.
#[derive(Debug, Clone)]
pub struct Problem {
    /// What it is, for reports: `257x130 axis=0 strided`.
    pub name: String,
    /// Inputs in the signature's order.
    pub inputs: Vec<Option<ProblemInput>>,
    /// Parameters.
    pub params: Params,
    /// Whether outputs start at odd places in their buffers.
    pub unaligned_outputs: bool,
    /// Whether inputs and outputs lie in one buffer.
    pub shared_buffers: bool,
    /// Whether an output of mostly zeros is what the problem is about.
    pub zeros_expected: bool,
    /// Seed of the fills.
    pub seed: u64,
}

impl Problem {
    /// A problem without inputs or parameters yet.
    pub fn new(name: impl Into<String>) -> Problem {
        Problem {
            name: name.into(),
            inputs: Vec::new(),
            params: Params::new(),
            unaligned_outputs: false,
            shared_buffers: false,
            zeros_expected: false,
            seed: 1,
        }
    }

    /// Adds a dense input.
    pub fn input(self, dtype: DType, shape: impl Into<Vec<usize>>, fill: Fill) -> Problem {
        self.view(TensorSpec::new(dtype, shape), fill, 0)
    }

    /// Adds an input of any layout, `offset` elements into its buffer.
    pub fn view(mut self, spec: TensorSpec, fill: Fill, offset: usize) -> Problem {
        self.inputs.push(Some(ProblemInput { spec, fill, offset }));
        self
    }

    /// Leaves an optional input out.
    pub fn without(mut self) -> Problem {
        self.inputs.push(None);
        self
    }

    /// Sets a parameter.
    pub fn param(mut self, name: &str, value: impl Into<crate::params::Value>) -> Problem {
        self.params.set(name, value);
        self
    }

    /// Makes outputs start at odd places.
    pub fn unaligned_outputs(mut self) -> Problem {
        self.unaligned_outputs = true;
        self
    }

    /// Puts inputs and outputs into one buffer.
    pub fn shared_buffers(mut self) -> Problem {
        self.shared_buffers = true;
        self
    }

    /// Accepts an output of mostly zeros.
    pub fn zeros_expected(mut self) -> Problem {
        self.zeros_expected = true;
        self
    }

    /// The call that this problem makes.
    ///
    /// # Errors
    /// When the operation refuses the inputs: a fault of the problem.
    pub fn call(&self, operation: Op) -> Result<Call> {
        let specs = self
            .inputs
            .iter()
            .map(|i| i.as_ref().map(|i| i.spec.clone()))
            .collect();
        let mut call = Call::new(operation, specs, &self.params)?;
        if self.unaligned_outputs {
            call = call.with_unaligned_outputs();
        }
        if self.shared_buffers {
            call = call.with_shared_buffers();
        }
        Ok(call)
    }

    /// Generates the inputs.
    ///
    /// # Errors
    /// As [`Problem::call`].
    pub fn build(&self, operation: Op, dtype: DType) -> Result<Instance> {
        let call = self.call(operation)?;
        let mut inputs = Vec::with_capacity(self.inputs.len());
        for (i, input) in self.inputs.iter().enumerate() {
            let Some(ProblemInput { spec, fill, offset }) = input else {
                inputs.push(None);
                continue;
            };
            let (low, high) = spec.extent().unwrap_or((0, -1));
            let stored = fill.generate(
                spec.dtype,
                &[(high - low + 1) as usize],
                self.seed * 1000 + i as u64,
            )?;
            inputs.push(Some(InstanceInput {
                logical: HostTensor::gather(
                    spec.dtype,
                    &spec.shape,
                    &spec.strides(),
                    stored.bytes(),
                    (-low) as usize,
                )?,
                stored,
                first: (-low) as usize,
                offset: *offset,
            }));
        }
        inputs.resize_with(call.inputs.len(), || None);
        Ok(Instance {
            name: self.name.clone(),
            dtype,
            call,
            inputs,
            zeros_expected: self.zeros_expected,
            expected: OnceLock::new(),
        })
    }
}

/// An input as its buffer holds it, and as the operation sees it.
#[derive(Debug, Clone)]
pub(crate) struct InstanceInput {
    pub logical: HostTensor,
    pub stored: HostTensor,
    /// The position in `stored` of the view's first element.
    pub first: usize,
    /// Elements in front of `stored` in its buffer.
    pub offset: usize,
}

/// A problem with its inputs generated.
pub struct Instance {
    /// What it is.
    pub name: String,
    /// The main input's dtype.
    pub dtype: DType,
    /// The call.
    pub call: Call,
    pub(crate) inputs: Vec<Option<InstanceInput>>,
    pub(crate) zeros_expected: bool,
    // Computed once, however many variants and adapters are judged by it.
    expected: OnceLock<Result<Vec<Expected>>>,
}

impl Instance {
    /// A problem with given inputs, as from a file.
    ///
    /// # Errors
    /// Whatever the operation has against them.
    pub fn from_tensors(
        name: impl Into<String>,
        operation: Op,
        inputs: &[Option<HostTensor>],
        params: &Params,
    ) -> Result<Instance> {
        let spec = |t: &HostTensor| TensorSpec::new(t.dtype(), t.shape());
        let specs = inputs.iter().map(|t| t.as_ref().map(spec)).collect();
        let call = Call::new(operation, specs, params)?;
        let dtype = call
            .inputs
            .iter()
            .flatten()
            .next()
            .map_or(DType::F32, |s| s.dtype);
        let wrap = |t: &HostTensor| InstanceInput {
            logical: t.clone(),
            stored: t.clone(),
            first: 0,
            offset: 0,
        };
        let mut inputs: Vec<_> = inputs.iter().map(|t| t.as_ref().map(wrap)).collect();
        inputs.resize_with(call.inputs.len(), || None);
        Ok(Instance {
            name: name.into(),
            dtype,
            call,
            inputs,
            zeros_expected: true,
            expected: OnceLock::new(),
        })
    }

    /// The same, with what the outputs must be given from outside.
    pub fn expecting(mut self, expected: Vec<Expected>) -> Instance {
        self.expected = OnceLock::from(Ok(expected));
        self
    }

    /// The inputs, contiguous.
    pub fn inputs(&self) -> Vec<Option<&HostTensor>> {
        self.inputs
            .iter()
            .map(|i| i.as_ref().map(|i| &i.logical))
            .collect()
    }

    /// What the outputs must be: from the operation's oracle, unless given.
    pub fn expected(&self) -> Result<&[Expected], &Error> {
        let compute = || self.call.operation.reference(&self.call, &self.inputs());
        self.expected.get_or_init(compute).as_deref()
    }
}
