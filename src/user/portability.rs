//! What a text relies on that not every back end gives.

use naga::{BinaryOperator, Expression, ScalarKind};

use super::parse::UserModule;

impl UserModule {
    /// Whether the text takes remainders of `i32`. GLSL leaves those of
    /// negative numbers open, and naga's GLSL does not put them right.
    pub fn takes_signed_remainders(&self) -> bool {
        self.module.functions.iter().any(|(handle, function)| {
            let info = &self.info[handle];
            function.expressions.iter().any(|(value, expression)| {
                let remainder = matches!(
                    expression,
                    Expression::Binary {
                        op: BinaryOperator::Modulo,
                        ..
                    }
                );
                let inner = info[value].ty.inner_with(&self.module.types);
                remainder && inner.scalar_kind() == Some(ScalarKind::Sint)
            })
        })
    }
}
