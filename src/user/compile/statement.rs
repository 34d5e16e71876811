//! Functions, blocks and control flow.

use naga::{Block, Expression, Function, Handle, Statement, SwitchCase, SwitchValue};

use super::super::program::Op;
use super::{Compiler, Frame, MAX_CALLS, MAX_DEPTH, Operand, Value};
use crate::error::Result;

impl<'a> Compiler<'a> {
    /// Compiles a whole function to run from here on.
    pub(super) fn function(
        &mut self,
        handle: Handle<Function>,
        function: &'a Function,
        arguments: Vec<Operand>,
        result: Option<Value>,
    ) -> Result<()> {
        let mut frame = Frame {
            function,
            info: &self.user.info[handle],
            arguments,
            locals: Vec::with_capacity(function.local_variables.len()),
            operands: vec![None; function.expressions.len()],
            result,
            returns: Vec::new(),
            breaks: Vec::new(),
            continues: Vec::new(),
        };
        for (local, variable) in function.local_variables.iter() {
            self.span = function.local_variables.get_span(local);
            let place = self.allocate(self.user.layouts.words(variable.ty))?;
            match variable.init {
                Some(init) => {
                    let value = self.value(&mut frame, init)?;
                    self.copy(place.base, value)?;
                }
                None => {
                    self.emit(Op::Zero, place.base, 0, 0, place.words, place.words)?;
                }
            }
            frame.locals.push(place.base);
        }
        self.block(&mut frame, &function.body, true)?;
        self.land(std::mem::take(&mut frame.returns));
        Ok(())
    }

    /// Compiles a block. `last` says that nothing of the function follows it,
    /// so that a return needs no jump.
    fn block(&mut self, frame: &mut Frame<'a>, block: &'a Block, last: bool) -> Result<()> {
        let free = self.bottom;
        self.open_block(frame, block, last)?;
        self.bottom = free;
        Ok(())
    }

    /// Compiles a block whose expressions stay in scope.
    fn open_block(&mut self, frame: &mut Frame<'a>, block: &'a Block, last: bool) -> Result<()> {
        self.deeper()?;
        for (index, (statement, &span)) in block.span_iter().enumerate() {
            self.span = span;
            self.statement(frame, statement, last && index + 1 == block.len())?;
        }
        self.depth -= 1;
        Ok(())
    }

