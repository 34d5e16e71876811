// The index of the smallest number, or of the largest: an ordinal that is lower
// the better, and the index. The first of equals wins, -0 equals +0, and the
// first NaN wins over everything.

import super::config::LARGEST;
import super::scalar::{Scalar, to_ordinal, is_nan};

alias Value = vec2<u32>;

fn identity() -> Value {
    return vec2<u32>(0xffffffffu);
}

fn combine(a: Value, b: Value) -> Value {
    return select(b, a, a.x < b.x || (a.x == b.x && a.y <= b.y));
}

fn lift(x: Scalar, index: u32) -> Value {
    let ordinal = select(to_ordinal(x), ~to_ordinal(x), LARGEST);
    return vec2<u32>(select(ordinal, 0u, is_nan(x)), index);
}

fn finish(v: Value, parameter: u32) -> i32 {
    return bitcast<i32>(v.y);
}
