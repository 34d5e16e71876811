//! `map`: a user's expression over several operands in one pass.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex};

use crate::cpu;
use crate::device::{Capabilities, lock};
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::gate::oracle::elementwise as oracle;
use crate::gate::{Effort, Expected, Fill, Problem};
use crate::host::HostTensor;
use crate::kernels::elementwise::body::{Body, Operand};
use crate::kernels::elementwise::{input, output, signature};
use crate::operation::{Call, Operation, Signature, Variant};
use crate::params::{ParamSpec, Params};
use crate::plan::{Plan, PlanBuilder};
use crate::spec::{TensorSpec, broadcast_shapes};
use crate::tensor::{Tensor, call};
use crate::user::{Interpreter, Type, UserModule};

/// The most operands: with the result they fill the eight storage buffers that
/// every device has.
const MOST: usize = 7;
const NAMES: [&str; MOST] = ["x", "x1", "x2", "x3", "x4", "x5", "x6"];

/// Applies a WGSL function to every element of one to seven tensors, which
/// broadcast and may have different dtypes, in one pass over memory.
///
/// `expression` is WGSL with a function `map`, whose arguments have the types
/// that the inputs' elements are computed in (f32 for f32, f16 and bf16; i32;
/// u32) and whose result has that of the output's dtype: `to`, or the dtype of
/// the first input. It may declare further functions, constants, structs and
/// aliases by any names. On the CPU it is interpreted.
///
/// The result is as accurate as the device makes what the function is built of.
///
/// ```
/// use portcullis::{Device, Tensor, ops};
/// let device = Device::cpu();
/// let x = Tensor::from_slice(&device, &[1.0f32, 2.0, 3.0], &[3])?;
/// let scale = Tensor::from_slice(&device, &[10.0f32], &[1])?;
/// let text = "fn map(x: f32, scale: f32) -> f32 { return x * scale + 0.5; }";
/// let y = ops::map(text, &[&x, &scale], None)?;
/// assert_eq!(y.to_vec_blocking::<f32>()?, [10.5, 20.5, 30.5]);
/// # Ok::<(), portcullis::Error>(())
/// ```
///
/// # Errors
/// [`Error::Wgsl`](crate::Error::Wgsl) with line and column for text that is not valid, holds what
/// operators may not, or declares no such function; [`Error::Shape`](crate::Error::Shape) when the
/// shapes do not broadcast; and those of [`call`].
pub fn map(expression: &str, inputs: &[&Tensor], to: Option<DType>) -> Result<Tensor> {
    let inputs: Vec<Option<&Tensor>> = inputs.iter().map(|x| Some(*x)).collect();
    let mut params = Params::new().with("expression", expression);
    if let Some(to) = to {
        params.set("to", to.name());
    }
    Ok(call("map", &inputs, &params)?.into_first())
}

/// A text whose function `map` has the right signature.
struct Function {
    interpreter: Interpreter,
    signed_remainders: bool,
}

/// The dtypes of a text's arguments and result.
type Key = (Arc<str>, Vec<DType>, DType);

/// Functions parsed before: a call must not parse its text again every time.
static PARSED: LazyLock<Mutex<HashMap<Key, Arc<Function>>>> = LazyLock::new(Mutex::default);
/// Where there are more, all are forgotten.
const MOST_PARSED: usize = 256;

fn scalar_type(dtype: DType) -> (Type, DType) {
    match dtype {
        DType::F32 | DType::F16 | DType::BF16 => (Type::F32, DType::F32),
        DType::I32 => (Type::I32, DType::I32),
        DType::U32 => (Type::U32, DType::U32),
    }
}

/// The dtype that `to` names, or the first input's.
fn target(call: &Call) -> Result<DType> {
    let name = call.params.text("to");
    if name.is_empty() {
        return Ok(call.input(0).dtype);
    }
    DType::parse(name).ok_or_else(|| {
        let names: Vec<&str> = DType::ALL.iter().map(|d| d.name()).collect();
        let problem = format!("`{name}` is no dtype; there are {}", names.join(", "));
        call.parameter_error("to", problem)
    })
}

