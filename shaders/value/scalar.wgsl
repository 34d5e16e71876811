// Partial results of reductions and scans that are single numbers.

import super::scalar::Scalar;

alias Value = Scalar;

const WORDS: u32 = 1u;

fn pack(v: Value) -> array<u32, WORDS> {
    return array<u32, WORDS>(bitcast<u32>(v));
}

fn unpack(words: array<u32, WORDS>) -> Value {
    return bitcast<Value>(words[0]);
}

@if(subgroup)
fn shuffle(v: Value, lane: u32) -> Value {
    return subgroupShuffle(v, lane);
}

@if(subgroup)
fn shuffle_xor(v: Value, mask: u32) -> Value {
    return subgroupShuffleXor(v, mask);
}

@if(subgroup)
fn shuffle_up(v: Value, delta: u32) -> Value {
    return subgroupShuffleUp(v, delta);
}
