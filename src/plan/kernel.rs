//! One compute kernel as data: which file, bound to which storage, with which modules.

use std::borrow::Cow;
use std::sync::Arc;

use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::link::{self, Module};

include!(concat!(env!("OUT_DIR"), "/shaders.rs"));

/// The text of `shaders/NAME.wgsl`.
pub(crate) fn shader_file(name: &str) -> Option<(&'static str, &'static str)> {
    let i = SHADERS.binary_search_by_key(&name, |entry| entry.0).ok()?;
    Some((SHADERS[i].1, SHADERS[i].2))
}

/// How a kernel uses a binding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Access {
    /// Loads only.
    Read,
    /// Stores (and the loads that a partial word needs).
    Write,
    /// Words to load and store freely, as `data`; for scratch.
    Words,
    /// Words to update atomically, as `data`; for scratch.
    Atomic,
}

/// How many elements a kernel touches at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Width {
    /// Single elements, or the one or two that share a 32-bit word.
    Element,
    /// Four elements: needs a binding-aligned view.
    Quad,
}

/// One storage binding of a kernel.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct KernelBinding {
    /// The instance name by which the kernel imports its load and store functions.
    pub name: &'static str,
    /// How elements are stored.
    pub dtype: DType,
    /// Elements or quads.
    pub width: Width,
    /// Loads or stores.
    pub access: Access,
}

/// The value of a constant of module `config`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Constant {
    /// A `u32`.
    U32(u32),
    /// A `bool`.
    Bool(bool),
    /// An `f32`, by its bits; must be finite.
    F32(u32),
}

impl From<u32> for Constant {
    fn from(v: u32) -> Constant {
        Constant::U32(v)
    }
}

impl From<bool> for Constant {
    fn from(v: bool) -> Constant {
        Constant::Bool(v)
    }
}

/// Where a module's text comes from.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum ModuleText {
    /// `shaders/NAME.wgsl`.
    File(Cow<'static, str>),
    /// Generated, or a user's.
    Text(Arc<str>),
}

/// A module instance beside the storage modules.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct ModuleInstance {
    pub name: String,
    pub text: ModuleText,
    pub slots: Vec<(String, String)>,
}

/// One compute kernel: everything that its linked text and compile options
/// depend on. The key of the pipeline cache.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Kernel {
    /// The root file, `shaders/NAME.wgsl`; its entry point is `main`.
    pub root: &'static str,
    /// Storage bindings in order; the first has index 1.
    pub bindings: Vec<KernelBinding>,
    pub(crate) modules: Vec<ModuleInstance>,
    /// Constants, importable from `config`.
    pub constants: Vec<(&'static str, Constant)>,
    /// Flags for `@if`.
    pub flags: Vec<&'static str>,
    /// Compiled without run-time checks. Only where the plan proves every index
    /// in range; the proof stands beside the plan.
    pub unchecked: bool,
    /// Workgroup memory is not zeroed first. Only where every read of it is preceded by a write.
    pub unzeroed: bool,
    /// Whether inputs may share buffers with outputs: they are then declared writable.
    pub shared_buffers: bool,
    /// Loops marked `@unroll` are written out.
    pub unrolled: bool,
}

impl Kernel {
    /// Whether the kernel uses subgroup operations.
    pub fn uses_subgroups(&self) -> bool {
        self.flags.contains(&"subgroup")
    }

    /// Replaces a module's text, for tests that plant faults; whether there is such a module.
    #[doc(hidden)]
    pub fn replace_module(&mut self, name: &str, text: &str) -> bool {
        let found = self.modules.iter_mut().find(|m| m.name == name);
        found
            .map(|module| module.text = ModuleText::Text(text.into()))
            .is_some()
    }

