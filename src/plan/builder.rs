//! Plans: which kernels run on which slots, as plain data.

use std::borrow::Cow;
use std::sync::Arc;

use crate::device::Capabilities;
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::operation::{Call, Variant};
use crate::plan::kernel::{
    Access, Constant, Kernel, KernelBinding, ModuleInstance, ModuleText, Width,
};
use crate::spec::{TensorSpec, row_major};

/// The most axes that a strided view may have, after neighbours that lie
/// contiguously are merged.
pub const MAX_STRIDED_RANK: usize = 8;

/// What a step's binding refers to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Slot {
    /// An input of the call.
    Input(usize),
    /// An output of the call.
    Output(usize),
    /// A scratch buffer of the plan.
    Scratch(usize),
}

/// One 32-bit word of a kernel's uniform.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Param {
    /// Known when planned.
    Word(u32),
    /// The elements between the start of a slot's binding and its view, known when bound.
    Offset(Slot),
}

/// Scratch memory that a plan needs: a storage buffer of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScratchSpec {
    /// What it holds.
    pub name: &'static str,
    /// Its size in bytes, a multiple of 16.
    pub bytes: u64,
}

/// One dispatch.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// The kernel.
    pub kernel: Arc<Kernel>,
    /// What each of the kernel's bindings refers to.
    pub slots: Vec<Slot>,
    /// The words of the kernel's uniform; the first is the grid's row.
    pub params: Vec<Param>,
    /// Workgroups along x, y and z.
    pub workgroups: [u32; 3],
}

/// The decision for one problem on one device. Plain data: looking at it tells
/// everything that will run.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// The problem.
    pub call: Call,
    /// The variant that computes it.
    pub variant: Variant,
    /// Dispatches in order. None where nothing needs to be computed.
    pub steps: Vec<Step>,
    /// Scratch buffers to bring along.
    pub scratch: Vec<ScratchSpec>,
}

impl Plan {
    /// Bytes of all scratch buffers.
    pub fn scratch_bytes(&self) -> u64 {
        self.scratch.iter().map(|s| s.bytes).sum()
    }
}

/// Puts a plan together; operations of every family use it.
pub struct PlanBuilder<'a> {
    call: &'a Call,
    variant: Variant,
    capabilities: &'a Capabilities,
    steps: Vec<Step>,
    scratch: Vec<ScratchSpec>,
    dense: Vec<(usize, Slot)>,
    // Outputs computed densely in scratch, to be placed at the end.
    placed: Vec<(usize, Slot)>,
    error: Option<Error>,
}

