// A function of one element of each operand, for every element of the result.
//
// The result is dense, and each invocation owns one quad of it. How operands
// are found and what is computed stands in `body`, which is generated for the
// operation and the layouts of its operands (src/kernels/elementwise/body.rs):
// operands that lie like the result are read by quads, those of which a quad
// needs one element by elements, and where neither holds every element of each
// operand is located by its strides.

import super::config::WORKGROUP;
import super::grid;
import super::body::quad;
import super::parameters::params;
import super::result;

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let q = grid::index(workgroup, params.row) * WORKGROUP + local;
    // The rows that workgroups are folded into have a surplus.
    if q <= (params.n - 1u) / 4u {
        store(q, params.n - q * 4u);
    }
}

@if(!bits)
fn store(q: u32, count: u32) {
    result::store4_tail(q, quad(q), count);
}

// Movement: a NaN keeps its payload.
@if(bits)
fn store(q: u32, count: u32) {
    result::store4_tail_bits(q, quad(q), count);
}
