//! What every operation of the registry states about itself.

use crate::device::Capabilities;
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::gate::{Effort, Expected, Problem};
use crate::host::HostTensor;
use crate::params::{ParamSpec, Params};
use crate::plan::Plan;
use crate::spec::TensorSpec;

/// One implementation of an operation, fastest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Variant {
    /// Cooperative matrices.
    Matrix,
    /// Subgroup operations or other optional features; may be compiled without
    /// run-time checks where its plan proves every index in range.
    Subgroup,
    /// Workgroup memory and barriers within WebGPU's default limits, all checks on.
    Portable,
    /// The CPU twin.
    Cpu,
}

impl Variant {
    /// Every variant, fastest first.
    pub const ALL: &'static [Variant] = &[
        Variant::Matrix,
        Variant::Subgroup,
        Variant::Portable,
        Variant::Cpu,
    ];

    /// The name used on the command line and in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Variant::Matrix => "matrix",
            Variant::Subgroup => "subgroup",
            Variant::Portable => "portable",
            Variant::Cpu => "cpu",
        }
    }

    /// The variant of this name, if there is one.
    pub fn parse(name: &str) -> Option<Variant> {
        Variant::ALL.iter().copied().find(|v| v.name() == name)
    }
}

impl std::fmt::Display for Variant {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// One input of an operation.
#[derive(Debug, Clone)]
pub struct InputSpec {
    /// The name, the same everywhere.
    pub name: &'static str,
    /// The dtypes taken.
    pub dtypes: &'static [DType],
    /// Whether it may be left out.
    pub optional: bool,
    /// Shape and meaning.
    pub doc: &'static str,
}

/// One output of an operation.
#[derive(Debug, Clone)]
pub struct OutputSpec {
    /// The name, the same everywhere.
    pub name: &'static str,
    /// Shape, dtype and meaning.
    pub doc: &'static str,
}

/// Names, kinds and defaults of all that goes into an operation and comes out.
#[derive(Debug, Clone)]
pub struct Signature {
    /// The operation's name, the same everywhere.
    pub name: &'static str,
    /// The family: the file of that name holds its kernel, plan, twin and oracle.
    pub family: &'static str,
    /// What is computed, in one line.
    pub doc: &'static str,
    /// Inputs in order.
    pub inputs: Vec<InputSpec>,
    /// How many further inputs (named like the last, with a number) are taken at most.
    pub variadic: usize,
    /// Outputs in order.
    pub outputs: Vec<OutputSpec>,
    /// Parameters in order.
    pub params: Vec<ParamSpec>,
    /// The dtypes that gates and benches go through: of the main input.
    pub dtypes: &'static [DType],
    /// The variants that exist, fastest first, the CPU twin included.
    pub variants: &'static [Variant],
    /// The operation whose gradient this is.
    pub gradient_of: Option<&'static str>,
}

impl Signature {
    /// The name of input `index`, counting variadic ones: `x`, `x1`, `x2`, …
    pub fn input_name(&self, index: usize) -> String {
        match self.inputs.get(index) {
            Some(input) => input.name.into(),
            None => format!(
                "{}{}",
                self.inputs.last().map_or("x", |i| i.name),
                index + 1 - self.inputs.len()
            ),
        }
    }

    /// The position of the input called `name`.
    pub fn input_index(&self, name: &str) -> Option<usize> {
        (0..self.inputs.len() + self.variadic).find(|&i| self.input_name(i) == name)
    }

