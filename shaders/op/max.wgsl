// The largest of numbers, on keys that order as the numbers do; NaN has the most
// extreme key of all and spreads.

import super::scalar::{Scalar, LOWEST_KEY, to_key, from_key, is_nan};

alias Value = u32;

fn identity() -> Value {
    return LOWEST_KEY;
}

fn combine(a: Value, b: Value) -> Value {
    return max(a, b);
}

fn lift(x: Scalar, index: u32) -> Value {
    return select(to_key(x), 0xffffffffu, is_nan(x));
}

fn finish(v: Value, parameter: u32) -> Scalar {
    return from_key(v);
}
