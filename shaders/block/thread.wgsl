// Where an invocation stands in its workgroup. `rank` counts 0, 1, 2, … in the
// order in which block operations combine values; with subgroups it follows
// subgroups and lanes, which need not lie in the order of local indices.

@if(!subgroup)
struct Builtins {
    @builtin(local_invocation_index) local_index: u32,
}

@if(subgroup)
struct Builtins {
    @builtin(local_invocation_index) local_index: u32,
    @builtin(subgroup_invocation_id) lane: u32,
    @builtin(subgroup_id) subgroup: u32,
    @builtin(subgroup_size) subgroup_size: u32,
}

@if(!subgroup)
fn rank(t: Builtins) -> u32 {
    return t.local_index;
}

@if(subgroup)
fn rank(t: Builtins) -> u32 {
    return t.subgroup * t.subgroup_size + t.lane;
}
