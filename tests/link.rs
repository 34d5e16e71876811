//! The linker: what changes, what must not, and what is refused where.

use portcullis::link::{LinkError, Linked, Module, link};
use proptest::prelude::*;

fn module(name: &str, text: impl Into<String>) -> Module {
    Module {
        name: name.into(),
        file: format!("{name}.wgsl").into(),
        text: text.into().into(),
        slots: Vec::new(),
    }
}

fn slotted(name: &str, text: &str, slots: &[(&str, &str)]) -> Module {
    let slots = slots.iter().map(|(a, b)| (a.to_string(), b.to_string()));
    Module {
        slots: slots.collect(),
        ..module(name, text)
    }
}

/// Links, and has naga validate the result.
fn valid(root: &Module, modules: &[Module], flags: &[&str]) -> Linked {
    let linked = link(root, modules, flags, None).unwrap();
    let parsed = match naga::front::wgsl::parse_str(&linked.text) {
        Ok(parsed) => parsed,
        Err(e) => panic!("{}\n{}", e.emit_to_string(&linked.text), linked.text),
    };
    let all = naga::valid::Capabilities::all();
    if let Err(e) = naga::valid::Validator::new(Default::default(), all).validate(&parsed) {
        panic!("{}\n{}", e.emit_to_string(&linked.text), linked.text);
    }
    linked
}

/// The text of the root within the linked text.
fn root_text(linked: &Linked) -> &str {
    let start = linked.text.rfind("// ---- root").unwrap();
    let body = linked.text[start..].find('\n').unwrap();
    &linked.text[start + body + 1..]
}

/// Links a root alone and returns its text.
fn alone(text: &str, flags: &[&str]) -> String {
    root_text(&link(&module("root", text), &[], flags, None).unwrap()).into()
}

/// The words of a text, for comparisons that blanks do not matter to.
fn squeezed(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn refused(text: &str, modules: &[Module]) -> LinkError {
    link(&module("root", text), modules, &[], None).unwrap_err()
}

const ENTRY: &str = "@compute @workgroup_size(64) fn main() {}\n";

#[test]
fn literals_comments_and_line_breaks_stay() {
    let text = "\
// import x::y; @if(a) `unbalanced ( [ {
/* outer /* nested */ import a::b; @else } */
const a = 0x1p3; const b = 0xFFFFFFFFu; const c = 4294967295u;\r
const d = 1e38f; const e = 0x1.fffffep+127f; const f = 1e-30f; const g = .5e+3;
const h = 0XaP-2f; const i = 1.; const j = 0x1e+2; const k = -2147483647i; // e
const größe = 1;\tconst l = 0x.8p1;
@compute @workgroup_size(64) fn main() { _ = größe; }";
    assert_eq!(
        root_text(&valid(&module("root", text), &[], &[])),
        text.to_owned()
    );
    let linked = link(
        &module("root", "\r\u{85}\u{2028}\u{2029}\u{b}\u{c}"),
        &[],
        &[],
        None,
    );
    assert!(
        linked
            .unwrap()
            .text
            .ends_with("\r\u{85}\u{2028}\u{2029}\u{b}\u{c}")
    );
}

#[test]
fn numbers_hide_no_names() {
    // `e`, `p3`, `u` and `f` are declared, and literals contain them.
    let op = module(
        "op",
        "const e = 1; const p3 = 2; const u = 3; const f = 4; const x = 5;
         fn g(v: vec2<f32>) -> f32 { return v.x + 1e-3f + 0x1p3 + f32(0x1e+x) + f32(7u + u32(u)); }",
    );
    let linked = valid(
        &module(
            "root",
            format!("{ENTRY}fn h() {{ _ = op::g(vec2<f32>()); }}"),
        ),
        &[op],
        &[],
    );
    assert!(
        linked
            .text
            .contains("v.x + 1e-3f + 0x1p3 + f32(0x1e+op_x) + f32(7u + u32(op_u))"),
        "{}",
        linked.text
    );
}

#[test]
fn line_breaks_of_every_kind_end_line_comments() {
    for end in [
        "\n", "\r", "\r\n", "\u{b}", "\u{c}", "\u{85}", "\u{2028}", "\u{2029}",
    ] {
        let text = format!("// import a::b;{end}@if(no) const x = 1;{end}const y = 2;");
        let linked = alone(&text, &[]);
        let expected = format!("// import a::b;{end}{:20}{end}const y = 2;", "");
        assert_eq!(linked, expected, "{end:?}");
    }
}

