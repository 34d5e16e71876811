//! Expressions but for the built-in functions.

use naga::{
    ArraySize, BinaryOperator, Expression, Handle, RelationalFunction, ScalarKind,
    SwizzleComponent, TypeInner, UnaryOperator,
};

use super::super::program::Op;
use super::super::scalar::{Binary, Ternary, Unary};
use super::{Compiler, Frame, Operand, Value};
use crate::error::Result;

impl<'a> Compiler<'a> {
    /// What an expression stands for, once it has been evaluated.
    pub(super) fn operand(
        &mut self,
        frame: &mut Frame<'a>,
        handle: Handle<Expression>,
    ) -> Result<Operand> {
        if let Some(Some(operand)) = frame.operands.get(handle.index()) {
            return Ok(*operand);
        }
        // naga does not emit these: they are there from the start.
        let operand = match frame.function.expressions[handle] {
            Expression::FunctionArgument(index) => frame.arguments.get(index as usize).copied(),
            Expression::LocalVariable(local) => frame
                .locals
                .get(local.index())
                .map(|&base| Operand::Place { base, offset: None }),
            _ => Some(Operand::Value(self.constant_expression(frame, handle)?)),
        };
        let Some(operand) = operand else {
            return Err(self.unsupported("this expression"));
        };
        frame.operands[handle.index()] = Some(operand);
        Ok(operand)
    }

    fn constant_expression(
        &mut self,
        frame: &Frame<'a>,
        handle: Handle<Expression>,
    ) -> Result<Value> {
        let arena = &frame.function.expressions;
        let mut words = Vec::new();
        match arena[handle] {
            Expression::ZeroValue(ty) => {
                return match u16::try_from(self.user.layouts.words(ty)) {
                    Ok(words) => self.zeros(words),
                    Err(_) => Err(self.unsupported("a value of this size")),
                };
            }
            Expression::Constant(constant) => {
                if let Some(&known) = self.known_globals.get(&constant) {
                    return Ok(known);
                }
                self.constant_words(arena, handle, &mut words)?;
                let value = self.constant(&words)?;
                self.known_globals.insert(constant, value);
                return Ok(value);
            }
            _ => self.constant_words(arena, handle, &mut words)?,
        }
        self.constant(&words)
    }

    /// The registers of a value.
    pub(super) fn value(
        &mut self,
        frame: &mut Frame<'a>,
        handle: Handle<Expression>,
    ) -> Result<Value> {
        match self.operand(frame, handle)? {
            Operand::Value(value) => Ok(value),
            Operand::Place { .. } => Err(self.unsupported("a pointer used as a value")),
        }
    }

