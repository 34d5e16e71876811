// Addition. Integers wrap.

import super::scalar::Scalar;

alias Value = Scalar;

fn identity() -> Value {
    return Scalar(0);
}

fn combine(a: Value, b: Value) -> Value {
    return a + b;
}

@if(subgroup)
fn shuffle_xor(v: Value, mask: u32) -> Value {
    return subgroupShuffleXor(v, mask);
}

@if(subgroup)
fn shuffle_up(v: Value, delta: u32) -> Value {
    return subgroupShuffleUp(v, delta);
}
