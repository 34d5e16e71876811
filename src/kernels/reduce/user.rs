//! `reduce`: a reduction by a user's operator.

use crate::cpu::user_operator::{Line, fold, tensor, words};
use crate::device::Capabilities;
use crate::dtype::DType;
use crate::error::Result;
use crate::gate::{Effort, Expected, Fill, Problem, oracle};
use crate::host::HostTensor;
use crate::kernels::reduce::axes::Reduction;
use crate::kernels::reduce::forward::{Kind, VARIANTS};
use crate::kernels::reduce::steps::{self, Sink, Source};
use crate::kernels::reduce::user_operator::{self, UserOperator};
use crate::kernels::softmax::required;
use crate::operation::{Call, InputSpec, Operation, OutputSpec, Signature, Variant};
use crate::plan::{Plan, PlanBuilder, dense_bytes};
use crate::spec::TensorSpec;

pub(super) struct ReduceByOperator {
    signature: Signature,
}

impl ReduceByOperator {
    pub fn new() -> ReduceByOperator {
        let mut params = user_operator::params();
        params.extend(Kind::Sum.params());
        ReduceByOperator {
            signature: Signature {
                name: "reduce",
                family: "reduce",
                doc: "the elements over axes, combined by a user's associative operator",
                inputs: vec![InputSpec {
                    name: "x",
                    dtypes: DType::ALL,
                    optional: false,
                    doc: "any shape; the last axis holds the words of struct elements",
                }],
                variadic: 0,
                outputs: vec![OutputSpec {
                    name: "y",
                    doc: "dtype of x, its shape without the reduced axes",
                }],
                params,
                dtypes: DType::ALL,
                variants: VARIANTS,
                gradient_of: None,
            },
        }
    }
}

/// The reduction, whose axes do not count the one that holds an element's words.
fn reduction(call: &Call, operator: &UserOperator) -> Result<Reduction> {
    match operator.is_struct() {
        true => Reduction::of_structs(call, operator.words()),
        false => Reduction::of(call),
    }
}

impl Operation for ReduceByOperator {
    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn infer(&self, call: &Call) -> Result<Vec<TensorSpec>> {
        let operator = UserOperator::of(call)?;
        let reduction = reduction(call, &operator)?;
        Ok(vec![TensorSpec::new(call.input(0).dtype, reduction.result)])
    }

    fn plan(&self, call: &Call, variant: Variant, capabilities: &Capabilities) -> Result<Plan> {
        let mut plan = PlanBuilder::new(call, variant, capabilities);
        plan.require_subgroups()?;
        let user = UserOperator::of(call)?;
        let reduction = reduction(call, &user)?;
        let operator = user.operator(call.params.bool("commutative"));
        let dtype = call.input(0).dtype;
        let results = reduction.results();
        let shape = [reduction.outer, reduction.extent, reduction.inner];
        if results == 0 {
            return plan.finish();
        }
        let target = plan.output(0);
        let x = reduction.input(&mut plan, call, 0);
        let source = match user.is_struct() {
            true => Source::Values(x),
            false => Source::Elements(x, dtype),
        };
        let reduce = |plan: &mut PlanBuilder<'_>, sink| match reduction.extent {
            0 => steps::identities(plan, &operator, results, sink),
            _ => steps::reduce(plan, &operator, source, shape, sink),
        };
        if user.is_struct() {
            reduce(&mut plan, Sink::Values(target));
        } else if dtype.size() == 2 && (reduction.extent == 0 || !steps::stores_quads(shape)) {
            let exact = plan.scratch("results", dense_bytes(DType::F32, results));
            reduce(&mut plan, Sink::Results(exact, DType::F32, 0));
            plan.round(exact, dtype, results, target);
        } else {
            reduce(&mut plan, Sink::Results(target, dtype, 0));
        }
        plan.finish()
    }

    fn cpu(&self, call: &Call, inputs: &[Option<&HostTensor>]) -> Result<Vec<HostTensor>> {
        let x = required(call, inputs, 0)?;
        let operator = UserOperator::of(call)?;
        let reduction = reduction(call, &operator)?;
        let permuted = reduction.permute(x)?;
        let words = words(permuted.as_ref().unwrap_or(x));
        let results = crate::cpu::parallel::map(reduction.results(), |r| {
            let (outer, column) = (r / reduction.inner, r % reduction.inner);
            let line = Line {
                words: &words,
                first: outer * reduction.extent * reduction.inner + column,
                stride: reduction.inner,
                count: reduction.extent,
            };
            fold(&operator, line)
        });
        let results = results.into_iter().collect::<Result<Vec<_>>>()?.concat();
        Ok(vec![tensor(x.dtype(), &call.outputs[0].shape, results)?])
    }

    fn reference(&self, call: &Call, inputs: &[Option<&HostTensor>]) -> Result<Vec<Expected>> {
        let x = required(call, inputs, 0)?;
        let operator = UserOperator::of(call)?;
        let size = if operator.is_struct() {
            operator.words()
        } else {
            1
        };
        let axes = if operator.is_struct() {
            x.shape().len() - 1
        } else {
            x.shape().len()
        };
        let words = words(x);
        let mut results = Vec::new();
        for group in oracle::reduce::groups(call, &x.shape()[..axes])? {
            let element = |p: &usize| words[p * size..(p + 1) * size].to_vec();
            let totals = oracle::user_operator::running(&operator, group.iter().map(element))?;
            results.extend_from_slice(&totals[totals.len() - 1]);
        }
        let exact = tensor(x.dtype(), &call.outputs[0].shape, results)?;
        Ok(vec![oracle::user_operator::expected(&operator, exact)])
    }

    fn problems(&self, dtype: DType, effort: Effort) -> Vec<Problem> {
        let shapes: &[(&[usize], &[i64])] = match effort {
            Effort::Quick => &[(&[5, 257], &[1])],
            Effort::Probe => &[(&[3, 1029], &[1]), (&[70, 8], &[0])],
            _ => &[
                (&[], &[]),
                (&[1], &[]),
                (&[17_003], &[]),
                (&[100, 3], &[1]),
                (&[9, 1025], &[-1]),
                (&[700, 5], &[0]),
                (&[2, 1100, 8], &[1]),
                (&[3, 4, 5], &[0, 2]),
                (&[4, 0], &[1]),
            ],
        };
        let mut problems = Vec::new();
        for &(shape, axes) in shapes {
            for example in examples(dtype, effort) {
                problems.push(example.problem(dtype, shape).param("axes", axes.to_vec()));
            }
        }
        problems
    }

    fn bench_problem(&self, dtype: DType, log2_size: u32) -> Option<Problem> {
        let example = examples(dtype, Effort::Quick).swap_remove(0);
        Some(example.problem(dtype, &[1 << log2_size]))
    }
}

