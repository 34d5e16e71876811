// Sets of invocations of a subgroup: one word where subgroups have 32 at most, else four.

@if(narrow) alias Lanes = u32;
@if(!narrow) alias Lanes = vec4<u32>;

@if(narrow)
fn lanes_where(condition: bool) -> Lanes {
    return subgroupBallot(condition).x;
}

@if(!narrow)
fn lanes_where(condition: bool) -> Lanes {
    return subgroupBallot(condition);
}

@if(narrow)
fn lanes_below(lane: u32) -> Lanes {
    return (1u << lane) - 1u;
}

@if(!narrow)
fn lanes_below(lane: u32) -> Lanes {
    let first = vec4<u32>(0u, 32u, 64u, 96u);
    let within = (vec4<u32>(1u) << ((vec4<u32>(lane) - first) & vec4<u32>(31u))) - 1u;
    let past = select(within, vec4<u32>(0xffffffffu), vec4<u32>(lane) >= first + 32u);
    return select(past, vec4<u32>(), vec4<u32>(lane) < first);
}

@if(narrow)
fn lanes_count(lanes: Lanes) -> u32 {
    return countOneBits(lanes);
}

@if(!narrow)
fn lanes_count(lanes: Lanes) -> u32 {
    let c = countOneBits(lanes);
    return (c.x + c.y) + (c.z + c.w);
}

// The lowest of a set that is not empty.
@if(narrow)
fn lanes_lowest(lanes: Lanes) -> u32 {
    return firstTrailingBit(lanes);
}

@if(!narrow)
fn lanes_lowest(lanes: Lanes) -> u32 {
    let low = firstTrailingBit(lanes);
    let upper = select(96u + low.w, 64u + low.z, lanes.z != 0u);
    return select(select(upper, 32u + low.y, lanes.y != 0u), low.x, lanes.x != 0u);
}

// Those of `lanes` whose `bit` is this invocation's own.
fn lanes_agreeing(lanes: Lanes, bit: bool) -> Lanes {
    return lanes & (lanes_where(bit) ^ Lanes(select(0xffffffffu, 0u, bit)));
}