impl<'a> PlanBuilder<'a> {
    /// An empty plan.
    pub fn new(
        call: &'a Call,
        variant: Variant,
        capabilities: &'a Capabilities,
    ) -> PlanBuilder<'a> {
        PlanBuilder {
            call,
            variant,
            capabilities,
            steps: Vec::new(),
            scratch: Vec::new(),
            dense: Vec::new(),
            placed: Vec::new(),
            error: None,
        }
    }

    /// The problem being planned.
    pub fn call(&self) -> &'a Call {
        self.call
    }

    /// The variant being planned.
    pub fn variant(&self) -> Variant {
        self.variant
    }

    /// What the device can do.
    pub fn capabilities(&self) -> &'a Capabilities {
        self.capabilities
    }

    /// Whether kernels of this plan use subgroup operations.
    pub fn subgroups(&self) -> bool {
        self.variant != Variant::Portable && self.capabilities.subgroups.is_some()
    }

    /// Refuses the subgroup variant where the device has no subgroups, or of
    /// sizes that kernels are not written for.
    ///
    /// # Errors
    /// [`Error::Unavailable`], with the reason.
    pub fn require_subgroups(&self) -> Result<()> {
        let reason = match (self.variant, self.capabilities.subgroups) {
            (Variant::Subgroup, None) => "the device has no subgroup operations".to_string(),
            (Variant::Subgroup, Some(sizes)) if sizes.min < 4 || sizes.max > 128 => {
                format!(
                    "subgroups of {} to {} invocations; kernels take 4 to 128",
                    sizes.min, sizes.max
                )
            }
            _ => return Ok(()),
        };
        Err(Error::Unavailable {
            operation: self.call.name().into(),
            reason,
        })
    }

    /// Input `index` as a dense, binding-aligned slot: the input itself, or a
    /// copy that a step before makes of a strided or unaligned view.
    pub fn dense(&mut self, index: usize) -> Slot {
        let spec = self.call.input(index);
        if spec.is_dense() {
            return Slot::Input(index);
        }
        if let Some((_, slot)) = self.dense.iter().find(|(i, _)| *i == index) {
            return *slot;
        }
        let slot = self.gather(index, &spec.shape.clone(), &spec.strides());
        self.dense.push((index, slot));
        slot
    }

    /// Input `index`, read through these extents and strides, as a dense slot
    /// of its own: the way to permute or broadcast before a kernel that takes
    /// dense operands only.
    pub fn gather(&mut self, index: usize, shape: &[usize], strides: &[isize]) -> Slot {
        let dtype = self.call.input(index).dtype;
        let to = self.scratch("dense copy", dense_bytes(dtype, shape.iter().product()));
        self.copy_axes(Slot::Input(index), dtype, shape, strides, to);
        to
    }

    /// Copies `from`, read through these extents and strides, to the dense slot `to`.
    pub fn copy_axes(
        &mut self,
        from: Slot,
        dtype: DType,
        shape: &[usize],
        strides: &[isize],
        to: Slot,
    ) {
        let n: usize = shape.iter().product();
        if n == 0 {
            return;
        }
        let axes = merge_axes(shape, strides);
        if axes.len() > MAX_STRIDED_RANK {
            self.fail(Error::Limit {
                operation: self.call.name().into(),
                what: "axes in a strided view".into(),
                asked: axes.len() as u64,
                limit: MAX_STRIDED_RANK as u64,
                way_out: "Copy the view to a contiguous tensor in two steps".into(),
            });
            return;
        }
        self.step("copy_gather")
            .read("x", from, dtype, Width::Element)
            .write("y", to, dtype, Width::Quad)
            .constant("WORKGROUP", 256u32)
            .param(n as u32)
            .offset(from)
            .param(axes.len() as u32)
            .axes(&axes)
            .workgroups((n as u64).div_ceil(4 * 256));
    }

    /// The stored bits of `n` dense elements of `from`, a word each: `from` itself, or
    /// scratch of this name that a step fills with those of a packed dtype.
    pub fn as_words(&mut self, name: &'static str, from: Slot, dtype: DType, n: usize) -> Slot {
        if dtype.size() == 4 {
            return from;
        }
        let words = self.scratch(name, dense_bytes(DType::U32, n));
        self.step("widen")
            .read("x", from, dtype, Width::Quad)
            .write("y", words, DType::U32, Width::Quad)
            .constant("WORKGROUP", 256u32)
            .param(n as u32)
            .workgroups((n as u64).div_ceil(4 * 256));
        words
    }

    /// Rounds `n` dense f32 elements of `from` to `dtype` in the dense slot `to`.
    pub fn round(&mut self, from: Slot, dtype: DType, n: usize, to: Slot) {
        self.step("convert_store")
            .read("x", from, DType::F32, Width::Quad)
            .write("y", to, dtype, Width::Quad)
            .constant("WORKGROUP", 256u32)
            .param(n as u32)
            .workgroups((n as u64).div_ceil(4 * 256));
    }

    /// Output `index` as a dense, binding-aligned slot to compute into: the
    /// output itself, or scratch that a last step places.
    pub fn output(&mut self, index: usize) -> Slot {
        let spec = &self.call.outputs[index];
        if spec.is_dense() {
            return Slot::Output(index);
        }
        if let Some((_, slot)) = self.placed.iter().find(|(i, _)| *i == index) {
            return *slot;
        }
        let slot = self.scratch("dense result", dense_bytes(spec.dtype, spec.len()));
        self.placed.push((index, slot));
        slot
    }

    /// Scratch memory of at least this size.
    pub fn scratch(&mut self, name: &'static str, bytes: u64) -> Slot {
        self.scratch.push(ScratchSpec {
            name,
            bytes: bytes.max(16).next_multiple_of(16),
        });
        Slot::Scratch(self.scratch.len() - 1)
    }

    /// Fills a dense slot of `n` elements with one value, given by its stored bits.
    pub fn fill(&mut self, slot: Slot, dtype: DType, n: usize, bits: u32) {
        if n == 0 {
            return;
        }
        self.step("fill")
            .write("y", slot, dtype, Width::Quad)
            .constant("WORKGROUP", 256u32)
            .param(n as u32)
            .param(bits)
            .workgroups((n as u64).div_ceil(4 * 256));
    }

    /// A dispatch of `shaders/ROOT.wgsl`.
    pub fn step(&mut self, root: &'static str) -> StepBuilder<'_, 'a> {
        let shared_buffers = self.call.shared_buffers;
        let unrolled = !self.capabilities.slow_compiler();
        StepBuilder {
            plan: self,
            kernel: Kernel {
                root,
                bindings: Vec::new(),
                modules: Vec::new(),
                constants: Vec::new(),
                flags: Vec::new(),
                unchecked: false,
                unzeroed: false,
                shared_buffers,
                unrolled,
            },
            slots: Vec::new(),
            params: vec![Param::Word(0)],
            workgroup_bytes: 0,
        }
    }

    /// Makes `finish` return this error.
    pub fn fail(&mut self, error: Error) {
        self.error.get_or_insert(error);
    }

    /// The finished plan.
    ///
    /// # Errors
    /// [`Error::Limit`] when a binding, a workgroup or a dispatch exceeds the device's limits.
    pub fn finish(mut self) -> Result<Plan> {
        for (index, slot) in std::mem::take(&mut self.placed) {
            self.place(index, slot);
        }
        if let Some(error) = self.error {
            return Err(error);
        }
        let plan = Plan {
            call: self.call.clone(),
            variant: self.variant,
            steps: self.steps,
            scratch: self.scratch,
        };
        check_bindings(&plan, self.capabilities)?;
        Ok(plan)
    }

    fn place(&mut self, index: usize, slot: Slot) {
        let spec = self.call.outputs[index].clone();
        if spec.is_empty() {
            return;
        }
        let per_word = 4 / spec.dtype.size() as u64;
        self.step("copy_place")
            .read("x", slot, spec.dtype, Width::Element)
            .write("y", Slot::Output(index), spec.dtype, Width::Element)
            .constant("WORKGROUP", 256u32)
            .param(spec.len() as u32)
            .offset(Slot::Output(index))
            // An unaligned start can touch one word more.
            .workgroups((spec.len() as u64 / per_word + 2).div_ceil(256));
    }
}