/// An operator whose results are the same for every association.
pub(crate) struct Example {
    name: &'static str,
    operator: &'static str,
    fields: &'static str,
    size: usize,
    commutative: bool,
    fill: Fill,
}

impl Example {
    /// Elements of this example in a tensor of this shape, its words behind that.
    pub fn problem(&self, dtype: DType, shape: &[usize]) -> Problem {
        let extents: Vec<String> = shape.iter().map(usize::to_string).collect();
        let mut shape = shape.to_vec();
        if self.size > 1 {
            shape.push(self.size);
        }
        Problem::new(format!("{} {}", self.name, extents.join("x")))
            .input(dtype, shape, self.fill.clone())
            .param("operator", self.operator)
            .param("fields", self.fields)
            .param("commutative", self.commutative)
            .zeros_expected()
    }
}

/// Operators on elements of a dtype: one that does not commute first.
pub(crate) fn examples(dtype: DType, effort: Effort) -> Vec<Example> {
    let mut examples = vec![Example {
        name: "last that is not 0",
        operator: "fn combine(a: Element, b: Element) -> Element { return select(b, a, b == Element(0)); }\n\
                   fn identity() -> Element { return Element(0); }",
        fields: "",
        size: 1,
        commutative: false,
        fill: Fill::Cycle(vec![3.0, 0.0, 0.0, 7.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 5.0]),
    }];
    if dtype == DType::U32 {
        // x → scale·x + offset, one after another.
        examples.push(Example {
            name: "affine maps",
            operator: "fn combine(a: Element, b: Element) -> Element {\n\
                           return Element(a.scale * b.scale, a.offset * b.scale + b.offset);\n\
                       }\n\
                       fn identity() -> Element { return Element(1u, 0u); }",
            fields: "scale: u32, offset: u32",
            size: 2,
            commutative: false,
            fill: Fill::Bits,
        });
    }
    if effort == Effort::Quick {
        return examples;
    }
    examples.push(Example {
        name: "sum",
        operator: "fn combine(a: Element, b: Element) -> Element { return a + b; }\n\
                   fn identity() -> Element { return Element(0); }",
        fields: "",
        size: 1,
        commutative: true,
        fill: Fill::Cycle(vec![1.0, 0.0, 2.0, 0.0, 0.0]),
    });
    if dtype == DType::U32 && effort >= Effort::Standard {
        examples.push(Example {
            name: "largest with its number and a count",
            operator: "fn combine(a: Element, b: Element) -> Element {\n\
                           var best = a;\n\
                           if b.value > a.value { best = b; }\n\
                           best.count = a.count + b.count;\n\
                           return best;\n\
                       }\n\
                       fn identity() -> Element { return Element(-1e30, 0, 0u); }",
            fields: "value: f32, number: i32, count: u32",
            size: 3,
            commutative: false,
            fill: Fill::CycleBits(vec![
                0x3f80_0000,
                5,
                1,
                0xbf80_0000,
                6,
                1,
                0x4000_0000,
                7,
                2,
                0x4000_0000,
                8,
                3,
            ]),
        });
    }
    examples
}
