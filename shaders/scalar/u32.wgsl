// What u32 elements are computed in.

alias Scalar = u32;

fn bits(x: u32) -> u32 {
    return x;
}

fn from_bits(b: u32) -> u32 {
    return b;
}

fn is_nan(x: u32) -> bool {
    return false;
}

fn to_key(x: u32) -> u32 {
    return x;
}

fn from_key(key: u32) -> u32 {
    return key;
}

// The keys of the smallest and the largest number.
const LOWEST_KEY: u32 = 0u;
const HIGHEST_KEY: u32 = 0xffffffffu;

fn to_ordinal(x: u32) -> u32 {
    return to_key(x);
}