/// Bytes of a dense slot: whole quads.
pub(crate) fn dense_bytes(dtype: DType, n: usize) -> u64 {
    (n as u64 * dtype.size() as u64).next_multiple_of(16)
}

/// Drops axes of extent 1 and merges neighbours that lie contiguously.
pub(crate) fn merge_axes(shape: &[usize], strides: &[isize]) -> Vec<(usize, isize)> {
    let mut axes: Vec<(usize, isize)> = Vec::new();
    for (&extent, &stride) in shape.iter().zip(strides) {
        if extent == 1 {
            continue;
        }
        match axes.last_mut() {
            Some((outer, outer_stride)) if *outer_stride == stride * extent as isize => {
                *outer *= extent;
                *outer_stride = stride;
            }
            _ => axes.push((extent, stride)),
        }
    }
    if axes.is_empty() {
        axes.push((shape.iter().product(), 1));
    }
    axes
}

fn check_bindings(plan: &Plan, capabilities: &Capabilities) -> Result<()> {
    let operation = plan.call.name();
    let limit = capabilities.max_binding();
    let signature = plan.call.operation.signature();
    let reach = |spec: &TensorSpec| {
        let elements = spec
            .extent()
            .map_or(0, |(low, high)| (high - low) as u64 + 1);
        elements * spec.dtype.size() as u64
    };
    let inputs = plan.call.inputs.iter().enumerate().filter_map(|(i, spec)| {
        spec.as_ref().map(|spec| {
            (
                format!("bytes in input `{}`", signature.input_name(i)),
                reach(spec),
            )
        })
    });
    let outputs = plan.call.outputs.iter().zip(&signature.outputs);
    let outputs = outputs.map(|(spec, o)| (format!("bytes in output `{}`", o.name), reach(spec)));
    let scratch = plan
        .scratch
        .iter()
        .map(|s| (format!("bytes of scratch ({})", s.name), s.bytes));
    for (what, asked) in inputs.chain(outputs).chain(scratch) {
        if asked > limit {
            return Err(Error::Limit {
                operation: operation.into(),
                what,
                asked,
                limit,
                way_out: "One storage binding of this device holds no more: split the tensor, or create the device with `device_requirements`".into(),
            });
        }
    }
    Ok(())
}

