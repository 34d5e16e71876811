//! From naga's IR to a register program.
//!
//! Values take as many consecutive registers as they have words. Calls are
//! inlined, so that pointers are known while compiling but for the elements
//! that they were indexed with. Registers of a block are free again after it:
//! naga's expressions do not outlive the block that evaluates them.

mod expression;
mod math;
mod matrix;
mod packing;
mod statement;

use std::collections::HashMap;

use naga::valid::FunctionInfo;
use naga::{Arena, Expression, Function, Handle, Literal, Span, TypeInner};

use super::parse::UserModule;
use super::program::{Instruction, MAX_CODE, Op, Program, REGISTERS, STEP_LIMIT};
use super::scalar::{Binary, Ternary, Unary};
use crate::error::{Error, Result};

/// The deepest nesting of blocks and calls that is compiled.
const MAX_DEPTH: usize = 640;
/// The most calls that are inlined: a function may emit nothing and still be
/// called exponentially often.
const MAX_CALLS: usize = 1 << 16;

/// Consecutive registers that hold a value.
#[derive(Debug, Clone, Copy)]
struct Value {
    base: u16,
    words: u16,
}

/// What an expression stands for.
#[derive(Debug, Clone, Copy)]
enum Operand {
    Value(Value),
    /// A variable, or a part of one: its first register, and the register
    /// that holds the words to skip from there.
    Place {
        base: u16,
        offset: Option<u16>,
    },
}

/// A function that is being compiled into its caller.
struct Frame<'a> {
    function: &'a Function,
    info: &'a FunctionInfo,
    arguments: Vec<Operand>,
    /// The first register of each local variable.
    locals: Vec<u16>,
    operands: Vec<Option<Operand>>,
    /// Where the result goes, if there is one.
    result: Option<Value>,
    /// Jumps to the end of the function, whose target is not known yet.
    returns: Vec<usize>,
    /// The same for each loop and switch around the current statement.
    breaks: Vec<Vec<usize>>,
    /// The same for the `continuing` of each loop around the current statement.
    continues: Vec<Vec<usize>>,
}

struct Compiler<'a> {
    user: &'a UserModule,
    code: Vec<Instruction>,
    /// The words that all instructions so far write, if each runs once.
    cost: u32,
    /// The next free register.
    bottom: usize,
    /// The most that `bottom` has been.
    high_water: usize,
    /// Constants by register, from the last register downwards.
    constants: Vec<u32>,
    known_constants: HashMap<Vec<u32>, Value>,
    known_zeros: HashMap<u16, Value>,
    known_globals: HashMap<Handle<naga::Constant>, Value>,
    loops: Vec<Span>,
    depth: usize,
    calls: usize,
    /// What is being compiled, for errors.
    span: Span,
}

/// Compiles a function of `user`.
pub(super) fn compile(user: &UserModule, handle: Handle<Function>) -> Result<Program> {
    let function = user
        .module
        .functions
        .try_get(handle)
        .map_err(|_| user.source.error_at(0, "no such function"))?;
    let span = user.module.functions.get_span(handle);
    let mut compiler = Compiler {
        user,
        code: Vec::new(),
        cost: 0,
        bottom: 0,
        high_water: 0,
        constants: Vec::new(),
        known_constants: HashMap::new(),
        known_zeros: HashMap::new(),
        known_globals: HashMap::new(),
        loops: Vec::new(),
        depth: 0,
        calls: 0,
        span,
    };
    let mut arguments = Vec::new();
    for argument in &function.arguments {
        if let TypeInner::Pointer { .. } | TypeInner::ValuePointer { .. } =
            user.module.types[argument.ty].inner
        {
            return Err(compiler.error("an operator may not take pointers"));
        }
        let words = user.layouts.words(argument.ty);
        arguments.push(Operand::Value(compiler.allocate(words)?));
    }
    let argument_words = compiler.bottom;
    let result = match &function.result {
        Some(result) => Some(compiler.allocate(user.layouts.words(result.ty))?),
        None => None,
    };
    compiler.function(handle, function, arguments, result)?;
    Ok(Program {
        id: Program::fresh_id(),
        code: compiler.code,
        constants: compiler.constants,
        loops: compiler.loops,
        argument_words,
        result: result.map_or(0, |value| value.base),
        result_words: result.map_or(0, |value| value.words as usize),
    })
}

