//! The kernel of an elementwise operation: module `body` of
//! `shaders/elementwise.wgsl`, generated, and its dispatch.

use std::sync::Arc;

use crate::dtype::DType;
use crate::error::Error;
use crate::kernels::elementwise::layout::Layout;
use crate::operation::Call;
use crate::plan::{MAX_STRIDED_RANK, PlanBuilder, Slot, Width};
use crate::spec::{TensorSpec, broadcast_strides};

/// One operand of a kernel.
pub(super) struct Operand {
    /// The name of its storage module.
    pub name: &'static str,
    pub slot: Slot,
    /// Its layout; broadcasts to the result's shape.
    pub spec: TensorSpec,
    /// Whether its bits are moved: then its elements are `u32`.
    pub bits: bool,
}

impl Operand {
    pub fn input(call: &Call, index: usize, name: &'static str) -> Operand {
        Operand {
            name,
            slot: Slot::Input(index),
            spec: call.input(index).clone(),
            bits: false,
        }
    }

    pub fn moved(self) -> Operand {
        Operand { bits: true, ..self }
    }

    fn scalar(&self) -> &'static str {
        scalar(self.spec.dtype, self.bits)
    }
}

/// The WGSL type that elements are computed in.
pub(super) fn scalar(dtype: DType, bits: bool) -> &'static str {
    match dtype {
        _ if bits => "u32",
        DType::F32 | DType::F16 | DType::BF16 => "f32",
        DType::I32 => "i32",
        DType::U32 => "u32",
    }
}

/// A function of one element of each operand, for every element of a shape.
pub(super) struct Body<'a> {
    pub operands: Vec<Operand>,
    /// The function: WGSL in terms of `v0`, `v1`, … (an element of each operand),
    /// `params.values`, and the modules `math`, `convert` and `user`.
    pub expression: String,
    pub shape: &'a [usize],
    /// The result's dtype.
    pub dtype: DType,
    /// Whether the expression gives bits to store as they are.
    pub bits: bool,
    /// The operation's own parameters, as bits.
    pub values: [u32; 2],
    /// The text of module `user`.
    pub user: Option<Arc<str>>,
}

/// How an operand's elements are found.
#[derive(Clone, Copy, PartialEq)]
enum Reading {
    /// By quads: it lies in the same order as the result.
    Quad,
    /// By elements, one for a whole quad of the result.
    Single,
    /// By elements, one for each of the result.
    Element,
}