#[test]
fn imports_in_every_form() {
    let op = module(
        "op",
        "alias Value = f32;\nfn combine(a: Value, b: Value) -> Value { return a + b; }\n\
         const identity: Value = 0x0p0f;\n",
    );
    let root = "\
import op::{combine, identity as zero,};
import super::op::Value as V;
import package::{op::{Value}};
import super::op;
import op;
@group(0) @binding(0) var<storage, read_write> data: array<op::Value, 4>;
@compute @workgroup_size(1)
fn main() {
    var x: V = zero;
    data[0] = combine(x, super::op::combine(op::identity, package::op::identity));
    data[1] = bitcast<op::Value>(1u) + vec4<Value>(1.0).x;
    let less = x < op::identity && x > op :: /* spaced */
        identity;
}
";
    let linked = valid(&module("root", root), &[op], &[]);
    let text = root_text(&linked);
    assert_eq!(text.lines().count(), root.lines().count());
    assert!(text.lines().take(5).all(|line| line.trim().is_empty()));
    assert!(text.contains("data: array<op_Value, 4>;"));
    assert!(text.contains("var x: op_Value = op_identity;"));
    assert!(text.contains("op_combine(x, op_combine(op_identity, op_identity));"));
    assert!(text.contains("bitcast<op_Value>(1u) + vec4<op_Value>(1.0).x;"));
    assert!(text.contains("x < op_identity && x > op_identity\n;"));
    assert!(
        linked
            .text
            .starts_with("// ---- op (op.wgsl)\nalias op_Value = f32;\n")
    );
}

#[test]
fn one_module_in_two_instances() {
    let reduce = "\
var<workgroup> cells: array<op::Value, 64>;
fn reduce(local: u32, value: op::Value) -> op::Value {
    cells[local] = value;
    workgroupBarrier();
    return op::combine(cells[local], cells[local ^ 1u]);
}
";
    let modules = [
        module(
            "sum",
            "alias Value = f32; fn combine(a: f32, b: f32) -> f32 { return a + b; }",
        ),
        module(
            "max",
            "alias Value = u32; fn combine(a: u32, b: u32) -> u32 { return max(a, b); }",
        ),
        slotted("reduce_sum", reduce, &[("op", "sum")]),
        slotted("reduce_max", reduce, &[("op", "max")]),
        module("unused", "this is not WGSL, and /* is never read"),
    ];
    let root = slotted(
        "root",
        "@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) local: u32) {
    _ = first::reduce(local, 1.0) + first::reduce(local, 2.0);
    _ = second::reduce(local, 1u);
}",
        &[("first", "reduce_sum"), ("second", "reduce_max")],
    );
    let text = valid(&root, &modules, &[]).text;
    assert!(text.contains("var<workgroup> reduce_sum_cells: array<sum_Value, 64>;"));
    assert!(text.contains("var<workgroup> reduce_max_cells: array<max_Value, 64>;"));
    assert!(text.contains("return max(a, b);"));
    assert!(!text.contains("not WGSL"));
    assert_eq!(text.matches("// ---- ").count(), 5);
}

#[test]
fn nothing_is_captured() {
    let op = module(
        "op",
        "const value = 1.0;
fn helper(op_value_1: f32) -> f32 { return op_value_1 + value; }
fn combine(helper: f32, value: f32) -> f32 { let combine = helper * value; return combine; }
fn apply(x: f32) -> f32 { return combine(helper(x), value); }
",
    );
    let root = "
const op_apply_1 = 3.0;
fn f(op_value: f32, op_apply: f32) -> f32 { return op::apply(op_value) + op_apply + op::value; }
@compute @workgroup_size(1) fn main() { _ = f(1.0, op_apply_1); }
";
    let text = valid(&module("root", root), &[op], &[]).text;
    assert!(text.contains("const op_value_2 = 1.0;"));
    assert!(
        text.contains("fn op_helper(op_value_1: f32) -> f32 { return op_value_1 + op_value_2; }")
    );
    assert!(text.contains("op_apply_2(op_value) + op_apply + op_value_2"));
    // A parameter that shadows a function is renamed with it, consistently.
    assert!(text.contains(
        "fn op_combine(op_helper: f32, op_value_2: f32) -> f32 { let op_combine = op_helper * op_value_2; return op_combine; }"
    ));
}