    /// The operation's signature as JSON, as `portcullis ops --json` prints it.
    #[cfg(feature = "files")]
    pub fn to_json(&self) -> serde_json::Value {
        use serde_json::json;
        let names = |dtypes: &[DType]| dtypes.iter().map(|d| d.name()).collect::<Vec<_>>();
        json!({
            "name": self.name,
            "family": self.family,
            "doc": self.doc,
            "inputs": self.inputs.iter().map(|i| json!({
                "name": i.name, "dtypes": names(i.dtypes), "optional": i.optional, "doc": i.doc,
            })).collect::<Vec<_>>(),
            "further_inputs": self.variadic,
            "outputs": self.outputs.iter().map(|o| json!({"name": o.name, "doc": o.doc})).collect::<Vec<_>>(),
            "params": self.params.iter().map(|p| json!({
                "name": p.name, "kind": p.default.kind(), "required": p.required, "doc": p.doc,
                "default": if p.required { serde_json::Value::Null } else { match &p.default {
                    crate::params::Value::Bool(v) => json!(v),
                    crate::params::Value::Int(v) => json!(v),
                    crate::params::Value::Float(v) => json!(v),
                    crate::params::Value::Text(v) => json!(&**v),
                    crate::params::Value::Ints(v) => json!(v),
                }},
            })).collect::<Vec<_>>(),
            "dtypes": names(self.dtypes),
            "variants": self.variants.iter().map(|v| v.name()).collect::<Vec<_>>(),
            "gradient_of": self.gradient_of,
        })
    }
}

/// One problem: an operation on inputs and outputs of given layout, with all
/// parameters. Plain data, and the key of the plan cache.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Call {
    /// The operation.
    pub operation: Op,
    /// Inputs in the signature's order; `None` where an optional one is left out.
    pub inputs: Vec<Option<TensorSpec>>,
    /// Outputs, as the operation infers them, contiguous.
    pub outputs: Vec<TensorSpec>,
    /// All parameters, defaults filled in.
    pub params: Params,
    /// Whether inputs may lie in the same buffers as outputs (in ranges that do
    /// not overlap). Kernels are then compiled with writable inputs.
    pub shared_buffers: bool,
}

impl std::fmt::Debug for Call {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{self}")
    }
}

impl std::fmt::Display for Call {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}(", self.operation.signature().name)?;
        for (i, input) in self.inputs.iter().enumerate() {
            let Some(input) = input else { continue };
            let name = self.operation.signature().input_name(i);
            write!(
                f,
                "{}{name}: {}{:?}",
                if i > 0 { ", " } else { "" },
                input.dtype,
                input.shape
            )?;
        }
        f.write_str(")")?;
        if self.params.iter().next().is_some() {
            write!(f, " {}", self.params)?;
        }
        Ok(())
    }
}

impl Call {
    /// Checks inputs and parameters against the operation's signature and
    /// infers the outputs.
    ///
    /// # Errors
    /// Everything that does not fit: number of inputs, dtypes, shapes, axes, parameters, 32-bit limits.
    pub fn new(operation: Op, inputs: Vec<Option<TensorSpec>>, params: &Params) -> Result<Call> {
        let signature = operation.signature();
        let name = signature.name;
        let most = signature.inputs.len() + signature.variadic;
        if inputs.len() > most {
            return Err(Error::Inputs {
                operation: name.into(),
                problem: format!(
                    "{} inputs were given, it takes {most} at most",
                    inputs.len()
                ),
            });
        }
        let mut inputs = inputs;
        inputs.resize(inputs.len().max(signature.inputs.len()), None);
        for (i, input) in inputs.iter().enumerate() {
            let spec = &signature.inputs[i.min(signature.inputs.len() - 1)];
            match input {
                None if !spec.optional || i >= signature.inputs.len() => {
                    return Err(Error::Inputs {
                        operation: name.into(),
                        problem: format!(
                            "input `{}` is missing: {}",
                            signature.input_name(i),
                            spec.doc
                        ),
                    });
                }
                None => {}
                Some(input) if !spec.dtypes.contains(&input.dtype) => {
                    let accepted: Vec<&str> = spec.dtypes.iter().map(|d| d.name()).collect();
                    return Err(Error::DType {
                        operation: name.into(),
                        input: signature.input_name(i),
                        found: input.dtype,
                        accepted: accepted.join(", "),
                    });
                }
                Some(input) => input.check(name)?,
            }
        }
        let params = params.complete(name, &signature.params)?;
        let mut call = Call {
            operation,
            inputs,
            outputs: Vec::new(),
            params,
            shared_buffers: false,
        };
        call.outputs = operation.infer(&call)?;
        for output in &call.outputs {
            output.check(name)?;
        }
        Ok(call)
    }

    /// The same call, with inputs that may share buffers with outputs.
    pub fn with_shared_buffers(mut self) -> Call {
        self.shared_buffers = true;
        self
    }

    /// The same call with outputs that may start anywhere in their buffers.
    pub fn with_unaligned_outputs(mut self) -> Call {
        self.outputs = self
            .outputs
            .into_iter()
            .map(TensorSpec::unaligned)
            .collect();
        self
    }