impl Value {
    /// The register of a component; of the value itself when it is a scalar,
    /// which stands for all components alike.
    fn at(self, index: u16) -> u16 {
        match self.words {
            1 => self.base,
            _ => self.base.wrapping_add(index),
        }
    }

    /// The words from `start` on.
    fn slice(self, start: u16, words: u16) -> Value {
        Value {
            base: self.base.wrapping_add(start),
            words,
        }
    }
}

impl Compiler<'_> {
    fn error(&self, message: impl Into<String>) -> Error {
        self.user.source.error(self.span, message)
    }

    /// An error for IR that naga's validator does not let pass.
    fn unsupported(&self, what: &str) -> Error {
        self.error(format!("{what}: not supported in operators"))
    }

    fn allocate(&mut self, words: u32) -> Result<Value> {
        let base = self.bottom;
        let end = base.saturating_add(words as usize);
        if end > REGISTERS - self.constants.len() {
            return Err(self.out_of_registers());
        }
        self.bottom = end;
        self.high_water = self.high_water.max(end);
        match (u16::try_from(base), u16::try_from(words)) {
            (Ok(base), Ok(words)) => Ok(Value { base, words }),
            _ => Err(self.out_of_registers()),
        }
    }

    fn out_of_registers(&self) -> Error {
        self.error(format!(
            "the function needs more than {REGISTERS} words of variables and intermediate values"
        ))
    }

    /// A value that is there before the program starts.
    fn constant(&mut self, words: &[u32]) -> Result<Value> {
        if let Some(&known) = self.known_constants.get(words) {
            return Ok(known);
        }
        let taken = self.constants.len() + words.len();
        if taken > REGISTERS - self.high_water {
            return Err(self.out_of_registers());
        }
        let (Ok(base), Ok(length)) = (u16::try_from(REGISTERS - taken), u16::try_from(words.len()))
        else {
            return Err(self.out_of_registers());
        };
        self.constants.extend(words.iter().rev());
        let value = Value {
            base,
            words: length,
        };
        self.known_constants.insert(words.to_vec(), value);
        Ok(value)
    }

    fn zeros(&mut self, words: u16) -> Result<Value> {
        if let Some(&known) = self.known_zeros.get(&words) {
            return Ok(known);
        }
        let value = self.constant(&vec![0; words as usize])?;
        self.known_zeros.insert(words, value);
        Ok(value)
    }

    fn uint(&mut self, value: u32) -> Result<Value> {
        self.constant(&[value])
    }

    fn float(&mut self, value: f32) -> Result<Value> {
        self.constant(&[value.to_bits()])
    }

    /// The word in a register, when that is known already.
    fn constant_word(&self, register: u16) -> Option<u32> {
        self.constants
            .get(REGISTERS - 1 - register as usize)
            .copied()
    }

    /// Appends an instruction that writes `cost` words, and gives its index.
    fn emit(&mut self, op: Op, to: u16, a: u16, b: u16, c: u16, cost: u16) -> Result<usize> {
        self.cost = self.cost.saturating_add(cost.max(1) as u32);
        // The last index stays free, as the target of jumps to the end.
        if self.code.len() + 1 >= MAX_CODE || self.cost > STEP_LIMIT {
            return Err(self.error(format!(
                "the function is too long: with its calls inlined it has more than {MAX_CODE} steps, or copies too much"
            )));
        }
        self.code.push(Instruction { op, to, a, b, c });
        Ok(self.code.len() - 1)
    }

    /// The index of the next instruction.
    fn here(&self) -> u16 {
        // `emit` keeps the code within `MAX_CODE`.
        self.code.len() as u16
    }

    /// Emits a jump (`op` on register `a`) whose target comes later.
    fn jump(&mut self, op: Op, a: u16) -> Result<usize> {
        self.emit(op, 0, a, 0, 0, 1)
    }

    /// Makes jumps lead here.
    fn land(&mut self, jumps: impl IntoIterator<Item = usize>) {
        let here = self.here();
        for jump in jumps {
            if let Some(instruction) = self.code.get_mut(jump) {
                instruction.c = here;
            }
        }
    }

    fn copy(&mut self, to: u16, from: Value) -> Result<()> {
        match from.words {
            0 => {}
            1 => {
                self.emit(Op::Move, to, from.base, 0, 0, 1)?;
            }
            words => {
                self.emit(Op::Copy, to, from.base, 0, words, words)?;
            }
        }
        Ok(())
    }

    fn unary(&mut self, op: Unary, a: Value) -> Result<Value> {
        let to = self.allocate(a.words as u32)?;
        for i in 0..to.words {
            self.emit(Op::Unary(op), to.at(i), a.at(i), 0, 0, 1)?;
        }
        Ok(to)
    }

    /// By component; a scalar goes with every component of the other.
    fn binary(&mut self, op: Binary, a: Value, b: Value) -> Result<Value> {
        let to = self.allocate(a.words.max(b.words) as u32)?;
        for i in 0..to.words {
            self.emit(Op::Binary(op), to.at(i), a.at(i), b.at(i), 0, 1)?;
        }
        Ok(to)
    }

    /// By component; a scalar goes with every component of the others.
    fn ternary(&mut self, op: Ternary, a: Value, b: Value, c: Value) -> Result<Value> {
        let to = self.allocate(a.words.max(b.words).max(c.words) as u32)?;
        for i in 0..to.words {
            self.emit(Op::Ternary(op), to.at(i), a.at(i), b.at(i), c.at(i), 1)?;
        }
        Ok(to)
    }

    /// The words of several values, one after the other. Emits nothing when
    /// they lie like that already, or are all constants.
    fn gather(&mut self, parts: &[Value]) -> Result<Value> {
        let words: u32 = parts.iter().map(|part| part.words as u32).sum();
        let Some(&first) = parts.first() else {
            return self.allocate(0);
        };
        let adjacent = parts
            .windows(2)
            .all(|pair| pair[0].base as usize + pair[0].words as usize == pair[1].base as usize);
        if adjacent {
            return match u16::try_from(words) {
                Ok(words) => Ok(Value {
                    base: first.base,
                    words,
                }),
                Err(_) => Err(self.out_of_registers()),
            };
        }
        let known: Option<Vec<u32>> = parts
            .iter()
            .flat_map(|part| (0..part.words).map(|i| self.constant_word(part.at(i))))
            .collect();
        if let Some(known) = known {
            return self.constant(&known);
        }
        let to = self.allocate(words)?;
        let mut at = to.base;
        for &part in parts {
            self.copy(at, part)?;
            at = at.wrapping_add(part.words);
        }
        Ok(to)
    }

    /// The words of a constant expression.
    fn constant_words(
        &self,
        arena: &Arena<Expression>,
        expression: Handle<Expression>,
        words: &mut Vec<u32>,
    ) -> Result<()> {
        match &arena[expression] {
            Expression::Literal(literal) => words.push(match *literal {
                Literal::F32(value) => value.to_bits(),
                Literal::I32(value) => value as u32,
                Literal::U32(value) => value,
                Literal::Bool(value) => value as u32,
                _ => return Err(self.unsupported("literals that are not f32, i32, u32 or bool")),
            }),
            &Expression::Constant(constant) => {
                let init = self.user.module.constants[constant].init;
                self.constant_words(&self.user.module.global_expressions, init, words)?;
            }
            &Expression::ZeroValue(ty) => {
                let count = self.user.layouts.words(ty) as usize;
                words.resize(words.len() + count, 0);
            }
            Expression::Compose { components, .. } => {
                for &component in components {
                    self.constant_words(arena, component, words)?;
                }
            }
            &Expression::Splat { size, value } => {
                let start = words.len();
                self.constant_words(arena, value, words)?;
                let part = words[start..].to_vec();
                for _ in 1..size as u8 {
                    words.extend_from_slice(&part);
                }
            }
            _ => return Err(self.unsupported("this constant expression")),
        }
        Ok(())
    }
}