    pub(super) fn ty(&self, frame: &Frame<'a>, handle: Handle<Expression>) -> &'a TypeInner {
        frame.info[handle].ty.inner_with(&self.user.module.types)
    }

    pub(super) fn kind(&self, frame: &Frame<'a>, handle: Handle<Expression>) -> Result<ScalarKind> {
        self.ty(frame, handle)
            .scalar_kind()
            .ok_or_else(|| self.unsupported("this operand"))
    }

    /// Evaluates an expression where naga says so.
    pub(super) fn expression(
        &mut self,
        frame: &mut Frame<'a>,
        handle: Handle<Expression>,
    ) -> Result<Operand> {
        let function = frame.function;
        let value = match function.expressions[handle] {
            Expression::Literal(_)
            | Expression::Constant(_)
            | Expression::ZeroValue(_)
            | Expression::FunctionArgument(_)
            | Expression::LocalVariable(_) => return self.operand(frame, handle),
            Expression::Compose { ref components, .. } => {
                let parts = components
                    .iter()
                    .map(|&component| self.value(frame, component))
                    .collect::<Result<Vec<_>>>()?;
                self.gather(&parts)?
            }
            Expression::Access { base, index } => return self.access(frame, base, index),
            Expression::AccessIndex { base, index } => {
                return self.access_index(frame, base, index);
            }
            Expression::Splat { size, value } => {
                let value = self.value(frame, value)?;
                self.gather(&vec![value; size as usize])?
            }
            Expression::Swizzle {
                size,
                vector,
                ref pattern,
            } => {
                let vector = self.value(frame, vector)?;
                let parts: Vec<Value> = pattern
                    .iter()
                    .take(size as usize)
                    .map(|&component: &SwizzleComponent| vector.slice(component as u16, 1))
                    .collect();
                self.gather(&parts)?
            }
            Expression::Load { pointer } => self.load(frame, handle, pointer)?,
            Expression::Unary { op, expr } => {
                let op = match (op, self.kind(frame, expr)?) {
                    (UnaryOperator::Negate, ScalarKind::Float) => Unary::NegF,
                    (UnaryOperator::Negate, _) => Unary::NegI,
                    (UnaryOperator::LogicalNot, _) => Unary::NotBool,
                    (UnaryOperator::BitwiseNot, _) => Unary::NotBits,
                };
                let value = self.value(frame, expr)?;
                self.unary(op, value)?
            }
            Expression::Binary { op, left, right } => self.operator(frame, op, left, right)?,
            Expression::Select {
                condition,
                accept,
                reject,
            } => {
                let condition = self.value(frame, condition)?;
                let accept = self.value(frame, accept)?;
                let reject = self.value(frame, reject)?;
                self.ternary(Ternary::Select, condition, accept, reject)?
            }
            Expression::Relational { fun, argument } => {
                let argument = self.value(frame, argument)?;
                match fun {
                    RelationalFunction::All => self.fold(Binary::And, argument)?,
                    RelationalFunction::Any => self.fold(Binary::Or, argument)?,
                    _ => return Err(self.unsupported("isNan and isInf")),
                }
            }
            Expression::Math {
                fun,
                arg,
                arg1,
                arg2,
                arg3,
            } => {
                let handles = [Some(arg), arg1, arg2, arg3];
                let arguments = handles
                    .into_iter()
                    .flatten()
                    .map(|argument| self.value(frame, argument))
                    .collect::<Result<Vec<_>>>()?;
                let ty = self.ty(frame, arg);
                self.math(fun, ty, &arguments)?
            }
            Expression::As {
                expr,
                kind,
                convert,
            } => {
                let value = self.value(frame, expr)?;
                match convert {
                    Some(_) => {
                        let from = self.kind(frame, expr)?;
                        self.convert(from, kind, value)?
                    }
                    // Registers hold bits, whatever their type.
                    None => value,
                }
            }
            _ => return Err(self.unsupported("this expression")),
        };
        Ok(Operand::Value(value))
    }

    /// The components of a value, brought together by an operation.
    pub(super) fn fold(&mut self, op: Binary, value: Value) -> Result<Value> {
        let mut result = value.slice(0, 1);
        for i in 1..value.words {
            result = self.binary(op, result, value.slice(i, 1))?;
        }
        Ok(result)
    }

    fn load(
        &mut self,
        frame: &mut Frame<'a>,
        handle: Handle<Expression>,
        pointer: Handle<Expression>,
    ) -> Result<Value> {
        let words = self.user.layouts.words_of(self.ty(frame, handle));
        match self.operand(frame, pointer)? {
            Operand::Place { base, offset } => {
                let to = self.allocate(words)?;
                let from = Value {
                    base,
                    words: to.words,
                };
                match offset {
                    None => self.copy(to.base, from)?,
                    Some(offset) => {
                        self.emit(Op::LoadAt, to.base, base, offset, to.words, to.words)?;
                    }
                }
                Ok(to)
            }
            Operand::Value(_) => Err(self.unsupported("a load from this")),
        }
    }

    /// The type that is indexed: the one pointed to, if it is a pointer.
    fn indexed(&self, frame: &Frame<'a>, base: Handle<Expression>) -> TypeInner {
        match *self.ty(frame, base) {
            TypeInner::Pointer { base, .. } => self.user.module.types[base].inner.clone(),
            TypeInner::ValuePointer {
                size: Some(size),
                scalar,
                ..
            } => TypeInner::Vector { size, scalar },
            ref other => other.clone(),
        }
    }

    /// The words of an element, and how many elements there are.
    fn elements(&self, ty: &TypeInner) -> Option<(u16, u16)> {
        let (words, count) = match *ty {
            TypeInner::Vector { size, .. } => (1, size as u32),
            TypeInner::Matrix { columns, rows, .. } => (rows as u32, columns as u32),
            TypeInner::Array {
                base,
                size: ArraySize::Constant(length),
                ..
            } => (self.user.layouts.words(base), length.get()),
            _ => return None,
        };
        Some((u16::try_from(words).ok()?, u16::try_from(count).ok()?))
    }

    fn access(
        &mut self,
        frame: &mut Frame<'a>,
        base: Handle<Expression>,
        index: Handle<Expression>,
    ) -> Result<Operand> {
        let Some((words, count)) = self.elements(&self.indexed(frame, base)) else {
            return Err(self.unsupported("this index"));
        };
        let index = self.value(frame, index)?;
        let offset = self.allocate(1)?;
        // naga's own policy for indices out of bounds: the last element.
        let last = count.saturating_sub(1);
        self.emit(Op::Index, offset.base, index.base, last, words, 1)?;
        Ok(match self.operand(frame, base)? {
            Operand::Value(value) => {
                let to = self.allocate(words as u32)?;
                self.emit(Op::LoadAt, to.base, value.base, offset.base, words, words)?;
                Operand::Value(to)
            }
            Operand::Place {
                base,
                offset: outer,
            } => {
                let offset = match outer {
                    None => offset,
                    Some(outer) => {
                        let outer = Value {
                            base: outer,
                            words: 1,
                        };
                        self.binary(Binary::AddI, outer, offset)?
                    }
                };
                Operand::Place {
                    base,
                    offset: Some(offset.base),
                }
            }
        })
    }

    fn access_index(
        &mut self,
        frame: &mut Frame<'a>,
        base: Handle<Expression>,
        index: u32,
    ) -> Result<Operand> {
        let ty = self.indexed(frame, base);
        let part = match &ty {
            TypeInner::Struct { members, .. } => {
                let before = members
                    .iter()
                    .take(index as usize)
                    .map(|member| self.user.layouts.words(member.ty))
                    .sum::<u32>();
                members
                    .get(index as usize)
                    .map(|member| (before, self.user.layouts.words(member.ty)))
            }
            other => self
                .elements(other)
                .map(|(words, _)| (words as u32 * index, words as u32)),
        };
        let part = part.and_then(|(start, words)| {
            Some((u16::try_from(start).ok()?, u16::try_from(words).ok()?))
        });
        let Some((start, words)) = part else {
            return Err(self.unsupported("this index"));
        };
        Ok(match self.operand(frame, base)? {
            Operand::Value(value) => Operand::Value(value.slice(start, words)),
            Operand::Place { base, offset } => Operand::Place {
                base: base.wrapping_add(start),
                offset,
            },
        })
    }

    fn operator(
        &mut self,
        frame: &mut Frame<'a>,
        op: BinaryOperator,
        left: Handle<Expression>,
        right: Handle<Expression>,
    ) -> Result<Value> {
        use BinaryOperator as B;
        let kind = self.kind(frame, left)?;
        let (left_ty, right_ty) = (self.ty(frame, left), self.ty(frame, right));
        let left = self.value(frame, left)?;
        let right = self.value(frame, right)?;
        if op == B::Multiply
            && let Some(product) = self.matrix_product(left_ty, right_ty, left, right)?
        {
            return Ok(product);
        }
        let by_kind = |float, int, uint| match kind {
            ScalarKind::Float => float,
            ScalarKind::Sint => int,
            _ => uint,
        };
        let op = match op {
            B::Add => by_kind(Binary::AddF, Binary::AddI, Binary::AddI),
            B::Subtract => by_kind(Binary::SubF, Binary::SubI, Binary::SubI),
            B::Multiply => by_kind(Binary::MulF, Binary::MulI, Binary::MulI),
            B::Divide => by_kind(Binary::DivF, Binary::DivI, Binary::DivU),
            B::Modulo => by_kind(Binary::RemF, Binary::RemI, Binary::RemU),
            B::Equal => by_kind(Binary::EqualF, Binary::Equal, Binary::Equal),
            B::NotEqual => by_kind(Binary::NotEqualF, Binary::NotEqual, Binary::NotEqual),
            B::Less => by_kind(Binary::LessF, Binary::LessI, Binary::LessU),
            B::LessEqual => by_kind(Binary::LessEqualF, Binary::LessEqualI, Binary::LessEqualU),
            B::Greater => {
                let less = by_kind(Binary::LessF, Binary::LessI, Binary::LessU);
                return self.binary(less, right, left);
            }
            B::GreaterEqual => {
                let less = by_kind(Binary::LessEqualF, Binary::LessEqualI, Binary::LessEqualU);
                return self.binary(less, right, left);
            }
            B::And | B::LogicalAnd => Binary::And,
            B::ExclusiveOr => Binary::Xor,
            B::InclusiveOr | B::LogicalOr => Binary::Or,
            B::ShiftLeft => Binary::Shl,
            B::ShiftRight => by_kind(Binary::ShrU, Binary::ShrI, Binary::ShrU),
        };
        self.binary(op, left, right)
    }

    pub(super) fn convert(
        &mut self,
        from: ScalarKind,
        to: ScalarKind,
        value: Value,
    ) -> Result<Value> {
        use ScalarKind as K;
        let op = match (from, to) {
            (K::Float, K::Sint) => Unary::FloatToInt,
            (K::Float, K::Uint) => Unary::FloatToUint,
            (K::Float, K::Bool) => Unary::FloatToBool,
            (K::Sint, K::Float) => Unary::IntToFloat,
            (K::Uint, K::Float) => Unary::UintToFloat,
            (K::Bool, K::Float) => Unary::BoolToFloat,
            (K::Sint | K::Uint, K::Bool) => Unary::IntToBool,
            // The same type, or integers of the same bits; `bool` is 0 or 1.
            _ => return Ok(value),
        };
        self.unary(op, value)
    }
}