    fn deeper(&mut self) -> Result<()> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(self.error(format!(
                "blocks and calls are nested more than {MAX_DEPTH} deep"
            )));
        }
        Ok(())
    }

    fn statement(
        &mut self,
        frame: &mut Frame<'a>,
        statement: &'a Statement,
        last: bool,
    ) -> Result<()> {
        match statement {
            Statement::Emit(range) => {
                for handle in range.clone() {
                    self.span = frame.function.expressions.get_span(handle);
                    let operand = self.expression(frame, handle)?;
                    frame.operands[handle.index()] = Some(operand);
                }
            }
            Statement::Block(block) => self.block(frame, block, last)?,
            Statement::If {
                condition,
                accept,
                reject,
            } => self.branch(frame, *condition, accept, reject, last)?,
            Statement::Switch { selector, cases } => self.switch(frame, *selector, cases, last)?,
            Statement::Loop {
                body,
                continuing,
                break_if,
            } => self.repeat(frame, body, continuing, *break_if)?,
            Statement::Break => {
                let jump = self.jump(Op::Jump, 0)?;
                match frame.breaks.last_mut() {
                    Some(breaks) => breaks.push(jump),
                    None => return Err(self.unsupported("`break` here")),
                }
            }
            Statement::Continue => {
                let jump = self.jump(Op::Jump, 0)?;
                match frame.continues.last_mut() {
                    Some(continues) => continues.push(jump),
                    None => return Err(self.unsupported("`continue` here")),
                }
            }
            Statement::Return { value } => {
                if let (Some(value), Some(result)) = (*value, frame.result) {
                    let value = self.value(frame, value)?;
                    self.copy(result.base, value)?;
                }
                if !last {
                    let jump = self.jump(Op::Jump, 0)?;
                    frame.returns.push(jump);
                }
            }
            Statement::Store { pointer, value } => {
                let value = self.value(frame, *value)?;
                match self.operand(frame, *pointer)? {
                    Operand::Place { base, offset: None } => self.copy(base, value)?,
                    Operand::Place {
                        base,
                        offset: Some(offset),
                    } => {
                        let words = value.words;
                        self.emit(Op::StoreAt, base, value.base, offset, words, words)?;
                    }
                    Operand::Value(_) => return Err(self.unsupported("this assignment")),
                }
            }
            Statement::Call {
                function,
                arguments,
                result,
            } => self.inline(frame, *function, arguments, *result)?,
            _ => return Err(self.unsupported("this statement")),
        }
        Ok(())
    }

    fn branch(
        &mut self,
        frame: &mut Frame<'a>,
        condition: Handle<Expression>,
        accept: &'a Block,
        reject: &'a Block,
        last: bool,
    ) -> Result<()> {
        let condition = self.value(frame, condition)?;
        let otherwise = self.jump(Op::JumpUnless, condition.base)?;
        self.block(frame, accept, last)?;
        if reject.is_empty() {
            self.land([otherwise]);
            return Ok(());
        }
        let end = self.jump(Op::Jump, 0)?;
        self.land([otherwise]);
        self.block(frame, reject, last)?;
        self.land([end]);
        Ok(())
    }

    fn switch(
        &mut self,
        frame: &mut Frame<'a>,
        selector: Handle<Expression>,
        cases: &'a [SwitchCase],
        last: bool,
    ) -> Result<()> {
        let selector = self.value(frame, selector)?;
        let mut entries: Vec<Option<usize>> = Vec::with_capacity(cases.len());
        for case in cases {
            let word = match case.value {
                SwitchValue::I32(value) => value as u32,
                SwitchValue::U32(value) => value,
                SwitchValue::Default => {
                    entries.push(None);
                    continue;
                }
            };
            let word = self.uint(word)?;
            entries.push(Some(self.emit(
                Op::JumpEqual,
                0,
                selector.base,
                word.base,
                0,
                1,
            )?));
        }
        let mut default = Some(self.jump(Op::Jump, 0)?);
        frame.breaks.push(Vec::new());
        for (case, entry) in cases.iter().zip(entries) {
            match entry {
                Some(entry) => self.land([entry]),
                None => self.land(default.take()),
            }
            self.block(frame, &case.body, last && !case.fall_through)?;
            if !case.fall_through {
                let end = self.jump(Op::Jump, 0)?;
                if let Some(breaks) = frame.breaks.last_mut() {
                    breaks.push(end);
                }
            }
        }
        self.land(frame.breaks.pop().unwrap_or_default());
        self.land(default);
        Ok(())
    }

    fn repeat(
        &mut self,
        frame: &mut Frame<'a>,
        body: &'a Block,
        continuing: &'a Block,
        break_if: Option<Handle<Expression>>,
    ) -> Result<()> {
        let number = u16::try_from(self.loops.len())
            .map_err(|_| self.error("the function has too many loops"))?;
        self.loops.push(self.span);
        let free = self.bottom;
        let start = self.here();
        let cost_before = self.cost;
        frame.breaks.push(Vec::new());
        frame.continues.push(Vec::new());
        // `continuing` sees what `body` declares.
        self.open_block(frame, body, false)?;
        self.land(frame.continues.pop().unwrap_or_default());
        self.open_block(frame, continuing, false)?;
        if let Some(condition) = break_if {
            let condition = self.value(frame, condition)?;
            let out = self.jump(Op::JumpIf, condition.base)?;
            if let Some(breaks) = frame.breaks.last_mut() {
                breaks.push(out);
            }
        }
        // An iteration is charged for all branches, of which it takes some.
        let cost = self.cost - cost_before + 1;
        let (low, high) = (cost as u16, (cost >> 16) as u16);
        self.emit(Op::Repeat, number, low, high, start, 1)?;
        self.land(frame.breaks.pop().unwrap_or_default());
        self.bottom = free;
        Ok(())
    }

    fn inline(
        &mut self,
        frame: &mut Frame<'a>,
        callee: Handle<Function>,
        arguments: &[Handle<Expression>],
        result: Option<Handle<Expression>>,
    ) -> Result<()> {
        self.calls += 1;
        if self.calls > MAX_CALLS {
            return Err(self.error(format!("more than {MAX_CALLS} calls to inline")));
        }
        self.deeper()?;
        let function = &self.user.module.functions[callee];
        let arguments = arguments
            .iter()
            .map(|&argument| self.operand(frame, argument))
            .collect::<Result<Vec<_>>>()?;
        let place = match &function.result {
            Some(result) => Some(self.allocate(self.user.layouts.words(result.ty))?),
            None => None,
        };
        let free = self.bottom;
        self.function(callee, function, arguments, place)?;
        self.bottom = free;
        if let (Some(result), Some(place)) = (result, place) {
            frame.operands[result.index()] = Some(Operand::Value(place));
        }
        self.depth -= 1;
        Ok(())
    }
}
