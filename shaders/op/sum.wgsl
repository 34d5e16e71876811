// Addition. Integers wrap.

import super::scalar::Scalar;

alias Value = Scalar;

fn identity() -> Value {
    return Scalar(0);
}

fn combine(a: Value, b: Value) -> Value {
    return a + b;
}

fn lift(x: Scalar, index: u32) -> Value {
    return x;
}

fn finish(v: Value, parameter: u32) -> Scalar {
    return v;
}

// The derivative by x of the sum, times the cotangent.
fn gradient(x: Scalar, cotangent: Scalar, parameter: u32) -> Scalar {
    return cotangent;
}

@if(subgroup)
fn shuffle_xor(v: Value, mask: u32) -> Value {
    return subgroupShuffleXor(v, mask);
}

@if(subgroup)
fn shuffle_up(v: Value, delta: u32) -> Value {
    return subgroupShuffleUp(v, delta);
}
