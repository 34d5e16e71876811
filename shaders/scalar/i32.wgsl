// What i32 elements are computed in.

alias Scalar = i32;

fn bits(x: i32) -> u32 {
    return bitcast<u32>(x);
}

fn from_bits(b: u32) -> i32 {
    return bitcast<i32>(b);
}

fn is_nan(x: i32) -> bool {
    return false;
}

fn to_key(x: i32) -> u32 {
    return bitcast<u32>(x) ^ 0x80000000u;
}

fn from_key(key: u32) -> i32 {
    return bitcast<i32>(key ^ 0x80000000u);
}

// The keys of the smallest and the largest number.
const LOWEST_KEY: u32 = 0u;
const HIGHEST_KEY: u32 = 0xffffffffu;

fn to_ordinal(x: i32) -> u32 {
    return to_key(x);
}
