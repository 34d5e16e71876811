// Which of quad q's elements are selected and lie within n.

import super::flags::kept;

fn chosen(q: u32, n: u32, sign: u32, infinity: u32) -> vec4<bool> {
    let within = vec4<u32>(q * 4u) + vec4<u32>(0u, 1u, 2u, 3u) < vec4<u32>(n);
    return kept(q, sign, infinity) & within;
}