impl Body<'_> {
    /// Adds the step that computes the dense slot `to`.
    ///
    /// Indices stay in range without checks (which are on all the same):
    /// `main` lets quads pass only up to the last one of the result; coordinates
    /// are remainders by extents, the outermost one the quotient that is left,
    /// so that every operand is read within its extent.
    pub fn plan(self, plan: &mut PlanBuilder, to: Slot) {
        let n: usize = self.shape.iter().product();
        if n == 0 {
            return;
        }
        let strides: Vec<Vec<isize>> = self
            .operands
            .iter()
            .map(|operand| broadcast_strides(&operand.spec, self.shape))
            .collect();
        let mut layout = Layout::merge(self.shape, &strides);
        if layout.rank() > MAX_STRIDED_RANK {
            plan.fail(Error::Limit {
                operation: plan.call().name().into(),
                what: "axes that cannot be merged, over all operands".into(),
                asked: layout.rank() as u64,
                limit: MAX_STRIDED_RANK as u64,
                way_out: "Copy strided operands to contiguous tensors first".into(),
            });
            return;
        }
        let readings = self.readings(&layout);
        if !readings.contains(&Reading::Element) {
            count_in_quads(&mut layout, &readings);
        }
        let text = self.text(&layout, &readings);
        let uses_math = text.contains("math::");

        let mut step = plan.step("elementwise");
        for (operand, reading) in self.operands.iter().zip(&readings) {
            let width = match reading {
                Reading::Quad => Width::Quad,
                Reading::Single | Reading::Element => Width::Element,
            };
            step = step.read(operand.name, operand.slot, operand.spec.dtype, width);
        }
        step = step
            .write("result", to, self.dtype, Width::Quad)
            .text("body", text, &[])
            .module("parameters", "elementwise/parameters", &[])
            .constant("WORKGROUP", 256u32)
            .constant("OPERANDS", self.operands.len() as u32)
            .flag("bits", self.bits)
            .param(n as u32)
            .param(self.values[0])
            .param(self.values[1]);
        if uses_math {
            step = step.module("math", "op/math", &[]);
        }
        if let Some(user) = &self.user {
            step = step.text("user", user.clone(), &[]);
        }
        for k in 0..8 {
            step = match self.operands.get(k) {
                Some(operand) => step.offset(operand.slot),
                None => step.param(0),
            };
        }
        for k in 0..MAX_STRIDED_RANK {
            step = step.param(layout.extents.get(k).map_or(0, |&e| e as u32));
        }
        for strides in &layout.strides {
            for k in 0..MAX_STRIDED_RANK {
                // Two's complement: wrapping sums walk backwards.
                step = step.param(strides.get(k).map_or(0, |&s| s as u32));
            }
        }
        step.workgroups((n as u64).div_ceil(4 * 256));
    }

    /// How each operand is read; `Element` either for none or for all.
    fn readings(&self, layout: &Layout) -> Vec<Reading> {
        let last = layout.rank() - 1;
        // Quads must not straddle rows; a single axis ends in a part of one.
        let rows = last == 0 || layout.extents[last].is_multiple_of(4);
        let reading = |(operand, strides): (&Operand, &Vec<isize>)| {
            let quads = strides[..last].iter().all(|s| s % 4 == 0);
            match strides[last] {
                0 => Some(Reading::Single),
                1 if operand.spec.is_dense() && quads => Some(Reading::Quad),
                _ => None,
            }
        };
        let pairs = self.operands.iter().zip(&layout.strides);
        let readings: Option<Vec<Reading>> = pairs.map(reading).collect();
        match readings.filter(|_| rows) {
            Some(readings) => readings,
            None => vec![Reading::Element; self.operands.len()],
        }
    }

    /// Module `body`.
    fn text(&self, layout: &Layout, readings: &[Reading]) -> String {
        let mut text = String::from("import super::parameters::params;\n");
        for operand in &self.operands {
            text += &format!("import super::{};\n", operand.name);
        }
        for module in ["math", "convert", "user"] {
            if self.expression.contains(&format!("{module}::")) {
                text += &format!("import super::{module};\n");
            }
        }
        text.push('\n');
        let count = self.operands.len();
        let list = |f: &dyn Fn(usize) -> String| (0..count).map(f).collect::<Vec<_>>().join(", ");
        let result = scalar(self.dtype, self.bits);

        let arguments = list(&|k| format!("v{k}: {}", self.operands[k].scalar()));
        text += &format!(
            "fn function({arguments}) -> {result} {{\n    return {};\n}}\n\n",
            self.expression
        );
        if readings.contains(&Reading::Element) {
            self.elements(&mut text, layout, result);
        } else {
            self.quads(&mut text, layout, readings, result);
        }
        text
    }

    /// `quad`, from operands of which one address is enough for a quad.
    fn quads(&self, text: &mut String, layout: &Layout, readings: &[Reading], result: &str) {
        let count = self.operands.len();
        *text += &format!("fn quad(q: u32) -> vec4<{result}> {{\n");
        coordinates(text, layout.rank(), "q");
        for (k, operand) in self.operands.iter().enumerate() {
            let quad = readings[k] == Reading::Quad;
            let at = address(k, &layout.strides[k], !quad);
            let bits = if operand.bits { "_bits" } else { "" };
            let (name, scalar) = (operand.name, operand.scalar());
            *text += &match quad {
                true => format!("    let v{k} = {name}::load4{bits}({at});\n"),
                false => format!("    let v{k} = vec4<{scalar}>({name}::load{bits}({at}));\n"),
            };
        }
        *text += &format!("    return vec4<{result}>(\n");
        for lane in ["x", "y", "z", "w"] {
            let lanes: Vec<String> = (0..count).map(|k| format!("v{k}.{lane}")).collect();
            *text += &format!("        function({}),\n", lanes.join(", "));
        }
        *text += "    );\n}\n";
    }

    /// `quad`, from operands of which every element is located: the first by
    /// its coordinates, the others by a step along the last axis where it does not end.
    fn elements(&self, text: &mut String, layout: &Layout, result: &str) {
        let count = self.operands.len();
        let last = layout.rank() - 1;
        let list = |f: &dyn Fn(usize) -> String| (0..count).map(f).collect::<Vec<_>>().join(", ");
        *text += "// Where an element of each operand lies, and its place on the last axis.\n";
        *text += &format!(
            "struct Place {{ {}, last: u32 }}\n\n",
            list(&|k| format!("at{k}: u32"))
        );
        *text += "fn locate(i: u32) -> Place {\n";
        coordinates(text, layout.rank(), "i");
        *text += &format!(
            "    return Place({}, c{last});\n}}\n\n",
            list(&|k| address(k, &layout.strides[k], true))
        );
        let extent = component("extents", last);
        *text += "fn after(p: Place, i: u32) -> Place {\n";
        *text += &format!("    if p.last + 1u < params.{extent} {{\n");
        *text += &format!(
            "        return Place({}, p.last + 1u);\n    }}\n    return locate(i);\n}}\n\n",
            list(&|k| format!("p.at{k}{}", term(k, last, layout.strides[k][last], None)))
        );
        *text += &format!("fn element(p: Place) -> {result} {{\n    return function(");
        *text += &list(&|k| {
            let operand = &self.operands[k];
            let bits = if operand.bits { "_bits" } else { "" };
            format!("{}::load{bits}(p.at{k})", operand.name)
        });
        *text += ");\n}\n\n";
        *text += &format!(
            "fn quad(q: u32) -> vec4<{result}> {{
    let i = q * 4u;
    let end = params.n - 1u;
    let p0 = locate(i);
    let p1 = after(p0, min(i + 1u, end));
    let p2 = after(p1, min(i + 2u, end));
    let p3 = after(p2, min(i + 3u, end));
    return vec4<{result}>(element(p0), element(p1), element(p2), element(p3));
}}
"
        );
    }
}