/// Describes one dispatch; [`StepBuilder::workgroups`] ends it.
#[must_use = "`workgroups` adds the step to the plan"]
pub struct StepBuilder<'p, 'a> {
    plan: &'p mut PlanBuilder<'a>,
    kernel: Kernel,
    slots: Vec<Slot>,
    params: Vec<Param>,
    workgroup_bytes: u64,
}

impl StepBuilder<'_, '_> {
    fn binding(
        mut self,
        name: &'static str,
        slot: Slot,
        dtype: DType,
        width: Width,
        access: Access,
    ) -> Self {
        self.kernel.bindings.push(KernelBinding {
            name,
            dtype,
            width,
            access,
        });
        self.slots.push(slot);
        self
    }

    /// Binds a slot to load elements from, as instance `name`.
    pub fn read(self, name: &'static str, slot: Slot, dtype: DType, width: Width) -> Self {
        self.binding(name, slot, dtype, width, Access::Read)
    }

    /// Binds a slot to store elements to, as instance `name`.
    pub fn write(self, name: &'static str, slot: Slot, dtype: DType, width: Width) -> Self {
        self.binding(name, slot, dtype, width, Access::Write)
    }

    /// Binds a slot as plain 32-bit words `NAME::data`, to load and store.
    pub fn words(self, name: &'static str, slot: Slot) -> Self {
        self.binding(name, slot, DType::U32, Width::Element, Access::Words)
    }

    /// Binds a slot as `vec4<u32>` words `NAME::data`, to load and store.
    pub fn word_quads(self, name: &'static str, slot: Slot) -> Self {
        self.binding(name, slot, DType::U32, Width::Quad, Access::Words)
    }

    /// Binds a slot as atomic words `NAME::data`.
    pub fn atomic(self, name: &'static str, slot: Slot) -> Self {
        self.binding(name, slot, DType::U32, Width::Element, Access::Atomic)
    }

    /// Links `shaders/FILE.wgsl` as instance `name`, whose imports `slots` resolve.
    pub fn module(
        mut self,
        name: &str,
        file: impl Into<Cow<'static, str>>,
        slots: &[(&str, &str)],
    ) -> Self {
        self.kernel.modules.push(ModuleInstance {
            name: name.into(),
            text: ModuleText::File(file.into()),
            slots: slots
                .iter()
                .map(|(a, b)| (a.to_string(), b.to_string()))
                .collect(),
        });
        self
    }

    /// Links generated or user text as instance `name`, whose imports `slots` resolve.
    pub fn text(mut self, name: &str, text: impl Into<Arc<str>>, slots: &[(&str, &str)]) -> Self {
        self.kernel.modules.push(ModuleInstance {
            name: name.into(),
            text: ModuleText::Text(text.into()),
            slots: slots
                .iter()
                .map(|(a, b)| (a.to_string(), b.to_string()))
                .collect(),
        });
        self
    }

    /// Links `block/exclusive_sum` as `block` for workgroups of this size, and sets the
    /// flag `subgroup` where the plan uses subgroup operations.
    pub fn exclusive_sums(self, workgroup: u32) -> Self {
        let least = match self.plan.capabilities.subgroups {
            Some(sizes) if self.plan.subgroups() => sizes.min.max(1),
            _ => return self.module("block", "block/exclusive_sum", &[]),
        };
        self.module("block", "block/exclusive_sum", &[])
            .constant("SUBGROUPS", workgroup.div_ceil(least))
            .flag("subgroup", true)
    }

    /// Sets constant `config::NAME`. `WORKGROUP` is checked against the device's limits.
    pub fn constant(mut self, name: &'static str, value: impl Into<Constant>) -> Self {
        self.kernel.constants.push((name, value.into()));
        self
    }

    /// Sets a flag for `@if` when `condition` holds.
    pub fn flag(mut self, name: &'static str, condition: bool) -> Self {
        if condition {
            self.kernel.flags.push(name);
        }
        self
    }

    /// Compiles without run-time checks where the device allows it. The caller
    /// proves, beside the plan, that every index is in range for every problem
    /// that the plan accepts and that no workgroup memory is read before it is written.
    pub fn unchecked(mut self) -> Self {
        self.kernel.unchecked = self.plan.capabilities.unchecked_shaders;
        self.unzeroed()
    }

