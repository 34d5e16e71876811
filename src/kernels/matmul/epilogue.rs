//! Functions applied to results before they are stored.

use crate::kernels::math_table::{self, UnaryMath};

/// A function applied to each result of a product before it is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Epilogue {
    /// None.
    #[default]
    None,
    /// max(x, 0).
    Relu,
    /// x Φ(x), Φ the normal distribution.
    GeluErf,
    /// gelu's form with a hyperbolic tangent.
    GeluTanh,
    /// x / (1 + e^−x).
    Silu,
}

impl Epilogue {
    /// Every epilogue.
    pub const ALL: &'static [Epilogue] = &[
        Epilogue::None,
        Epilogue::Relu,
        Epilogue::GeluErf,
        Epilogue::GeluTanh,
        Epilogue::Silu,
    ];

    /// The name: that of the scalar operation, or `none`.
    pub const fn name(self) -> &'static str {
        match self {
            Epilogue::None => "none",
            Epilogue::Relu => "relu",
            Epilogue::GeluErf => "gelu_erf",
            Epilogue::GeluTanh => "gelu_tanh",
            Epilogue::Silu => "silu",
        }
    }

    /// The epilogue of this name, if there is one.
    pub fn parse(name: &str) -> Option<Epilogue> {
        Epilogue::ALL.iter().copied().find(|e| e.name() == name)
    }

    /// The scalar operation: its CPU twin, oracle and bound.
    pub(crate) fn math(self) -> Option<&'static UnaryMath> {
        math_table::unary(self.name())
    }
}