#[test]
fn two_instances_that_make_one_name() {
    let modules = [
        module("a", "const b_c = 1;"),
        module("a_b", "const c = 2;"),
        module("static", "const cast = 3;"),
    ];
    let root = format!("{ENTRY}const x = a::b_c + a_b::c + static::cast;");
    let text = valid(&module("root", root), &modules, &[]).text;
    assert!(text.contains("const x = a_b_c + a_b_c_1 + static_cast_1;"));
}

#[test]
fn names_of_wgsl_can_be_redefined_in_an_instance() {
    let op = module(
        "op",
        "fn max(a: f32, b: f32) -> f32 { return select(a, b, a < b); }
fn combine(a: f32, b: f32) -> f32 { return max(a, b); }",
    );
    let root =
        format!("{ENTRY}fn f() -> f32 {{ return max(op::max(1.0, 2.0), op::combine(1.0, 2.0)); }}");
    let text = valid(&module("root", root), &[op], &[]).text;
    assert!(text.contains("return op_max(a, b);"));
    assert!(text.contains("return max(op_max(1.0, 2.0), op_combine(1.0, 2.0));"));
}

#[test]
fn the_root_captures_no_function_of_wgsl() {
    let op = module(
        "op",
        "fn combine(a: f32, b: f32) -> f32 {\n return max(a, b); }",
    );
    let root = "fn max(a: f32, b: f32) -> f32 { return a; } const a = op::combine(1.0, 2.0);";
    let e = link(&module("root", root), &[op], &[], None).unwrap_err();
    assert_eq!((e.file.as_str(), e.line), ("op.wgsl", 2));
    assert!(e.message.contains("`max`"), "{e}");
}

#[test]
fn names_that_refer_to_nothing_stay() {
    let io = module(
        "io",
        "struct Pair { read: f32, @size(size) x: f32, @align(16) position: vec2<f32> }
const size = 16u; const read = 1.0; const position = 2.0; const function = 3.0; const x = 4.0;
const storage = 6.0; const write = 5.0; const linear = 7.0; const builtin = 8u; const r32float = 1;
@group(0) @binding(builtin) var<storage, read> data: array<Pair>;
@group(0) @binding(9) var image: texture_storage_2d<r32float, write>;
@id(builtin) override width: u32 = 4;
fn f(p: ptr<function, Pair>) -> f32 { return (*p).read + (*p).position.x + read + x + data[0].x; }
@must_use fn g() -> f32 { var p: Pair; return f(&p) + position; }
",
    );
    let root = format!(
        "{ENTRY}fn h() {{ _ = io::g() + f32(io::width); textureStore(io::image, vec2<u32>(), vec4<f32>()); }}"
    );
    let text = valid(&module("root", root), &[io], &[]).text;
    for kept in [
        "struct io_Pair { read: f32, @size(io_size) x: f32, @align(16) position: vec2<f32> }",
        "@group(0) @binding(io_builtin) var<storage, read> io_data: array<io_Pair>;",
        "var io_image: texture_storage_2d<r32float, write>;",
        "@id(io_builtin) override io_width",
        "fn io_f(p: ptr<function, io_Pair>)",
        "return (*p).read + (*p).position.x + io_read + io_x + io_data[0].x;",
        "return io_f(&p) + io_position;",
    ] {
        assert!(text.contains(kept), "{kept}\n{text}");
    }
    let vertex = module(
        "v",
        "const position = 1; const linear = 2; const center = 3; const flat = 0u;
@vertex fn main(@builtin(vertex_index) i: u32) -> @builtin(position) vec4<f32> { return vec4<f32>(f32(position)); }
@fragment fn other(@location(flat) @interpolate(linear, center) x: f32) -> @location(flat) vec4<f32> { return vec4<f32>(x); }
const any = 1;",
    );
    let text = valid(
        &module("root", format!("{ENTRY}const y = v::any;")),
        &[vertex],
        &[],
    )
    .text;
    assert!(text.contains("@builtin(position)"));
    assert!(text.contains("@location(v_flat) @interpolate(linear, center) x"));
}