    /// Leaves workgroup memory as the last workgroup left it: the code that
    /// would zero it takes OpenGL drivers seconds to compile. The caller knows
    /// that no invocation reads a word of it before one has written that word.
    pub fn unzeroed(mut self) -> Self {
        self.kernel.unzeroed = true;
        self
    }

    /// States how much workgroup memory the kernel declares.
    pub fn workgroup_bytes(mut self, bytes: u64) -> Self {
        self.workgroup_bytes = bytes;
        self
    }

    /// Appends a word to the uniform.
    pub fn param(mut self, word: u32) -> Self {
        self.params.push(Param::Word(word));
        self
    }

    /// Appends the bits of an `f32` to the uniform.
    pub fn param_f32(self, value: f32) -> Self {
        self.param(value.to_bits())
    }

    /// Appends a slot's element offset, known when bound, to the uniform.
    pub fn offset(mut self, slot: Slot) -> Self {
        self.params.push(Param::Offset(slot));
        self
    }

    /// Appends extents, then strides, as two `array<vec4<u32>, 2>` at the next
    /// multiple of 16 bytes: up to 8 axes, outermost first.
    /// Strides are two's complement, so that wrapping arithmetic walks backwards.
    pub fn axes(mut self, axes: &[(usize, isize)]) -> Self {
        while !self.params.len().is_multiple_of(4) {
            self.params.push(Param::Word(0));
        }
        let word = |i: usize, f: fn(&(usize, isize)) -> u32| Param::Word(axes.get(i).map_or(0, f));
        for i in 0..MAX_STRIDED_RANK {
            self.params.push(word(i, |a| a.0 as u32));
        }
        for i in 0..MAX_STRIDED_RANK {
            self.params.push(word(i, |a| a.1 as u32));
        }
        self
    }

    /// Adds the step, with this many workgroups, folded where there are more
    /// than one dimension holds.
    pub fn workgroups(mut self, count: u64) {
        let limits = &self.plan.capabilities.limits;
        let most = limits.max_compute_workgroups_per_dimension as u64;
        let operation = self.plan.call.name();
        let limit = |what: &str, asked: u64, limit: u64, way_out: &str| Error::Limit {
            operation: operation.into(),
            what: what.into(),
            asked,
            limit,
            way_out: way_out.into(),
        };
        let (x, y) = if count <= most {
            (count, 1)
        } else {
            let y = count.div_ceil(most);
            (count.div_ceil(y), y)
        };
        let mut error = None;
        if y > most {
            error = Some(limit("workgroups", count, most * most, "Split the tensor"));
        }
        let workgroup = self
            .kernel
            .constants
            .iter()
            .find_map(|(name, value)| match value {
                Constant::U32(v) if *name == "WORKGROUP" => Some(*v),
                _ => None,
            });
        let invocations = limits
            .max_compute_invocations_per_workgroup
            .min(limits.max_compute_workgroup_size_x);
        if workgroup.unwrap_or(0) > invocations {
            let asked = workgroup.unwrap_or(0) as u64;
            error = Some(limit(
                "invocations in a workgroup",
                asked,
                invocations as u64,
                "Use the portable variant",
            ));
        }
        let memory = limits.max_compute_workgroup_storage_size as u64;
        if self.workgroup_bytes > memory {
            error = Some(limit(
                "bytes of workgroup memory",
                self.workgroup_bytes,
                memory,
                "Use the portable variant",
            ));
        }
        let buffers = limits.max_storage_buffers_per_shader_stage as usize;
        if self.slots.len() > buffers {
            error = Some(limit(
                "storage buffers",
                self.slots.len() as u64,
                buffers as u64,
                "Use fewer inputs",
            ));
        }
        if let Some(error) = error {
            self.plan.fail(error);
            return;
        }
        self.params[0] = Param::Word(x as u32);
        while !self.params.len().is_multiple_of(4) {
            self.params.push(Param::Word(0));
        }
        self.plan.steps.push(Step {
            kernel: Arc::new(self.kernel),
            slots: self.slots,
            params: self.params,
            workgroups: [x as u32, y as u32, 1],
        });
    }
}

/// Whether strides are those of a row-major tensor of this shape.
pub(crate) fn is_row_major(shape: &[usize], strides: &[isize]) -> bool {
    let expected = row_major(shape);
    shape
        .iter()
        .zip(strides.iter().zip(&expected))
        .all(|(&d, (a, b))| d == 1 || a == b)
}
