// Workgroups beyond 65535 are folded over x and y: a row holds `row` of them.
// Kernels guard against the last row's surplus themselves.

fn index(workgroup_id: vec3<u32>, row: u32) -> u32 {
    return workgroup_id.y * row + workgroup_id.x;
}
