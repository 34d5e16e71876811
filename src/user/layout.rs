//! How values lie in 32-bit words, and which types operators may use.

use naga::{AddressSpace, ArraySize, Handle, Module, ScalarKind, TypeInner};

use super::types::{ScalarType, Type};

/// The most words of a value, so that a word's index fits 16 bits.
pub(super) const MAX_WORDS: u32 = u16::MAX as u32;
/// WGSL's own limit on the nesting of composite types.
const MAX_TYPE_NESTING: u32 = 15;

/// The number of words of every type of a module.
#[derive(Debug)]
pub(super) struct Layouts {
    words: Vec<u32>,
}

impl Layouts {
    /// # Errors
    /// What is wrong with the first type that operators may not use, and the
    /// type itself.
    pub fn new(module: &Module) -> Result<Layouts, (Handle<naga::Type>, String)> {
        let mut words: Vec<u32> = Vec::with_capacity(module.types.len());
        let mut nesting: Vec<u32> = Vec::with_capacity(module.types.len());
        // A type comes after those that it is made of.
        for (handle, ty) in module.types.iter() {
            let of = |table: &[u32], handle: Handle<naga::Type>| {
                table.get(handle.index()).copied().unwrap_or(0)
            };
            let (size, depth) = match &ty.inner {
                &TypeInner::Scalar(scalar) => {
                    scalar_type(scalar).map_err(|problem| (handle, problem))?;
                    (1, 0)
                }
                &TypeInner::Vector { size, scalar } => {
                    scalar_type(scalar).map_err(|problem| (handle, problem))?;
                    (size as u32, 1)
                }
                &TypeInner::Matrix {
                    columns,
                    rows,
                    scalar,
                } => {
                    scalar_type(scalar).map_err(|problem| (handle, problem))?;
                    (columns as u32 * rows as u32, 2)
                }
                &TypeInner::Array {
                    base,
                    size: ArraySize::Constant(length),
                    ..
                } => (
                    of(&words, base).saturating_mul(length.get()),
                    of(&nesting, base) + 1,
                ),
                TypeInner::Struct { members, .. } => {
                    members.iter().fold((0u32, 1), |(size, depth), member| {
                        (
                            size.saturating_add(of(&words, member.ty)),
                            depth.max(of(&nesting, member.ty) + 1),
                        )
                    })
                }
                &TypeInner::Pointer {
                    space: AddressSpace::Function,
                    ..
                }
                | &TypeInner::ValuePointer {
                    space: AddressSpace::Function,
                    ..
                } => (0, 0),
                other => return Err((handle, refusal(other))),
            };
            if size > MAX_WORDS {
                return Err((
                    handle,
                    format!("a type of {size} words; operators may use {MAX_WORDS}"),
                ));
            }
            if depth > MAX_TYPE_NESTING {
                return Err((
                    handle,
                    format!("a type nested more than {MAX_TYPE_NESTING} deep"),
                ));
            }
            words.push(size);
            nesting.push(depth);
        }
        Ok(Layouts { words })
    }

    /// The words of a value of a type of the module.
    pub fn words(&self, ty: Handle<naga::Type>) -> u32 {
        self.words.get(ty.index()).copied().unwrap_or(0)
    }

    /// The words of a value of a type that need not be in the module.
    pub fn words_of(&self, ty: &TypeInner) -> u32 {
        match ty {
            TypeInner::Scalar(_) => 1,
            &TypeInner::Vector { size, .. } => size as u32,
            &TypeInner::Matrix { columns, rows, .. } => columns as u32 * rows as u32,
            &TypeInner::Array {
                base,
                size: ArraySize::Constant(length),
                ..
            } => self.words(base).saturating_mul(length.get()),
            TypeInner::Struct { members, .. } => members
                .iter()
                .fold(0, |sum, member| sum.saturating_add(self.words(member.ty))),
            _ => 0,
        }
    }
}

/// The scalar type, or why operators may not use it.
fn scalar_type(scalar: naga::Scalar) -> Result<ScalarType, String> {
    match (scalar.kind, scalar.width) {
        (ScalarKind::Float, 4) => Ok(ScalarType::F32),
        (ScalarKind::Sint, 4) => Ok(ScalarType::I32),
        (ScalarKind::Uint, 4) => Ok(ScalarType::U32),
        (ScalarKind::Bool, _) => Ok(ScalarType::Bool),
        (kind, width) => {
            let letter = match kind {
                ScalarKind::Float | ScalarKind::AbstractFloat => 'f',
                ScalarKind::Uint => 'u',
                _ => 'i',
            };
            Err(format!(
                "the type {letter}{} is not for operators; use f32, i32, u32 or bool",
                width as u32 * 8
            ))
        }
    }
}

fn refusal(ty: &TypeInner) -> String {
    let what = match ty {
        TypeInner::Atomic(_) => "atomics are",
        TypeInner::Pointer { .. } | TypeInner::ValuePointer { .. } => {
            "pointers to anything but variables of functions are"
        }
        TypeInner::Array { .. } => "arrays whose length is not constant are",
        TypeInner::Image { .. } | TypeInner::Sampler { .. } | TypeInner::BindingArray { .. } => {
            "textures and samplers are"
        }
        TypeInner::AccelerationStructure { .. } | TypeInner::RayQuery { .. } => "rays are",
        TypeInner::CooperativeMatrix { .. } => "cooperative matrices are",
        _ => "this type is",
    };
    format!("{what} not for operators")
}

/// A type of the module as users of this crate see it; `None` for types that
/// [`Layouts::new`] refuses.
pub(super) fn describe(module: &Module, ty: Handle<naga::Type>) -> Option<Type> {
    let ty = module.types.get_handle(ty).ok()?;
    Some(match &ty.inner {
        &TypeInner::Scalar(scalar) => Type::Scalar(scalar_type(scalar).ok()?),
        &TypeInner::Vector { size, scalar } => Type::Vector(size as u8, scalar_type(scalar).ok()?),
        &TypeInner::Matrix { columns, rows, .. } => Type::Matrix {
            columns: columns as u8,
            rows: rows as u8,
        },
        &TypeInner::Array {
            base,
            size: ArraySize::Constant(length),
            ..
        } => Type::Array(Box::new(describe(module, base)?), length.get()),
        TypeInner::Struct { members, .. } => Type::Struct {
            name: ty.name.clone().unwrap_or_default(),
            fields: members
                .iter()
                .map(|member| {
                    Some((
                        member.name.clone().unwrap_or_default(),
                        describe(module, member.ty)?,
                    ))
                })
                .collect::<Option<_>>()?,
        },
        &TypeInner::Pointer { base, .. } => Type::Pointer(Box::new(describe(module, base)?)),
        &TypeInner::ValuePointer {
            size: Some(size),
            scalar,
            ..
        } => Type::Pointer(Box::new(Type::Vector(
            size as u8,
            scalar_type(scalar).ok()?,
        ))),
        &TypeInner::ValuePointer {
            size: None, scalar, ..
        } => Type::Pointer(Box::new(Type::Scalar(scalar_type(scalar).ok()?))),
        _ => return None,
    })
}