#[test]
fn cycles_link() {
    let modules = [
        module("a", "import b::y; const x = 1; const z = y;"),
        module("b", "import a::x; const y = x;"),
    ];
    let text = valid(
        &module("root", format!("import a::z;\n{ENTRY}const w = z;")),
        &modules,
        &[],
    )
    .text;
    assert_eq!(text.matches("const a_x = 1;").count(), 1);
    assert!(text.contains("const b_y = a_x;"));
    // A module may name itself.
    let own = module("own", "const a = 1; const b = own::a;");
    let text = valid(
        &module("root", format!("{ENTRY}const c = own::b;")),
        &[own],
        &[],
    )
    .text;
    assert!(text.contains("const own_b = own_a;"));
}

#[test]
fn what_nothing_needs_is_left_out() {
    let library = "\
// Needed by the root.
fn used(x: f32) -> f32 { return helper(x); }
// Needed by nothing,
// nor are these two lines.
fn unused() -> f32 {
    return other;
}

const other = 2.0;
const factor = 3.0;
// Needed by `used`.
fn helper(x: f32) -> f32 { return x * factor; }
fn first() {} fn second() { first(); }
";
    let root = module(
        "root",
        "import super::library::used;\n@compute @workgroup_size(1) fn main() { _ = used(1.0); }\n",
    );
    let linked = valid(&root, &[module("library", library)], &[]);
    for kept in ["library_used", "library_helper", "library_factor", "`used`"] {
        assert!(linked.text.contains(kept), "{kept}\n{}", linked.text);
    }
    for dropped in ["unused", "other", "two lines"] {
        assert!(!linked.text.contains(dropped), "{dropped}\n{}", linked.text);
    }
    // Two on one line: neither has it to itself.
    assert!(linked.text.contains("library_first"), "{}", linked.text);
    let line = |what: &str| 1 + linked.text.lines().position(|l| l.contains(what)).unwrap();
    for (what, origin) in [
        ("fn library_used", 2),
        ("const library_factor", 10),
        ("`used`", 11),
        ("fn library_helper", 12),
        ("fn library_first", 13),
    ] {
        assert_eq!(
            linked.origin(line(what)),
            Some(("library.wgsl", origin)),
            "{what}"
        );
    }
}

#[test]
fn directives_come_first_and_once() {
    let op = module(
        "op",
        "enable f16;\ndiagnostic ( off , derivative_uniformity ) ;\nalias V = f16;\n",
    );
    let root = "/* head */ enable /* half */\n f16; @if(no) enable nothing;\nimport op::V;\n\
                @diagnostic(off, derivative_uniformity) @compute @workgroup_size(1) fn main() { var v: V; }";
    let linked = valid(&module("root", root), &[op], &[]);
    assert!(
        linked
            .text
            .starts_with("enable f16;\ndiagnostic(off, derivative_uniformity);\n// ---- op"),
        "{}",
        linked.text
    );
    assert_eq!(linked.text.matches("enable").count(), 1);
    assert_eq!(linked.origin(1), Some(("op.wgsl", 1)));
    assert_eq!(linked.origin(2), Some(("op.wgsl", 2)));
    assert_eq!(linked.origin(3), None);
    assert!(root_text(&linked).starts_with("/* head */ "));
}

#[test]
fn lines_keep_their_origin() {
    let modules = [
        module("a", "const x = 1;\n\nconst y = 2;\n"),
        module("b", "const z = 3; // no line break at the end"),
        module("c", ""),
    ];
    let root =
        "import a::{\n  x,\n  y\n};\n@if(no) fn gone() {\n  {}\n}\nconst w = x + y\n + b::z;\n";
    let linked = link(&module("root", root), &modules, &[], None).unwrap();
    for (needle, file, line) in [
        ("const a_y", "a.wgsl", 3),
        ("const b_z", "b.wgsl", 1),
        ("const w", "root.wgsl", 8),
        ("+ b_z", "root.wgsl", 9),
    ] {
        let at = linked.text.lines().position(|text| text.contains(needle));
        let line_of = at.unwrap() + 1;
        assert_eq!(linked.origin(line_of), Some((file, line)), "{needle}");
    }
    let lines = linked.text.lines().count();
    assert_eq!(linked.origin(lines + 1), Some(("root.wgsl", 10)));
    assert_eq!(linked.origin(lines + 2), None);
    assert_eq!(linked.origin(0), None);
    for (index, line) in linked.text.lines().enumerate() {
        assert_eq!(
            linked.origin(index + 1).is_none(),
            line.starts_with("// ---- ")
        );
    }
}