/// The function `map` of the call's text, if it has the right signature.
fn function(call: &Call) -> Result<Arc<Function>> {
    let text = call.params.text("expression");
    let inputs = call.inputs.iter().flatten().map(|x| scalar_type(x.dtype));
    let (types, scalars): (Vec<Type>, Vec<DType>) = inputs.unzip();
    let (result, scalar) = scalar_type(target(call)?);
    let key = (Arc::from(text), scalars, scalar);
    if let Some(function) = lock(&PARSED).get(&key) {
        return Ok(function.clone());
    }
    let module = UserModule::parse(text, "")?;
    let handle = module.require("map", &types, &result)?;
    let function = Arc::new(Function {
        interpreter: Interpreter::new(&module, handle)?,
        signed_remainders: module.takes_signed_remainders(),
    });
    let mut parsed = lock(&PARSED);
    if parsed.len() >= MOST_PARSED {
        parsed.clear();
    }
    parsed.insert(key, function.clone());
    Ok(function)
}

pub(super) struct Map {
    signature: Signature,
}

impl Map {
    pub fn new() -> Map {
        let x = input("x", DType::ALL, "any shape; all inputs broadcast");
        let y = output("y", "dtype `to`; the shape that the inputs broadcast to");
        let params = vec![
            ParamSpec::required(
                "expression",
                "fn map(x: f32) -> f32 { return x; }",
                "WGSL with `fn map`, of one element of each input (f32, i32 or u32)",
            ),
            ParamSpec::new(
                "to",
                "",
                "the result's dtype; that of x where none is given",
            ),
        ];
        let doc = "a user's function of one element of each input";
        Map {
            signature: Signature {
                variadic: MOST - 1,
                ..signature("map", doc, DType::ALL, vec![x], vec![y], params)
            },
        }
    }
}

/// The tensors of all inputs; `Call::new` checked that none is missing.
fn present<'a>(inputs: &[Option<&'a HostTensor>]) -> Vec<&'a HostTensor> {
    inputs.iter().copied().flatten().collect()
}

impl Operation for Map {
    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn infer(&self, call: &Call) -> Result<Vec<TensorSpec>> {
        function(call)?;
        let shapes: Vec<&[usize]> = call.inputs.iter().flatten().map(|x| &x.shape[..]).collect();
        let shape = broadcast_shapes(call.name(), &shapes)?;
        Ok(vec![TensorSpec::new(target(call)?, shape)])
    }

    fn plan(&self, call: &Call, variant: Variant, capabilities: &Capabilities) -> Result<Plan> {
        if capabilities.identity.backend == "gl" && function(call)?.signed_remainders {
            return Err(Error::Unavailable {
                operation: call.name().into(),
                reason: "GLSL leaves remainders of negative i32 open; use u32, or a - a / b * b"
                    .into(),
            });
        }
        let mut plan = PlanBuilder::new(call, variant, capabilities);
        let count = call.inputs.len();
        let arguments: Vec<String> = (0..count).map(|k| format!("v{k}")).collect();
        let to = plan.output(0);
        Body {
            operands: (0..count)
                .map(|k| Operand::input(call, k, NAMES[k]))
                .collect(),
            expression: format!("user::map({})", arguments.join(", ")),
            shape: &call.outputs[0].shape,
            dtype: call.outputs[0].dtype,
            bits: false,
            values: [0; 2],
            user: Some(call.params.text("expression").into()),
        }
        .plan(&mut plan, to);
        plan.finish()
    }

    fn cpu(&self, call: &Call, inputs: &[Option<&HostTensor>]) -> Result<Vec<HostTensor>> {
        let function = function(call)?;
        let output = &call.outputs[0];
        Ok(vec![cpu::elementwise::map(
            &function.interpreter,
            &present(inputs),
            output,
        )?])
    }

    fn reference(&self, call: &Call, inputs: &[Option<&HostTensor>]) -> Result<Vec<Expected>> {
        let function = function(call)?;
        let output = &call.outputs[0];
        let wide = TensorSpec::new(scalar_type(output.dtype).1, output.shape.clone());
        let evaluate = |inputs: &[HostTensor]| {
            let inputs: Vec<&HostTensor> = inputs.iter().collect();
            cpu::elementwise::map(&function.interpreter, &inputs, &wide)
        };
        Ok(vec![oracle::map(&present(inputs), output, evaluate)?])
    }

