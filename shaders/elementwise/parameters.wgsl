// The uniform of elementwise kernels.

import super::config::OPERANDS;

struct Parameters {
    row: u32,
    // Elements of the result.
    n: u32,
    // The operation's own parameters, as bits.
    values: vec2<u32>,
    // Per operand: elements in front of its view.
    offsets: array<vec4<u32>, 2>,
    // The axes that are left after merging, outermost first; the last one is
    // counted in quads where operands are read so.
    extents: array<vec4<u32>, 2>,
    // Per operand, in what it is read by.
    strides: array<array<vec4<u32>, 2>, OPERANDS>,
}

@group(0) @binding(0) var<uniform> params: Parameters;
