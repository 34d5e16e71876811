//! From WGSL text to checked functions.

use naga::front::wgsl::Frontend;
use naga::valid::{Capabilities, ModuleInfo, ValidationFlags, Validator};
use naga::{Handle, Module};

use super::check;
use super::explain::{parse_error, place_of_type, validation_error};
use super::layout::{Layouts, describe};
use super::location::Source;
use super::room::with_room;
use super::scan::scan;
use super::types::{Signature, Type};
use crate::error::Result;

/// WGSL text of a user's, parsed, validated and found fit for operators.
#[derive(Debug)]
pub struct UserModule {
    pub(super) source: Source,
    pub(super) module: Module,
    pub(super) info: ModuleInfo,
    pub(super) layouts: Layouts,
    bounded: bool,
}

/// A function of a [`UserModule`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FunctionHandle(pub(super) Handle<naga::Function>);

impl UserModule {
    /// Parses `text`, with the declarations of `prelude` (structs, aliases) in scope.
    ///
    /// # Errors
    /// [`Error::Wgsl`](crate::Error::Wgsl) with line and column (in characters) within `text` when
    /// it is not valid WGSL or holds what operators may not;
    /// [`Error::Limit`](crate::Error::Limit) when it is longer than 1 MiB.
    pub fn parse(text: &str, prelude: &str) -> Result<UserModule> {
        let source = Source::new(text, prelude);
        scan(text, &source)?;
        let (module, info, layouts) = with_room(|| parse_and_validate(&source))
            .unwrap_or_else(|| Err(source.error_at(0, "naga failed on this text")))?;
        Ok(UserModule {
            bounded: check::is_bounded(&module),
            source,
            module,
            info,
            layouts,
        })
    }

    /// The signature of the function `name`, if there is one.
    pub fn signature(&self, name: &str) -> Option<Signature> {
        self.signature_of(self.find(name)?)
    }

    /// The function `name`, when it takes `arguments` and gives `result`.
    ///
    /// # Errors
    /// [`Error::Wgsl`](crate::Error::Wgsl) at the function when its signature is another, and at
    /// line 1 when there is none of this name.
    pub fn require(&self, name: &str, arguments: &[Type], result: &Type) -> Result<FunctionHandle> {
        let wanted = Signature {
            arguments: arguments
                .iter()
                .enumerate()
                .map(|(index, ty)| (argument_name(index), ty.clone()))
                .collect(),
            result: Some(result.clone()),
        };
        let wanted_text = wanted.declaration(name);
        let Some(function) = self.find(name) else {
            return Err(self
                .source
                .error_at(0, format!("there must be a function `{wanted_text}`")));
        };
        let found = self.signature_of(function);
        let fits = found.as_ref().is_some_and(|found| {
            found.result == wanted.result
                && found
                    .arguments
                    .iter()
                    .map(|(_, ty)| ty)
                    .eq(arguments.iter())
        });
        if fits {
            return Ok(FunctionHandle(function));
        }
        let found = found.map_or_else(|| name.into(), |found| found.declaration(name));
        Err(self.source.error(
            self.module.functions.get_span(function),
            format!("there must be a function `{wanted_text}`; this one is `{found}`"),
        ))
    }

    /// Whether no index of the text is computed, and it has no loops and no
    /// pointer arguments, so that kernels which contain it may be compiled
    /// without run-time checks.
    pub fn is_bounded(&self) -> bool {
        self.bounded
    }

    fn find(&self, name: &str) -> Option<Handle<naga::Function>> {
        self.module
            .functions
            .iter()
            .find(|(_, function)| function.name.as_deref() == Some(name))
            .map(|(handle, _)| handle)
    }

    pub(super) fn signature_of(&self, function: Handle<naga::Function>) -> Option<Signature> {
        let function = self.module.functions.try_get(function).ok()?;
        Some(Signature {
            arguments: function
                .arguments
                .iter()
                .map(|argument| {
                    Some((
                        argument.name.clone().unwrap_or_default(),
                        describe(&self.module, argument.ty)?,
                    ))
                })
                .collect::<Option<_>>()?,
            result: match &function.result {
                Some(result) => Some(describe(&self.module, result.ty)?),
                None => None,
            },
        })
    }
}

/// `a`, `b`, ... and `argument26` onwards.
fn argument_name(index: usize) -> String {
    match u8::try_from(index) {
        Ok(index @ 0..26) => char::from(b'a' + index).to_string(),
        _ => format!("argument{index}"),
    }
}

fn parse_and_validate(source: &Source) -> Result<(Module, ModuleInfo, Layouts)> {
    let module = Frontend::new()
        .parse(source.joined())
        .map_err(|error| parse_error(source, &error))?;
    // Before validation, which refuses some of the same with less to say.
    let layouts = Layouts::new(&module)
        .map_err(|(ty, problem)| source.error(place_of_type(&module, ty), problem))?;
    for (_, function) in module.functions.iter() {
        if let Some((span, what)) = check::refused(function) {
            return Err(source.error(span, format!("{what} not for operators")));
        }
    }
    let info = Validator::new(
        ValidationFlags::all(),
        // `pack2x16float` and its like are part of WGSL without extensions.
        Capabilities::SHADER_FLOAT16_IN_FLOAT32,
    )
    .validate(&module)
    .map_err(|error| validation_error(source, &module, &error))?;
    Ok((module, info, layouts))
}
