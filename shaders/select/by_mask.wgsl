// Which elements of quad q are selected: those whose mask is not 0.

import super::mask;

fn kept(q: u32, sign: u32, infinity: u32) -> vec4<bool> {
    return mask::load4_bits(q) != vec4<u32>();
}
