// Partial results of three numbers: count, mean, sum of squared deviations.

alias Value = vec3<f32>;

const WORDS: u32 = 3u;

fn pack(v: Value) -> array<u32, WORDS> {
    return array<u32, WORDS>(bitcast<u32>(v.x), bitcast<u32>(v.y), bitcast<u32>(v.z));
}

fn unpack(words: array<u32, WORDS>) -> Value {
    return vec3<f32>(bitcast<f32>(words[0]), bitcast<f32>(words[1]), bitcast<f32>(words[2]));
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
