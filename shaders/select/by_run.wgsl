// Which elements of quad q start a run: the first of all, and those unlike the
// one before them. Floats are alike where sorting takes them for equal.

import super::order::sort_order;
import super::x;

fn kept(q: u32, sign: u32, infinity: u32) -> vec4<bool> {
    let bits = x::load4_bits(q);
    let own = vec4<u32>(
        sort_order(bits.x, sign, infinity),
        sort_order(bits.y, sign, infinity),
        sort_order(bits.z, sign, infinity),
        sort_order(bits.w, sign, infinity),
    );
    if q == 0u {
        return vec4<bool>(true, own.yzw != own.xyz);
    }
    let before = sort_order(x::load_bits(q * 4u - 1u), sign, infinity);
    return own != vec4<u32>(before, own.xyz);
}