#[test]
fn a_removed_line_keeps_the_column_of_what_follows() {
    assert_eq!(alone("@if(a) const x = 1;", &["a"]), "       const x = 1;");
    assert_eq!(
        alone("@if(a) fn f() {\n é\n} const x = 1;", &[]),
        "\n\n  const x = 1;"
    );
}

#[test]
fn conditions() {
    for (condition, holds) in [
        ("a", true),
        ("b", false),
        ("!b", true),
        ("!!b", false),
        ("a && b", false),
        ("a || b", true),
        ("b && b || a", true),
        ("a || a && b", true),
        ("(a || a) && b", false),
        ("!(a && !b) || false", false),
        ("true", true),
        ("false || true,", true),
        ("a /* , */ &&\n!b", true),
    ] {
        let condition = condition.trim_end_matches(',');
        let text = alone(&format!("@if({condition}) const x = 1;"), &["a"]);
        assert_eq!(!text.trim().is_empty(), holds, "{condition}");
    }
}

#[test]
fn at_if_in_every_position() {
    let text = "\
@if(a) import op::x; @elif(b) import op::y as x; @else import op::z as x;
@if(a) enable f16;
@if(a) @group(0) @binding(0) var<storage, read_write> data: array<u32, 4>;
@else @group(0) @binding(0) var<storage, read_write> data: array<f32, 4>;
struct S {
    @if(a) a: array<vec2<f32>, (1 << 2)>,
    @elif(b) @align(16) b: ptrs,
    @else c: vec2<f32>,
    always: u32,
    @if(b) last: f32
}
@if(a) alias T = u32; @if(!a) alias T = f32;
@if(b) struct R { x: u32 }
@if(a) const_assert x == 1;
fn g(@if(a) i: array<u32, 2>, @else j: u32, k: u32, @if(b) l: u32) -> T {
    @if(a) return T(i[0]); @else return T(j);
}
@if(a) @compute @workgroup_size(1) fn main() {
    @if(b) let gone = 1; @elif(a) let here = 2; @else let gone = 3;
    @if(a) if here == 2 { @if(b) nothing(); data[0] = 1; } else if true { ; } else { data[0] = 2; }
    @else if gone { } else { }
    @if(a) for (var i = 0; i < 3; i++) { @if(a) { let scoped = 4; } @else { let scoped = 5; } }
    @if(b) while true { @if(a) loop { } } @else while false { }
    @if(b) loop { } @else loop { break; }
    switch here { @if(a) case 1, 2 { } @if(b) case 3: { } default { } }
    @if(b) switch here { default { } }
    @if(a) { @if(a) { @if(b) { } @else { _ = here; } } }
    @if(b) discard; data[1] = 2;
    @if(a) data[2] = S(array<vec2<f32>, 4>(), 1).always; @else data[2] = 1.0;
}
";
    let op = module("op", "const x = 1; const y = 2; const z = 3;");
    let linked = valid(&module("root", text), &[op], &["a"]);
    assert_eq!(root_text(&linked).lines().count(), text.lines().count());
    assert_eq!(
        squeezed(root_text(&linked)),
        squeezed(
            "@group(0) @binding(0) var<storage, read_write> data: array<u32, 4>;
struct S { a: array<vec2<f32>, (1 << 2)>, always: u32, }
alias T = u32;
const_assert op_x == 1;
fn g( i: array<u32, 2>, k: u32, ) -> T { return T(i[0]); }
@compute @workgroup_size(1) fn main() {
    let here = 2;
    if here == 2 { data[0] = 1; } else if true { ; } else { data[0] = 2; }
    for (var i = 0; i < 3; i++) { { let scoped = 4; } }
    while false { }
    loop { break; }
    switch here { case 1, 2 { } default { } }
    { { { _ = here; } } }
    data[1] = 2;
    data[2] = S(array<vec2<f32>, 4>(), 1).always;
}"
        )
    );
    let text = text
        .replace("@if(a) @compute", "@compute")
        .replace("ptrs", "f32");
    let linked = link(
        &module("root", text),
        &[module("op", "const x = 1; const y = 2; const z = 3;")],
        &["b"],
        None,
    );
    let linked = linked.unwrap();
    assert!(linked.text.contains("@align(16) b: f32,"));
    assert!(linked.text.contains("last: f32"));
    assert!(squeezed(&linked.text).contains("fn g( j: u32, k: u32, l: u32)"));
}

#[test]
fn paths_that_an_at_if_removes_reach_nothing() {
    let text = "@if(no) import absent::x;\n@if(no) const y = absent::z;\n";
    assert_eq!(alone(text, &[]).trim(), "");
}