    /// The name of the operation.
    pub fn name(&self) -> &'static str {
        self.operation.signature().name
    }

    /// Required input `index`.
    pub fn input(&self, index: usize) -> &TensorSpec {
        self.inputs[index]
            .as_ref()
            .expect("`Call::new` checked that required inputs are there")
    }

    /// An error about the shapes of this call.
    pub fn shape_error(&self, problem: impl Into<String>) -> Error {
        Error::Shape {
            operation: self.name().into(),
            problem: problem.into(),
        }
    }

    /// An error about a parameter of this call.
    pub fn parameter_error(&self, parameter: &str, problem: impl Into<String>) -> Error {
        Error::Parameter {
            operation: self.name().into(),
            parameter: parameter.into(),
            problem: problem.into(),
        }
    }
}

/// Work that a problem must do at least.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Cost {
    /// Bytes: each input read once, each output written once.
    pub bytes: u64,
    /// Floating-point (or integer) operations.
    pub flops: u64,
}

/// An operation of the registry. Everything that tests, gates, probes, benches,
/// help and pages need to know of it.
pub trait Operation: Send + Sync {
    /// Names, kinds and defaults.
    fn signature(&self) -> &Signature;

    /// The outputs' dtypes and shapes, for a call whose dtypes and parameters
    /// were checked (its `outputs` are still empty).
    ///
    /// # Errors
    /// Shapes, axes or parameter values that do not fit.
    fn infer(&self, call: &Call) -> Result<Vec<TensorSpec>>;

    /// The dispatches that compute `call` by `variant` on a device of these
    /// capabilities. Pure: the same arguments give the same plan.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when the variant cannot run there, [`Error::Limit`] beyond a limit.
    fn plan(&self, call: &Call, variant: Variant, capabilities: &Capabilities) -> Result<Plan>;

    /// The production CPU twin, on contiguous inputs.
    ///
    /// # Errors
    /// A user operator that does not end, or text that cannot run on the CPU.
    fn cpu(&self, call: &Call, inputs: &[Option<&HostTensor>]) -> Result<Vec<HostTensor>>;

    /// What the outputs must be, by another algorithm than the kernel's, in f64
    /// or exact integers, with the published bound of each element's error.
    ///
    /// # Errors
    /// As [`Operation::cpu`].
    fn reference(&self, call: &Call, inputs: &[Option<&HostTensor>]) -> Result<Vec<Expected>>;

    /// Problems to gate with, the smaller the effort the fewer. `dtype` is that of the main input.
    fn problems(&self, dtype: DType, effort: Effort) -> Vec<Problem>;

    /// The problem that `bench` times, of about 2^`log2_size` elements.
    fn bench_problem(&self, dtype: DType, log2_size: u32) -> Option<Problem>;

    /// Bytes and operations of a problem. Movement of inputs and outputs, and
    /// one operation per output element, unless said otherwise.
    fn cost(&self, call: &Call) -> Cost {
        let bytes = |spec: &TensorSpec| spec.len() as u64 * spec.dtype.size() as u64;
        let inputs: u64 = call.inputs.iter().flatten().map(bytes).sum();
        let outputs: u64 = call.outputs.iter().map(bytes).sum();
        Cost {
            bytes: inputs + outputs,
            flops: call.outputs.iter().map(|o| o.len() as u64).sum(),
        }
    }

    /// Parameters as a baseline states them, in this operation's own terms.
    /// Baselines may state facts about the capture that are not parameters
    /// (`wrapping`, `batched`); an operation names those here and drops them.
    fn baseline_facts(&self) -> &'static [&'static str] {
        &[]
    }
}

/// A registered operation, compared by name.
#[derive(Clone, Copy)]
pub struct Op(pub &'static dyn Operation);

impl std::ops::Deref for Op {
    type Target = dyn Operation;
    fn deref(&self) -> &Self::Target {
        self.0
    }
}

impl PartialEq for Op {
    fn eq(&self, other: &Op) -> bool {
        self.signature().name == other.signature().name
    }
}

impl Eq for Op {}

impl std::hash::Hash for Op {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.signature().name.hash(state);
    }
}

impl std::fmt::Debug for Op {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.signature().name)
    }
}