/// Counts the last axis in quads: its extent, and every stride of operands that
/// are read by quads, of which the last is 1 and stays so.
fn count_in_quads(layout: &mut Layout, readings: &[Reading]) {
    let last = layout.rank() - 1;
    layout.extents[last] = layout.extents[last].div_ceil(4);
    for (strides, reading) in layout.strides.iter_mut().zip(readings) {
        if *reading == Reading::Quad {
            strides[..last].iter_mut().for_each(|s| *s /= 4);
        }
    }
}

/// `c0`, `c1`, …: the coordinates of index `i`.
fn coordinates(text: &mut String, rank: usize, i: &str) {
    let mut rest = i.to_string();
    for axis in (1..rank).rev() {
        let extent = format!("params.{}", component("extents", axis));
        *text += &format!("    let c{axis} = {rest} % {extent};\n");
        *text += &format!("    let r{axis} = {rest} / {extent};\n");
        rest = format!("r{axis}");
    }
    *text += &format!("    let c0 = {rest};\n");
}

/// The address of operand `k` at these coordinates.
fn address(k: usize, strides: &[isize], offset: bool) -> String {
    let mut sum = match offset {
        true => format!("params.{}", component("offsets", k)),
        false => String::new(),
    };
    for (axis, &stride) in strides.iter().enumerate() {
        sum += &term(k, axis, stride, Some(axis));
    }
    match sum.strip_prefix(" + ") {
        Some(rest) => rest.into(),
        None if sum.is_empty() => "0u".into(),
        None => sum,
    }
}

/// ` + coordinate · stride`; the coordinate is 1 where none is given.
fn term(k: usize, axis: usize, stride: isize, coordinate: Option<usize>) -> String {
    let stride_word = format!("params.strides[{k}]{}", lane(axis));
    match (stride, coordinate) {
        (0, _) => String::new(),
        (1, Some(c)) => format!(" + c{c}"),
        (1, None) => " + 1u".into(),
        (_, Some(c)) => format!(" + c{c} * {stride_word}"),
        (_, None) => format!(" + {stride_word}"),
    }
}

/// Member `index` of an `array<vec4<u32>, 2>` of the uniform.
fn component(array: &str, index: usize) -> String {
    format!("{array}{}", lane(index))
}

fn lane(index: usize) -> String {
    format!("[{}].{}", index / 4, ["x", "y", "z", "w"][index % 4])
}