    /// The WGSL that is compiled. `browser` adds the directive that browsers require and naga refuses.
    ///
    /// # Errors
    /// [`Error::Kernel`] when a module does not link: a bug in this crate.
    pub fn link(&self, browser: bool) -> Result<link::Linked> {
        let kernel_error = |message: String| Error::Kernel {
            kernel: self.root.into(),
            message,
        };
        let file = |name: &str| {
            shader_file(name)
                .ok_or_else(|| kernel_error(format!("there is no shader file `{name}`")))
        };
        let mut modules = vec![self.config()];
        for (i, binding) in self.bindings.iter().enumerate() {
            let (storage, scalar) = self.storage(i as u32 + 1, binding);
            modules.push(storage);
            let Some(behaviour) = binding.behaviour() else {
                continue;
            };
            let scalar_name = format!("{}_scalar", binding.name);
            let (path, text) = file(&format!("scalar/{scalar}"))?;
            modules.push(Module {
                name: scalar_name.clone(),
                file: path.into(),
                text: text.into(),
                slots: vec![],
            });
            let (path, text) = file(&format!("dtype/{behaviour}"))?;
            let mut slots = vec![
                ("storage".to_string(), format!("{}_storage", binding.name)),
                ("scalar".to_string(), scalar_name),
            ];
            if binding.dtype.size() == 2 {
                slots.push(("half".into(), format!("half_{}", binding.dtype)));
            }
            modules.push(Module {
                name: binding.name.into(),
                file: path.into(),
                text: text.into(),
                slots,
            });
        }
        for dtype in [DType::F16, DType::BF16] {
            let (path, text) = file(&format!("dtype/half_{dtype}"))?;
            modules.push(Module {
                name: format!("half_{dtype}"),
                file: path.into(),
                text: text.into(),
                slots: vec![],
            });
        }
        for library in ["convert", "grid", "thread"] {
            let (path, text) =
                file(&format!("block/{library}")).or_else(|_| file(&format!("dtype/{library}")))?;
            modules.push(Module {
                name: library.into(),
                file: path.into(),
                text: text.into(),
                slots: vec![],
            });
        }
        for instance in &self.modules {
            let (path, text): (Cow<'static, str>, Cow<'static, str>) = match &instance.text {
                ModuleText::File(name) => {
                    let (path, text) = file(name)?;
                    (path.into(), text.into())
                }
                ModuleText::Text(text) => (
                    format!("generated `{}`", instance.name).into(),
                    text.to_string().into(),
                ),
            };
            modules.push(Module {
                name: instance.name.clone(),
                file: path,
                text,
                slots: instance.slots.clone(),
            });
        }
        let (path, text) = file(self.root)?;
        let text: Cow<'static, str> = if browser && self.uses_subgroups() {
            // On the same line, so that line numbers stay those of the file.
            format!("enable subgroups; {text}").into()
        } else {
            text.into()
        };
        let root = Module {
            name: "kernel".into(),
            file: path.into(),
            text,
            slots: vec![],
        };
        let constants: Vec<(&str, u32)> = self
            .constants
            .iter()
            .filter_map(|(name, value)| match value {
                Constant::U32(value) => Some((*name, *value)),
                Constant::Bool(_) | Constant::F32(_) => None,
            })
            .collect();
        let unroll = self.unrolled.then_some(&constants[..]);
        link::link(&root, &modules, &self.flags, unroll).map_err(|e| kernel_error(e.to_string()))
    }

    /// Module `config`: the constants.
    fn config(&self) -> Module {
        let mut text = String::new();
        for (name, value) in &self.constants {
            match value {
                Constant::U32(v) => text += &format!("const {name}: u32 = {v}u;\n"),
                Constant::Bool(v) => text += &format!("const {name}: bool = {v};\n"),
                Constant::F32(bits) => {
                    text += &format!("const {name}: f32 = {:e}f;\n", f32::from_bits(*bits));
                }
            }
        }
        Module {
            name: "config".into(),
            file: "generated `config`".into(),
            text: text.into(),
            slots: vec![],
        }
    }

    /// Module `NAME_storage`: the binding's declaration; and the scalar module's name.
    fn storage(&self, index: u32, binding: &KernelBinding) -> (Module, &'static str) {
        let element = match (binding.access, binding.width, binding.dtype.size()) {
            (Access::Atomic, ..) => "atomic<u32>",
            (_, Width::Element, _) => "u32",
            (_, Width::Quad, 2) => "vec2<u32>",
            (_, Width::Quad, _) => "vec4<u32>",
        };
        let access = if binding.access == Access::Read && !self.shared_buffers {
            "read"
        } else {
            "read_write"
        };
        let text =
            format!("@group(0) @binding({index}) var<storage, {access}> data: array<{element}>;\n");
        // Words that kernels use as they are go by the binding's own name.
        let name = match binding.behaviour() {
            Some(_) => format!("{}_storage", binding.name),
            None => binding.name.to_string(),
        };
        let module = Module {
            name,
            file: "generated storage".into(),
            text: text.into(),
            slots: vec![],
        };
        let scalar = match binding.dtype {
            DType::F32 | DType::F16 | DType::BF16 => "f32",
            DType::I32 => "i32",
            DType::U32 => "u32",
        };
        (module, scalar)
    }
}

impl KernelBinding {
    /// The file under `shaders/dtype` with this binding's load or store functions.
    fn behaviour(&self) -> Option<&'static str> {
        Some(match (self.access, self.width, self.dtype.size()) {
            (Access::Words | Access::Atomic, ..) => return None,
            (Access::Read, Width::Element, 4) => "word_read",
            (Access::Read, Width::Quad, 4) => "word_read_quad",
            (Access::Write, Width::Element, 4) => "word_write",
            (Access::Write, Width::Quad, 4) => "word_write_quad",
            (Access::Read, Width::Element, _) => "packed_read",
            (Access::Read, Width::Quad, _) => "packed_read_quad",
            (Access::Write, Width::Element, _) => "packed_write",
            (Access::Write, Width::Quad, _) => "packed_write_quad",
        })
    }

    /// Whether the binding is declared read-only.
    pub(crate) fn read_only(&self) -> bool {
        self.access == Access::Read
    }
}
