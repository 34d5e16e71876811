// Loads of single 32-bit elements.

import super::storage::data;
import super::scalar::Scalar;

const PER_WORD: u32 = 1u;

fn load(i: u32) -> Scalar {
    return bitcast<Scalar>(data[i]);
}

// The stored bits of an element: movement must not touch NaNs.
fn load_bits(i: u32) -> u32 {
    return data[i];
}