#[test]
fn errors_say_where_and_what() {
    let op = || {
        module(
            "op",
            "fn combine() {}\nfn identity() {}\n@if(no) fn gone() {}",
        )
    };
    for (text, line, part) in [
        (
            "\nimport op::combin;",
            2,
            "declares no `combin`; the nearest is `combine`",
        ),
        ("import op::{identity,\n  combined};", 2, "`combined`"),
        ("\n\nconst a = op::ident();", 3, "the nearest is `identity`"),
        ("const a = op::gone();", 1, "declares no `gone`"),
        (
            "\nimport ops::x;",
            2,
            "no module `ops`; the nearest is `op`",
        ),
        ("const a = root::a;", 1, "no module `root`"),
        ("const a = a::b::c;", 1, "`module::item`"),
        ("const a = super::c;", 1, "names no item"),
        ("const a = op::;", 1, "must follow `::`"),
        ("import op::*;", 1, "expected a name"),
        ("import op::combine", 1, "does not end with `;`"),
        ("import op as x;", 1, "cannot be renamed"),
        ("import op::combine as;", 1, "after `as`"),
        ("import op::combine identity;", 1, "expected `;`"),
        ("import op::{combine identity};", 1, "expected `,` or `}`"),
        ("import super;", 1, "`module::item`"),
        (
            "import op::combine;\nimport op::identity as combine;",
            2,
            "imported twice",
        ),
        (
            "import op::combine;\n\nfn combine() {}",
            3,
            "declared here and imported",
        ),
        ("\n/* /* */", 2, "not closed by `*/`"),
        ("fn f() {\n (]\n}", 2, "`]` closes nothing"),
        ("\nfn f() {", 2, "not closed by `}`"),
        ("}", 1, "`}` closes nothing"),
        (
            "\n@else const a = 1;",
            2,
            "`@else` does not directly follow",
        ),
        (
            "@if(a) const a = 1; const b = 2;\n@else const c = 1;",
            2,
            "does not directly",
        ),
        (
            "@if(a) const a = 1; @else const b = 2;\n@else const c = 1;",
            2,
            "does not directly",
        ),
        (
            "fn f() { @if(a) { } }\n@elif(b) fn g() {}",
            2,
            "`@elif` does not directly",
        ),
        ("@if const a = 1;", 1, "takes a condition"),
        ("@if() const a = 1;", 1, "found `)`"),
        ("@if(a b) const a = 1;", 1, "found `b`"),
        ("@if(a & b) const a = 1;", 1, "found `&`"),
        ("@if((a b)) const a = 1;", 1, "found `b`"),
        ("@if(1) const a = 1;", 1, "expected a flag"),
        ("fn f() {\n@if(a) }", 2, "nothing follows"),
        ("@if(a)", 1, "nothing follows"),
        ("@if(a)\n@if(b) const a = 1;", 2, "join their conditions"),
        (
            "struct S { @if(a) x: u32\n @else x: f32 }",
            2,
            "separate the two",
        ),
        ("@compute\n@if(a) fn f() {}", 2, "must come first"),
        ("fn f() { return\n@if(a) 1; }", 2, "must come first"),
        ("fn f() { g(\n@if(a) 1); }", 2, "can control nothing"),
        ("import op::{\n@if(a) combine};", 2, "can control nothing"),
        ("fn f() { if x { }\n@if(a) else { } }", 2, "`else`"),
    ] {
        let e = refused(text, &[op()]);
        assert_eq!(
            (e.file.as_str(), e.line),
            ("root.wgsl", line),
            "{text}\n{e}"
        );
        assert!(e.message.contains(part), "{text}\n{e}");
        assert_eq!(e.to_string(), format!("root.wgsl:{line}: {}", e.message));
    }
}

#[test]
fn errors_in_a_module_name_its_file() {
    let e = refused(
        "import a::x;",
        &[module("a", "const x = 1;\nconst y = op::z;")],
    );
    assert_eq!((e.file.as_str(), e.line), ("a.wgsl", 2));
    let e = link(
        &slotted("root", "\nimport op::x;", &[("op", "sum")]),
        &[module("summ", "")],
        &[],
        None,
    )
    .unwrap_err();
    assert!(
        e.message.contains("`op`")
            && e.message.contains("instance `sum`")
            && e.message.contains("`summ`"),
        "{e}"
    );
    for name in ["", "_", "__a", "1a", "a b", "a::b"] {
        assert!(
            refused("", &[module(name, "")])
                .message
                .contains("identifier"),
            "{name}"
        );
    }
    let twice = [module("a", ""), module("a", "")];
    assert!(refused("", &twice).message.contains("two instances"));
}