    fn problems(&self, dtype: DType, effort: Effort) -> Vec<Problem> {
        let scalar = crate::kernels::elementwise::body::scalar(dtype, false);
        let numbers = Fill::Uniform {
            low: -50.0,
            high: 50.0,
        };
        let fused = |shapes: [&[usize]; 3]| {
            let text = format!(
                "fn map(x: {scalar}, y: {scalar}, z: {scalar}) -> {scalar} {{ return x * y + z; }}"
            );
            let mut problem = Problem::new(format!("{shapes:?}")).param("expression", text);
            for shape in shapes {
                problem = problem.input(dtype, shape, numbers.clone());
            }
            problem
        };
        match effort {
            Effort::Probe => return vec![fused([&[7], &[7], &[7]])],
            Effort::Quick if dtype == DType::BF16 || dtype == DType::U32 => return vec![],
            Effort::Quick => return vec![fused([&[301], &[301], &[301]])],
            Effort::Standard | Effort::Full => {}
        }
        let one = |name: &str, text: String| {
            Problem::new(name)
                .input(dtype, [301], numbers.clone())
                .param("expression", text)
        };
        vec![
            fused([&[4099], &[4099], &[4099]]),
            fused([&[31, 1], &[44], &[31, 44]]),
            fused([&[], &[3, 17], &[1]]),
            fused([&[0], &[1], &[]]),
            fused([&[77], &[77], &[77]]).shared_buffers(),
            one(
                "names of the kernel's own",
                NAMES_OF_THE_KERNEL.replace("SCALAR", scalar),
            ),
            one("a loop", LOOP.replace("SCALAR", scalar)),
            one(
                "to another dtype",
                format!("fn map(v: {scalar}) -> i32 {{ return i32(v) % 7; }}"),
            )
            .param("to", "i32"),
            Problem::new("seven inputs of different dtypes")
                .input(dtype, [5, 1, 4], numbers.clone())
                .input(DType::F16, [4], numbers.clone())
                .input(DType::BF16, [3, 1], numbers.clone())
                .input(DType::I32, [5, 3, 4], Fill::Bits)
                .input(DType::U32, [1], Fill::Bits)
                .input(DType::F32, [3, 4], numbers.clone())
                .input(DType::F16, [], numbers.clone())
                .param("to", "f32")
                .param(
                    "expression",
                    format!(
                        "fn map(a: {scalar}, b: f32, c: f32, d: i32, e: u32, f: f32, g: f32) -> f32 {{\n\
                         return f32(a) + b * c + f * g + f32(d & 255) + f32(e >> 24u);\n}}"
                    ),
                ),
            Problem::new("views")
                .view(
                    TensorSpec::new(dtype, [31, 20]).strided([1, 31]),
                    numbers.clone(),
                    0,
                )
                .view(
                    TensorSpec::new(dtype, [20]).unaligned(),
                    numbers.clone(),
                    3,
                )
                .param(
                    "expression",
                    format!("fn map(a: {scalar}, b: {scalar}) -> {scalar} {{ return a - b; }}"),
                )
                .unaligned_outputs(),
        ]
    }

    fn bench_problem(&self, dtype: DType, log2_size: u32) -> Option<Problem> {
        let n = 1usize << log2_size;
        let scalar = crate::kernels::elementwise::body::scalar(dtype, false);
        let text = format!(
            "fn map(a: {scalar}, b: {scalar}, c: {scalar}) -> {scalar} {{ return a * b + c; }}"
        );
        let small = Fill::Integers { low: -9, high: 9 };
        let problem = Problem::new(format!("{n}, three inputs")).param("expression", text);
        let problem = problem.input(dtype, [n], small.clone());
        Some(
            problem
                .input(dtype, [n], small.clone())
                .input(dtype, [n], small),
        )
    }
}

/// Declares what kernels, modules and WGSL itself call so, to other ends.
const NAMES_OF_THE_KERNEL: &str = "\
const WORKGROUP: u32 = 3u;
const params = 2;
alias Parameters = SCALAR;
struct Place { at0: SCALAR, last: SCALAR }
fn load(x: SCALAR) -> SCALAR { return x + SCALAR(WORKGROUP); }
fn main(result: SCALAR) -> SCALAR { return load(result) * SCALAR(params); }
fn select(x: SCALAR, y: SCALAR) -> SCALAR { return x - y; }
fn min(x: SCALAR) -> SCALAR { let x1 = x; return x1 + x1; }
fn function(v0: SCALAR) -> SCALAR { return v0; }
fn quad(q: SCALAR) -> Place { var math = Place(q, main(q)); math.last = math.last + q; return math; }
fn locate(user: SCALAR) -> Parameters { let convert = quad(user); return select(convert.at0, convert.last); }
fn map(x: SCALAR) -> SCALAR {
    let body = min(x);
    let grid = function(body);
    return locate(x) + grid;
}
";

const LOOP: &str = "\
fn map(x: SCALAR) -> SCALAR {
    var sums = array<SCALAR, 4>();
    for (var i = 0u; i < 9u; i++) {
        sums[i % 4u] += x * SCALAR(i);
    }
    return sums[0] - sums[1] + sums[2] * sums[3];
}
";
