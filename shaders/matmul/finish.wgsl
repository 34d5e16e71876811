// From sums of products to results: epilogue(alpha * sum + beta * c + bias).

@if(addend) import super::c;
@if(bias) import super::bias;
@if(activation) import super::math;

struct Finish {
    alpha: f32,
    beta: f32,
    c_offset: u32,
    c_row: u32,
    c_column: u32,
    bias_offset: u32,
    bias_column: u32,
    padding: u32,
}

@if(gelu_erf) fn activate(x: f32) -> f32 { return math::f_gelu_erf(x); }
@if(gelu_tanh) fn activate(x: f32) -> f32 { return math::f_gelu_tanh(x); }
@if(relu) fn activate(x: f32) -> f32 { return math::f_relu(x); }
@if(silu) fn activate(x: f32) -> f32 { return math::f_silu(x); }
@if(!activation) fn activate(x: f32) -> f32 { return x; }

// The result at a row and column of the matrix whose c starts `c_batch`
// elements behind that of the first.
fn finish(sum: f32, c_batch: u32, row: u32, column: u32, f: Finish) -> f32 {
    var x = f.alpha * sum;
    @if(addend) {
        x += f.beta * c::load(f.c_offset + c_batch + row * f.c_row + column * f.c_column);
    }
    @if(bias) {
        x += bias::load(f.bias_offset + column * f.bias_column);
    }
    return activate(x);
}
