// The larger of two numbers; a NaN may get lost. For maxima that only scale
// what follows; the operation `reduce_max` keeps NaNs.

import super::scalar::Scalar;

alias Value = Scalar;

fn combine(a: Value, b: Value) -> Value {
    return max(a, b);
}

@if(subgroup)
fn shuffle_xor(v: Value, mask: u32) -> Value {
    return subgroupShuffleXor(v, mask);
}
