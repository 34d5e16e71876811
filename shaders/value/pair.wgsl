// Partial results of two words.

alias Value = vec2<u32>;

const WORDS: u32 = 2u;

fn pack(v: Value) -> array<u32, WORDS> {
    return array<u32, WORDS>(v.x, v.y);
}

fn unpack(words: array<u32, WORDS>) -> Value {
    return vec2<u32>(words[0], words[1]);
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