#[test]
fn deep_nesting_is_refused_without_overflow() {
    for (open, close) in [("(", ")"), ("[", "]"), ("{", "}")] {
        let text = open.repeat(100_000) + &close.repeat(100_000);
        assert!(refused(&text, &[]).message.contains("nest deeper than 256"));
        alone(&(open.repeat(256) + &close.repeat(256)), &[]);
    }
    let condition = format!("@if({}a{}) const x = 1;", "!(".repeat(255), ")".repeat(255));
    alone(&condition, &[]);
    alone(&format!("@if({}a) const x = 1;", "!".repeat(100_000)), &[]);
    let comment = "/*".repeat(100_000) + &"*/".repeat(100_000);
    assert_eq!(alone(&comment, &[]), comment);
    let pointers = "ptr<".repeat(50_000);
    assert_eq!(alone(&pointers, &[]), pointers);
    let import = format!("import {}op::x{};", "op::{".repeat(255), "}".repeat(255));
    assert!(refused(&import, &[]).message.contains("module::item"));
}

/// Pieces of text that mean something to the linker.
fn soup() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        prop::sample::select(vec![
            "import",
            "op",
            "::",
            "super",
            "package",
            "as",
            ";",
            ",",
            "{",
            "}",
            "(",
            ")",
            "[",
            "]",
            "@",
            "if",
            "elif",
            "else",
            "@if(a)",
            "@if(b)",
            "@else",
            "@elif(a)",
            "fn",
            "f",
            "struct",
            "var",
            "<",
            ">",
            "storage",
            "ptr",
            "let",
            "x",
            "y",
            ":",
            ".",
            "=",
            "0x1p+",
            "1e-3f",
            "0",
            "//",
            "/*",
            "*/",
            "\n",
            "\r",
            "\u{2028}",
            "\u{85}",
            "é",
            "變",
            "\u{200e}",
            "enable",
            "requires",
            "diagnostic",
            "&&",
            "||",
            "!",
            "true",
            "op::x",
            "op::y",
            "import op::x;",
            "\0",
            "\u{feff}",
            "const x = 1;",
            "{ @if(a) x; @else y; }",
            "texture_storage_2d",
            "@size(",
            "@builtin(",
            "for",
            "switch",
            "while",
            "loop",
        ])
        .prop_map(str::to_owned),
        any::<char>().prop_map(String::from),
        Just(" ".to_owned()),
    ];
    prop::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

/// Brackets around soups, so that more of them get past the first check.
fn balanced() -> impl Strategy<Value = String> {
    (soup(), soup()).prop_map(|(a, b)| {
        let strip = |text: &str| text.replace(['(', ')', '[', ']', '{', '}', '/'], " ");
        format!("{} fn f({}) {{ {} }}", strip(&a), strip(&b), strip(&a))
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn no_text_panics(root in prop_oneof![soup(), balanced()], op in prop_oneof![soup(), balanced()]) {
        let modules = [module("op", format!("const x = 1; const y = 2; {op}"))];
        for modules in [&modules[..], &[module("op", "const x = 1; const y = 2;")]] {
            match link(&module("root", root.clone()), modules, &["a"], None) {
                Ok(linked) => {
                    let text = root_text(&linked);
                    prop_assert_eq!(text.matches('\n').count(), root.matches('\n').count());
                    let lines = linked.text.matches('\n').count() + 1;
                    prop_assert!(linked.origin(lines).is_some());
                    prop_assert!(linked.origin(lines + 1).is_none());
                }
                Err(e) => {
                    prop_assert!(e.line >= 1);
                    prop_assert!(!e.message.is_empty());
                }
            }
        }
    }

    #[test]
    fn plain_text_stays(text in prop_oneof![soup(), balanced()]) {
        let text = ["import", "@", "::", "enable", "requires", "diagnostic"]
            .iter()
            .fold(text, |text, word| text.replace(word, " "));
        if let Ok(linked) = link(&module("root", text.clone()), &[], &[], None) {
            prop_assert_eq!(root_text(&linked), text);
        }
    }
}
