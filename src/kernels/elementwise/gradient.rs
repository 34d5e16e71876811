//! Gradients: the derivative of a row times the cotangent, summed over the
//! axes along which an operand was broadcast.

use crate::cpu;
use crate::device::Capabilities;
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::gate::oracle::elementwise as oracle;
use crate::gate::{Effort, Expected, Fill, Problem};
use crate::host::HostTensor;
use crate::kernels::elementwise::body::{Body, Operand};
use crate::kernels::elementwise::sum::plan_sum;
use crate::kernels::elementwise::unary::{param_specs, param_values};
use crate::kernels::elementwise::{
    INTEGERS, input, output, parameter_bits, parameter_text, problems, signature,
};
use crate::kernels::math_table::{BinaryDerivative, BinaryMath, UnaryMath, Uses};
use crate::kernels::softmax::required;
use crate::operation::{Call, InputSpec, Operation, Signature, Variant};
use crate::plan::{Plan, PlanBuilder, Slot, dense_bytes};
use crate::spec::{TensorSpec, broadcast_shapes};

/// `NAME_backward`, for the life of the program, as every name.
fn backward_name(name: &str) -> &'static str {
    Box::leak(format!("{name}_backward").into_boxed_str())
}

fn gradient(
    name: &'static str,
    doc: &'static str,
    inputs: Vec<InputSpec>,
    outputs: &[&'static str],
) -> Signature {
    let doc_of = "the gradient: shape and dtype of the input of this name";
    let outputs = outputs.iter().map(|name| output(name, doc_of)).collect();
    Signature {
        gradient_of: Some(name),
        ..signature(
            backward_name(name),
            doc,
            DType::FLOATS,
            inputs,
            outputs,
            vec![],
        )
    }
}

fn float(name: &'static str, optional: bool, doc: &'static str) -> InputSpec {
    InputSpec {
        optional,
        ..input(name, DType::FLOATS, doc)
    }
}

/// The shape that input `index` has, or would have if it were not left out.
fn shape_of(call: &Call, index: usize, cotangent: usize) -> Vec<usize> {
    let spec = call.inputs[index].as_ref();
    spec.unwrap_or(call.input(cotangent)).shape.clone()
}

/// Refuses an input whose dtype or, unless it may be broadcast, shape is not the cotangent's.
fn check_like(call: &Call, index: usize, cotangent: usize, broadcasts: bool) -> Result<()> {
    let Some(spec) = &call.inputs[index] else {
        return Ok(());
    };
    let like = call.input(cotangent);
    let name = call.operation.signature().input_name(index);
    if spec.dtype != like.dtype {
        return Err(Error::DType {
            operation: call.name().into(),
            input: name,
            found: spec.dtype,
            accepted: format!("{}, the dtype of the cotangent", like.dtype),
        });
    }
    let fits = match broadcasts {
        true => broadcast_shapes(call.name(), &[&spec.shape, &like.shape])? == like.shape,
        false => spec.shape == like.shape,
    };
    if fits {
        return Ok(());
    }
    let relation = if broadcasts { "broadcast to" } else { "be" };
    Err(call.shape_error(format!(
        "`{name}` is {:?}; it must {relation} the shape of the cotangent, {:?}",
        spec.shape, like.shape
    )))
}

/// The gradient of a function of one number.
pub(super) struct UnaryBackward {
    signature: Signature,
    math: &'static UnaryMath,
    index: usize,
}

impl UnaryBackward {
    pub fn new(math: &'static UnaryMath, index: usize) -> UnaryBackward {
        let Uses { input, output } = math.derivative.uses;
        let inputs = vec![
            float("x", !input, "the input of the forward pass"),
            float("y", !output, "its output"),
            float("cotangent", false, "of y: its shape and dtype"),
        ];
        let doc = "the gradient of x: the cotangent times the derivative";
        UnaryBackward {
            signature: Signature {
                params: param_specs(math),
                ..gradient(math.name, doc, inputs, &["x"])
            },
            math,
            index,
        }
    }

    fn values(&self, call: &Call) -> [f64; 2] {
        param_values(&self.signature.params, &call.params)
    }
}

impl Operation for UnaryBackward {
    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn infer(&self, call: &Call) -> Result<Vec<TensorSpec>> {
        check_like(call, 0, 2, false)?;
        check_like(call, 1, 2, false)?;
        let cotangent = call.input(2);
        Ok(vec![TensorSpec::new(
            cotangent.dtype,
            cotangent.shape.clone(),
        )])
    }

    fn plan(&self, call: &Call, variant: Variant, capabilities: &Capabilities) -> Result<Plan> {
        let mut plan = PlanBuilder::new(call, variant, capabilities);
        let Uses { input, output } = self.math.derivative.uses;
        let mut operands = vec![Operand::input(call, 2, "cotangent")];
        let mut argument = |used: bool, index, name| {
            if used {
                operands.push(Operand::input(call, index, name));
                format!("v{}", operands.len() - 1)
            } else {
                "0.0".into()
            }
        };
        let (x, y) = (argument(input, 0, "x"), argument(output, 1, "y"));
        let parameters: String = (0..self.math.params.len())
            .map(|i| format!(", {}", parameter_text(DType::F32, i)))
            .collect();
        let name = self.math.name;
        let to = plan.output(0);
        Body {
            operands,
            expression: format!("v0 * math::f_{name}_derivative({x}, {y}{parameters})"),
            shape: &call.outputs[0].shape,
            dtype: call.outputs[0].dtype,
            bits: false,
            values: self.values(call).map(|v| parameter_bits(DType::F32, v)),
            user: None,
        }
        .plan(&mut plan, to);
        plan.finish()
    }

    fn cpu(&self, call: &Call, inputs: &[Option<&HostTensor>]) -> Result<Vec<HostTensor>> {
        let cotangent = required(call, inputs, 2)?;
        Ok(vec![cpu::elementwise::unary_backward(
            self.math,
            inputs[0].unwrap_or(cotangent),
            inputs[1].unwrap_or(cotangent),
            cotangent,
            self.values(call),
        )])
    }

    fn reference(&self, call: &Call, inputs: &[Option<&HostTensor>]) -> Result<Vec<Expected>> {
        let cotangent = required(call, inputs, 2)?;
        Ok(vec![oracle::unary_backward(
            self.math,
            inputs[0].unwrap_or(cotangent),
            inputs[1].unwrap_or(cotangent),
            cotangent,
            self.values(call),
        )])
    }

    fn problems(&self, dtype: DType, effort: Effort) -> Vec<Problem> {
        let uses = self.math.derivative.uses;
        let flat = matches!(
            self.math.name,
            "sign" | "floor" | "ceil" | "round" | "trunc"
        );
        // Any numbers will do as y: the gradient is a formula of it.
        let y = Fill::Uniform {
            low: 0.1,
            high: 2.0,
        };
        let problem = |name: &str, specs: [TensorSpec; 3], x: Fill, all: bool| {
            let [x_spec, y_spec, cotangent] = specs;
            let offset = |s: &TensorSpec| match s.alignment {
                crate::spec::Alignment::Element => 3,
                crate::spec::Alignment::Binding => 0,
            };
            let mut problem = Problem::new(name);
            for (used, spec, fill) in [(uses.input, x_spec, x), (uses.output, y_spec, y.clone())] {
                let at = offset(&spec);
                problem = match used || all {
                    true => problem.view(spec, fill, at),
                    false => problem.without(),
                };
            }
            let at = offset(&cotangent);
            problem = problem.view(cotangent, Fill::NORMAL, at);
            if flat {
                problem.zeros_expected()
            } else {
                problem
            }
        };
        let dense = |n: usize| [0; 3].map(|_| TensorSpec::new(dtype, [n]));
        let domain = problems::domain(self.math.domain);
        match effort {
            Effort::Probe => return vec![problem("7", dense(7), domain, false)],
            Effort::Quick if problems::quick(DType::F32, self.index, dtype) => {
                return vec![problem("301", dense(301), domain, false)];
            }
            Effort::Quick => return Vec::new(),
            Effort::Standard | Effort::Full => {}
        }
        let special = problems::specials(dtype);
        let patterns = problems::bit_patterns(dtype);
        let transposed = TensorSpec::new(dtype, [31, 20]).strided([1, 31]);
        let flat_view = TensorSpec::new(dtype, [31, 20]);
        vec![
            problem("4099", dense(4099), domain.clone(), true),
            problem(
                "special values",
                dense(special.len()),
                Fill::CycleBits(special),
                false,
            )
            .zeros_expected(),
            problem(
                "bit patterns",
                dense(patterns.len()),
                Fill::CycleBits(patterns),
                false,
            )
            .zeros_expected(),
            problem(
                "transposed x",
                [transposed, flat_view.clone(), flat_view.clone()],
                domain.clone(),
                true,
            ),
            problem(
                "unaligned",
                [flat_view.clone(), flat_view.clone(), flat_view.unaligned()],
                domain.clone(),
                false,
            )
            .unaligned_outputs(),
            problem("empty", dense(0), domain, true),
        ]
    }

    fn bench_problem(&self, dtype: DType, log2_size: u32) -> Option<Problem> {
        let n = 1usize << log2_size;
        let fill = Fill::Uniform {
            low: 0.1,
            high: 1.0,
        };
        let problem = Problem::new(n.to_string()).input(dtype, [n], fill.clone());
        Some(
            problem
                .input(dtype, [n], fill.clone())
                .input(dtype, [n], fill),
        )
    }
}

/// One gradient: a function of operands, summed to the shape of the input.
fn plan_part(
    plan: &mut PlanBuilder,
    call: &Call,
    output: usize,
    operands: Vec<Operand>,
    expression: String,
    shape: &[usize],
) {
    let spec = &call.outputs[output];
    let to = plan.output(output);
    let body = |dtype| Body {
        operands,
        expression,
        shape,
        dtype,
        bits: false,
        values: [0; 2],
        user: None,
    };
    let n: usize = shape.iter().product();
    if spec.len() == n {
        body(spec.dtype).plan(plan, to);
        return;
    }
    let products: Slot = plan.scratch("terms in f32", dense_bytes(DType::F32, n));
    body(DType::F32).plan(plan, products);
    plan_sum(plan, products, shape, &spec.shape, spec.dtype, to);
}

/// The gradients of a function of two numbers.
pub(super) struct BinaryBackward {
    signature: Signature,
    math: &'static BinaryMath,
    derivative: &'static BinaryDerivative,
    index: usize,
}

impl BinaryBackward {
    /// `None` for a comparison.
    pub fn new(math: &'static BinaryMath, index: usize) -> Option<BinaryBackward> {
        let derivative = math.derivative.as_ref()?;
        let parts = [derivative.a.uses, derivative.b.uses];
        let operands = parts.iter().any(|uses| uses.input);
        let result = parts.iter().any(|uses| uses.output);
        let shape =
            "the operand; where it may be left out, it is taken to have the cotangent's shape";
        let inputs = vec![
            float("a", !operands, shape),
            float("b", !operands, shape),
            float("y", !result, "the output of the forward pass"),
            float("cotangent", false, "of y: its shape and dtype"),
        ];
        let doc = "the gradients of a and b, summed over the axes along which they were broadcast";
        Some(BinaryBackward {
            signature: gradient(math.name, doc, inputs, &["a", "b"]),
            math,
            derivative,
            index,
        })
    }
}

/// The shapes of two gradients; the inputs checked.
fn infer_pair(call: &Call, [a, b]: [usize; 2], cotangent: usize) -> Result<Vec<TensorSpec>> {
    check_like(call, a, cotangent, true)?;
    check_like(call, b, cotangent, true)?;
    let shapes = [shape_of(call, a, cotangent), shape_of(call, b, cotangent)];
    let dtype = call.input(cotangent).dtype;
    Ok(shapes.map(|shape| TensorSpec::new(dtype, shape)).into())
}

impl Operation for BinaryBackward {
    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn infer(&self, call: &Call) -> Result<Vec<TensorSpec>> {
        check_like(call, 2, 3, false)?;
        infer_pair(call, [0, 1], 3)
    }

    fn plan(&self, call: &Call, variant: Variant, capabilities: &Capabilities) -> Result<Plan> {
        let mut plan = PlanBuilder::new(call, variant, capabilities);
        let parts = [("a", &self.derivative.a), ("b", &self.derivative.b)];
        for (index, (side, part)) in parts.into_iter().enumerate() {
            let mut operands = vec![Operand::input(call, 3, "cotangent")];
            let mut argument = |used: bool, index, name| {
                if used {
                    operands.push(Operand::input(call, index, name));
                    format!("v{}", operands.len() - 1)
                } else {
                    "0.0".into()
                }
            };
            let Uses { input, output } = part.uses;
            let a = argument(input, 0, "a");
            let b = argument(input, 1, "b");
            let y = argument(output, 2, "y");
            let name = self.math.name;
            let expression = format!("v0 * math::f_{name}_derivative_{side}({a}, {b}, {y})");
            let shape = &call.input(3).shape;
            plan_part(&mut plan, call, index, operands, expression, shape);
        }
        plan.finish()
    }

    fn cpu(&self, call: &Call, inputs: &[Option<&HostTensor>]) -> Result<Vec<HostTensor>> {
        let cotangent = required(call, inputs, 3)?;
        let [a, b, y] = [0, 1, 2].map(|i| inputs[i].unwrap_or(cotangent));
        let parts = [&self.derivative.a, &self.derivative.b];
        let mut gradients = Vec::with_capacity(2);
        for (part, output) in parts.into_iter().zip(&call.outputs) {
            let products = cpu::elementwise::Products::new(part.cpu, [a, b, y], cotangent);
            gradients.push(cpu::elementwise::summed(
                cotangent.shape(),
                output,
                |start, chunk| products.fill(start, chunk),
            )?);
        }
        Ok(gradients)
    }

    fn reference(&self, call: &Call, inputs: &[Option<&HostTensor>]) -> Result<Vec<Expected>> {
        let cotangent = required(call, inputs, 3)?;
        let [a, b, y] = [0, 1, 2].map(|i| inputs[i].unwrap_or(cotangent));
        let parts = [&self.derivative.a, &self.derivative.b];
        let gradient = |(part, output)| oracle::binary_backward(part, [a, b, y], cotangent, output);
        Ok(parts.into_iter().zip(&call.outputs).map(gradient).collect())
    }

    fn problems(&self, dtype: DType, effort: Effort) -> Vec<Problem> {
        let mut fills = self.math.domain.map(problems::domain);
        let mut y = Fill::Uniform {
            low: 0.1,
            high: 2.0,
        };
        if self.math.name == "rem" {
            // The quotient must not lie halfway between whole numbers: odd divisors.
            fills = [
                Fill::Integers { low: -50, high: 50 },
                Fill::Cycle(vec![3.0, -5.0, 7.0, 9.0, -11.0]),
            ];
            y = Fill::Integers { low: -2, high: 2 };
        }
        if self.math.name == "pow" {
            // Within the range of f16.
            let uniform = |low, high| Fill::Uniform { low, high };
            fills = [uniform(0.3, 4.0), uniform(-3.0, 3.0)];
        }
        let [a_fill, b_fill] = fills;
        let parts = [self.derivative.a.uses, self.derivative.b.uses];
        let result = parts.iter().any(|uses| uses.output);
        let pair = |a: &[usize], b: &[usize], all: bool| {
            let shape = broadcast_shapes("problem", &[a, b]).unwrap_or_default();
            let problem = Problem::new(format!("{a:?} {b:?}"))
                .input(dtype, a, a_fill.clone())
                .input(dtype, b, b_fill.clone());
            let problem = match result || all {
                true => problem.input(dtype, shape.clone(), y.clone()),
                false => problem.without(),
            };
            problem.input(dtype, shape, Fill::NORMAL)
        };
        pair_problems(self.index, dtype, effort, pair)
    }

    fn bench_problem(&self, dtype: DType, log2_size: u32) -> Option<Problem> {
        let n = 1usize << log2_size;
        let mut problem = Problem::new(n.to_string());
        for _ in 0..4 {
            problem = problem.input(
                dtype,
                [n],
                Fill::Uniform {
                    low: 0.5,
                    high: 2.0,
                },
            );
        }
        Some(problem)
    }
}

/// Problems of gradients of two operands, from a function of their shapes and
/// whether to give what may be left out.
fn pair_problems(
    index: usize,
    dtype: DType,
    effort: Effort,
    pair: impl Fn(&[usize], &[usize], bool) -> Problem,
) -> Vec<Problem> {
    match effort {
        Effort::Probe => return vec![pair(&[7], &[7], false)],
        Effort::Quick if !problems::quick(DType::F32, index, dtype) => return Vec::new(),
        Effort::Quick => {
            return vec![match index % 3 {
                0 => pair(&[7, 43], &[43], false),
                1 => pair(&[301], &[301], false),
                _ => pair(&[8, 140], &[8, 1], false),
            }];
        }
        Effort::Standard | Effort::Full => {}
    }
    vec![
        pair(&[4099], &[4099], true),
        pair(&[301], &[], true),
        pair(&[], &[5000], false),
        pair(&[300, 12], &[12], false),
        pair(&[300, 11], &[11], true),
        pair(&[11, 300], &[11, 1], false),
        pair(&[13, 1], &[1, 24], false),
        pair(&[3, 1, 5, 1, 4], &[1, 2, 1, 6, 1], false),
        pair(&[5, 7, 3], &[7, 1], false),
        pair(&[0, 4], &[4], false),
        pair(&[4, 1], &[4, 0], false),
        pair(&[7, 13], &[13], false).shared_buffers(),
        pair(&[7, 13], &[1, 13], false).unaligned_outputs(),
    ]
}

/// The gradients of `where`.
pub(super) struct WhereBackward {
    signature: Signature,
}

impl WhereBackward {
    pub fn new() -> WhereBackward {
        let shape = "only its shape matters; left out, it has the cotangent's";
        let inputs = vec![
            input("condition", INTEGERS, "as in the forward pass"),
            float("a", true, shape),
            float("b", true, shape),
            float("y", true, "not read"),
            float("cotangent", false, "of y: its shape and dtype"),
        ];
        let doc = "the gradients of a and b, summed over the axes along which they were broadcast";
        WhereBackward {
            signature: gradient("where", doc, inputs, &["a", "b"]),
        }
    }
}

impl Operation for WhereBackward {
    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn infer(&self, call: &Call) -> Result<Vec<TensorSpec>> {
        let (condition, cotangent) = (call.input(0), call.input(4));
        let shape = broadcast_shapes(call.name(), &[&condition.shape, &cotangent.shape])?;
        if shape != cotangent.shape {
            return Err(call.shape_error(format!(
                "`condition` is {:?}; it must broadcast to the shape of the cotangent, {:?}",
                condition.shape, cotangent.shape
            )));
        }
        check_like(call, 3, 4, false)?;
        infer_pair(call, [1, 2], 4)
    }

    fn plan(&self, call: &Call, variant: Variant, capabilities: &Capabilities) -> Result<Plan> {
        let mut plan = PlanBuilder::new(call, variant, capabilities);
        for (index, expression) in ["select(0.0, v1, v0 != 0)", "select(v1, 0.0, v0 != 0)"]
            .into_iter()
            .enumerate()
        {
            let operands = vec![
                Operand::input(call, 0, "condition"),
                Operand::input(call, 4, "cotangent"),
            ];
            let shape = &call.input(4).shape;
            plan_part(&mut plan, call, index, operands, expression.into(), shape);
        }
        plan.finish()
    }

    fn cpu(&self, call: &Call, inputs: &[Option<&HostTensor>]) -> Result<Vec<HostTensor>> {
        let (condition, cotangent) = (required(call, inputs, 0)?, required(call, inputs, 4)?);
        let gradient = |(index, output)| {
            cpu::elementwise::summed(cotangent.shape(), output, |start, chunk| {
                cpu::elementwise::masked(condition, cotangent, index == 0, start, chunk);
            })
        };
        call.outputs.iter().enumerate().map(gradient).collect()
    }

    fn reference(&self, call: &Call, inputs: &[Option<&HostTensor>]) -> Result<Vec<Expected>> {
        let (condition, cotangent) = (required(call, inputs, 0)?, required(call, inputs, 4)?);
        let gradient =
            |(index, output)| oracle::where_backward(condition, cotangent, index == 0, output);
        Ok(call.outputs.iter().enumerate().map(gradient).collect())
    }

    fn problems(&self, dtype: DType, effort: Effort) -> Vec<Problem> {
        let pair = |a: &[usize], b: &[usize], all: bool| {
            let shape = broadcast_shapes("problem", &[a, b]).unwrap_or_default();
            let problem = Problem::new(format!("{a:?} {b:?}"))
                .input(DType::U32, shape.clone(), Fill::Mask(0.5))
                .input(dtype, a, Fill::Constant(f64::NAN))
                .input(dtype, b, Fill::Constant(f64::NAN));
            let problem = match all {
                true => problem.input(dtype, shape.clone(), Fill::Bits),
                false => problem.without(),
            };
            problem.input(dtype, shape, Fill::NORMAL)
        };
        pair_problems(0, dtype, effort, pair)
    }

    fn bench_problem(&self, dtype: DType, log2_size: u32) -> Option<Problem> {
        let n = 1usize << log2_size;
        let problem = Problem::new(n.to_string()).input(DType::U32, [n], Fill::Mask(0.5));
        let problem = problem.without().without().without();
        Some(problem.input(dtype, [n], Fill::NORMAL))
    }
}

/// The gradient of `cast`.
pub(super) struct CastBackward {
    signature: Signature,
}

impl CastBackward {
    pub fn new() -> CastBackward {
        let inputs = vec![
            float("x", false, "only its shape and dtype matter"),
            float("y", true, "not read"),
            float("cotangent", false, "of y: its shape and dtype"),
        ];
        let doc = "the gradient of x: the cotangent in the dtype of x";
        CastBackward {
            signature: gradient("cast", doc, inputs, &["x"]),
        }
    }
}

impl Operation for CastBackward {
    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn infer(&self, call: &Call) -> Result<Vec<TensorSpec>> {
        let (x, cotangent) = (call.input(0), call.input(2));
        if x.shape != cotangent.shape {
            return Err(call.shape_error(format!(
                "x is {:?} and the cotangent {:?}; they must be alike",
                x.shape, cotangent.shape
            )));
        }
        check_like(call, 1, 2, false)?;
        Ok(vec![TensorSpec::new(x.dtype, x.shape.clone())])
    }

    fn plan(&self, call: &Call, variant: Variant, capabilities: &Capabilities) -> Result<Plan> {
        let mut plan = PlanBuilder::new(call, variant, capabilities);
        let dtype = call.outputs[0].dtype;
        let bits = call.input(2).dtype == dtype;
        let to = plan.output(0);
        Body {
            operands: vec![Operand {
                bits,
                ..Operand::input(call, 2, "cotangent")
            }],
            expression: "v0".into(),
            shape: &call.outputs[0].shape,
            dtype,
            bits,
            values: [0; 2],
            user: None,
        }
        .plan(&mut plan, to);
        plan.finish()
    }

    fn cpu(&self, call: &Call, inputs: &[Option<&HostTensor>]) -> Result<Vec<HostTensor>> {
        let cotangent = required(call, inputs, 2)?;
        Ok(vec![cpu::elementwise::cast(
            cotangent,
            call.outputs[0].dtype,
        )?])
    }

    fn reference(&self, call: &Call, inputs: &[Option<&HostTensor>]) -> Result<Vec<Expected>> {
        let cotangent = required(call, inputs, 2)?;
        Ok(vec![oracle::cast(cotangent, call.outputs[0].dtype)?])
    }

    fn problems(&self, dtype: DType, effort: Effort) -> Vec<Problem> {
        let others: Vec<DType> = match effort {
            Effort::Quick => DType::FLOATS
                .iter()
                .copied()
                .filter(|d| *d != dtype)
                .take(1)
                .collect(),
            _ => DType::FLOATS.to_vec(),
        };
        let problem = |other: DType| {
            Problem::new(format!("301 from {other}"))
                .input(dtype, [301], Fill::NORMAL)
                .without()
                .input(other, [301], Fill::NORMAL)
        };
        others.into_iter().map(problem).collect()
    }

    fn bench_problem(&self, dtype: DType, log2_size: u32) -> Option<Problem> {
        let n = 1usize << log2_size;
        let problem = Problem::new(n.to_string()).input(dtype, [n], Fill::NORMAL);
        Some(problem.without().input(DType::F32, [n], Fill::NORMAL))
    }
}
