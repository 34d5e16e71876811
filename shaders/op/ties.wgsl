// For the gradients of minimum and maximum: an ordinal that is lower the better,
// and how many elements have it. The cotangent is split evenly among them.

import super::config::LARGEST;
import super::scalar::{Scalar, to_ordinal, is_nan};

alias Value = vec2<u32>;

fn identity() -> Value {
    return vec2<u32>(0xffffffffu, 0u);
}

fn combine(a: Value, b: Value) -> Value {
    return select(select(b, a, a.x < b.x), vec2<u32>(a.x, a.y + b.y), a.x == b.x);
}

fn ordinal(x: Scalar) -> u32 {
    let all = select(to_ordinal(x), ~to_ordinal(x), LARGEST);
    return select(all, 0u, is_nan(x));
}

fn lift(x: Scalar, index: u32) -> Value {
    return vec2<u32>(ordinal(x), 1u);
}

fn gradient(x: Scalar, v: Value, cotangent: Scalar, parameter: u32) -> Scalar {
    return select(0.0, cotangent / f32(v.y), ordinal(x) == v.x);
}
