//! What naga accepts and an operator may not do, and what makes a text safe
//! to compile without run-time checks.

use naga::{Block, Expression, Function, Literal, Module, Span, Statement, TypeInner};

/// The first construct of a function that has no place in an operator: where,
/// and what it is.
pub(super) fn refused(function: &Function) -> Option<(Span, &'static str)> {
    let in_expressions = function
        .expressions
        .iter()
        .find_map(|(handle, expression)| {
            refused_expression(expression).map(|what| (function.expressions.get_span(handle), what))
        });
    in_expressions.or_else(|| refused_in_block(&function.body))
}

fn refused_expression(expression: &Expression) -> Option<&'static str> {
    use Expression as E;
    Some(match expression {
        E::Literal(
            Literal::F64(_)
            | Literal::F16(_)
            | Literal::I16(_)
            | Literal::U16(_)
            | Literal::I64(_)
            | Literal::U64(_),
        )
        | E::As {
            convert: Some(2 | 8),
            ..
        } => "types of 16 and 64 bits are",
        E::Literal(_)
        | E::Constant(_)
        | E::ZeroValue(_)
        | E::Compose { .. }
        | E::Access { .. }
        | E::AccessIndex { .. }
        | E::Splat { .. }
        | E::Swizzle { .. }
        | E::FunctionArgument(_)
        | E::LocalVariable(_)
        | E::Load { .. }
        | E::Unary { .. }
        | E::Binary { .. }
        | E::Select { .. }
        | E::Relational { .. }
        | E::Math { .. }
        | E::As { .. }
        | E::CallResult(_) => return None,
        E::Override(_) => "overrides are",
        E::GlobalVariable(_) | E::ArrayLength(_) | E::WorkGroupUniformLoadResult { .. } => {
            "module-scope variables are"
        }
        E::ImageSample { .. } | E::ImageLoad { .. } | E::ImageQuery { .. } => "textures are",
        E::Derivative { .. } => "derivatives are",
        E::AtomicResult { .. } => "atomics are",
        E::SubgroupBallotResult | E::SubgroupOperationResult { .. } => "subgroup operations are",
        E::RayQueryVertexPositions { .. }
        | E::RayQueryProceedResult
        | E::RayQueryGetIntersection { .. } => "rays are",
        E::CooperativeLoad { .. } | E::CooperativeMultiplyAdd { .. } => "cooperative matrices are",
    })
}

fn refused_in_block(block: &Block) -> Option<(Span, &'static str)> {
    block
        .span_iter()
        .find_map(|(statement, &span)| refused_statement(statement, span))
}

fn refused_statement(statement: &Statement, span: Span) -> Option<(Span, &'static str)> {
    use Statement as S;
    let what = match statement {
        S::Emit(_) | S::Break | S::Continue | S::Return { .. } | S::Store { .. } => return None,
        S::Call { .. } => return None,
        S::Block(block) => return refused_in_block(block),
        S::If { accept, reject, .. } => {
            return refused_in_block(accept).or_else(|| refused_in_block(reject));
        }
        S::Switch { cases, .. } => {
            return cases.iter().find_map(|case| refused_in_block(&case.body));
        }
        S::Loop {
            body, continuing, ..
        } => return refused_in_block(body).or_else(|| refused_in_block(continuing)),
        S::Kill => "`discard` is",
        S::ControlBarrier(_) | S::MemoryBarrier(_) => "barriers are",
        S::ImageStore { .. } | S::ImageAtomic { .. } => "textures are",
        S::Atomic { .. } => "atomics are",
        S::WorkGroupUniformLoad { .. } => "module-scope variables are",
        S::RayQuery { .. } | S::RayPipelineFunction(_) => "rays are",
        S::SubgroupBallot { .. }
        | S::SubgroupGather { .. }
        | S::SubgroupCollectiveOperation { .. } => "subgroup operations are",
        S::CooperativeStore { .. } => "cooperative matrices are",
    };
    Some((span, what))
}

/// Whether nothing in the module needs a bound at run time: no index that is
/// not constant, no loop, and no pointer that leaves its function.
pub(super) fn is_bounded(module: &Module) -> bool {
    module.functions.iter().all(|(_, function)| {
        let pointer_argument = function.arguments.iter().any(|argument| {
            matches!(
                module.types[argument.ty].inner,
                TypeInner::Pointer { .. } | TypeInner::ValuePointer { .. }
            )
        });
        let unbounded_expression = function.expressions.iter().any(|(_, expression)| {
            matches!(
                expression,
                Expression::Access { .. } | Expression::GlobalVariable(_)
            )
        });
        !pointer_argument && !unbounded_expression && !has_loop(&function.body)
    })
}

fn has_loop(block: &Block) -> bool {
    block.iter().any(|statement| match statement {
        Statement::Loop { .. } => true,
        Statement::Block(block) => has_loop(block),
        Statement::If { accept, reject, .. } => has_loop(accept) || has_loop(reject),
        Statement::Switch { cases, .. } => cases.iter().any(|case| has_loop(&case.body)),
        _ => false,
    })
}
