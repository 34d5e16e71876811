//! Control flow, variables, pointers and calls.

use super::{Value, eval, f32s, i32s, interpreter, u32s};
use crate::error::Error;

#[test]
fn branches() {
    let text = "fn f(x: i32) -> i32 {
        if x < 0 { return -1; } else if x == 0 { return 0; } else if x > 100 { return 100; }
        return 1;
    }";
    for (x, expected) in [(-5, -1), (0, 0), (7, 1), (1000, 100)] {
        assert_eq!(eval(text, &[Value::I32(x)]), Value::I32(expected));
    }
    let text = "fn f(x: i32) -> i32 {
        var y = 1;
        if x > 0 { y = 2; } else { y += x; }
        if x > 10 { y *= 10; }
        return y;
    }";
    for (x, expected) in [(-5, -4), (5, 2), (50, 20)] {
        assert_eq!(eval(text, &[Value::I32(x)]), Value::I32(expected));
    }
}

#[test]
fn switches() {
    let text = "fn f(x: u32) -> u32 {
        var y = 0u;
        switch x {
            case 0u: { return 100u; }
            case 1u, 2u: { y = 1u; }
            default: { y = 3u; if x == 9u { break; } y += 1u; }
            case 5u: { y = 5u; }
        }
        return y + 10u;
    }";
    for (x, expected) in [(0, 100), (1, 11), (2, 11), (5, 15), (7, 14), (9, 13)] {
        assert_eq!(eval(text, &[Value::U32(x)]), Value::U32(expected), "{x}");
    }
    let negative = "fn f(x: i32) -> i32 {
        switch x { case -1: { return 7; } case default, 3: { return 8; } }
    }";
    for (x, expected) in [(-1, 7), (3, 8), (4, 8)] {
        assert_eq!(eval(negative, &[Value::I32(x)]), Value::I32(expected));
    }
}

#[test]
fn loops() {
    let sum =
        "fn f(n: i32) -> i32 { var s = 0; for (var i = 1; i <= n; i++) { s += i; } return s; }";
    assert_eq!(eval(sum, &[Value::I32(100)]), Value::I32(5050));
    assert_eq!(eval(sum, &[Value::I32(0)]), Value::I32(0));
    let collatz = "fn f(n: u32) -> u32 {
        var x = n; var steps = 0u;
        while x != 1u { if x % 2u == 0u { x /= 2u; } else { x = 3u * x + 1u; } steps++; }
        return steps;
    }";
    assert_eq!(eval(collatz, &[Value::U32(27)]), Value::U32(111));
    let breaks = "fn f(n: i32) -> i32 {
        var s = 0;
        for (var i = 0; ; i++) {
            if i % 2 == 0 { continue; }
            if i > n { break; }
            switch i { case 3: { continue; } default: { } }
            s += i;
        }
        return s;
    }";
    // 1 + 5 + 7 + 9
    assert_eq!(eval(breaks, &[Value::I32(10)]), Value::I32(22));
    let break_if = "fn f(n: i32) -> i32 {
        var i = 0;
        loop { let twice = i * 2; i += 1; continuing { i += 1; break if twice >= n; } }
        return i;
    }";
    assert_eq!(eval(break_if, &[Value::I32(7)]), Value::I32(6));
    let returns = "fn f(n: i32) -> i32 {
        for (var i = 0; i < 10; i++) { for (var j = 0; j < 10; j++) { if i * j == n { return i * 100 + j; } } }
        return -1;
    }";
    assert_eq!(eval(returns, &[Value::I32(42)]), Value::I32(607));
    assert_eq!(eval(returns, &[Value::I32(43)]), Value::I32(-1));
}

#[test]
fn variables_in_loops_start_afresh() {
    let text = "fn f(n: i32) -> i32 {
        var total = 0;
        for (var i = 0; i < n; i++) { var x: i32; var y = 5; x += 1; y += x; total += y; }
        return total;
    }";
    assert_eq!(eval(text, &[Value::I32(4)]), Value::I32(24));
}

#[test]
fn variables_start_afresh_in_every_call() {
    let text = "
        fn step(x: i32) -> i32 { var count: i32; var base = 10; count += x; base += count; return base; }
        fn f(x: i32) -> i32 { return step(x) + step(x) * 100; }";
    let f = interpreter(text, "f").unwrap();
    for _ in 0..2 {
        assert_eq!(f.call(&[Value::I32(3)]), Ok(Value::I32(1313)));
    }
}

#[test]
fn logical_operators_short_circuit() {
    let text = "
        fn bump(p: ptr<function, i32>) -> bool { *p += 1; return true; }
        fn f(x: i32) -> i32 {
            var n = 0;
            let a = x > 0 && bump(&n);
            let b = x > 0 || bump(&n);
            return n * 10 + select(0, 1, a) + select(0, 2, b);
        }";
    assert_eq!(eval(text, &[Value::I32(1)]), Value::I32(13));
    assert_eq!(eval(text, &[Value::I32(-1)]), Value::I32(12));
}

#[test]
fn pointers() {
    let text = "
        struct S { v: vec3<f32>, a: array<vec2<f32>, 3> }
        fn add(p: ptr<function, f32>, x: f32) { *p = *p + x; }
        fn twice(p: ptr<function, S>, i: i32) {
            let q = &(*p).a[i];
            (*q).y = 7.0;
            (*p).v[i] += 1.0;
            add_to(q);
        }
        fn add_to(q: ptr<function, vec2<f32>>) { (*q).x += 3.0; }
        fn f(i: i32) -> array<f32, 5> {
            var s: S;
            var x = 1.0;
            add(&x, 2.0);
            let p = &x;
            *p *= 2.0;
            twice(&s, i);
            twice(&s, i);
            return array(x, s.v.x, s.v[1], s.a[1].x, s.a[i].y);
        }";
    assert_eq!(
        eval(text, &[Value::I32(1)]),
        f32s(&[6.0, 0.0, 2.0, 6.0, 7.0])
    );
    assert_eq!(
        eval(text, &[Value::I32(0)]),
        f32s(&[6.0, 2.0, 0.0, 0.0, 7.0])
    );
}

#[test]
fn stores_to_components_and_columns() {
    let text = "fn f(i: u32) -> mat2x2<f32> {
        var m = mat2x2<f32>(1.0, 2.0, 3.0, 4.0);
        m[i] = vec2(9.0);
        m[1u - i][i] = 5.0;
        m[0].y += 0.5;
        return m;
    }";
    let matrix = |a: [f32; 2], b: [f32; 2]| Value::Composite(vec![f32s(&a), f32s(&b)]);
    assert_eq!(eval(text, &[Value::U32(0)]), matrix([9.0, 9.5], [5.0, 4.0]));
    assert_eq!(eval(text, &[Value::U32(1)]), matrix([1.0, 5.5], [9.0, 9.0]));
}

#[test]
fn values_do_not_change_with_their_variables() {
    let text = "fn f(x: i32) -> i32 { var v = x; let before = v; v = 7; return before * 10 + v; }";
    assert_eq!(eval(text, &[Value::I32(3)]), Value::I32(37));
    let swap = "fn f(x: vec2<i32>) -> vec2<i32> { var v = x; v = v.yx; return v; }";
    assert_eq!(eval(swap, &[i32s(&[1, 2])]), i32s(&[2, 1]));
    let phony =
        "fn g(x: i32) -> i32 { return x; } fn f(x: i32) -> i32 { _ = g(x); g(x); return x; }";
    assert_eq!(eval(phony, &[Value::I32(4)]), Value::I32(4));
}

#[test]
fn arrays_by_value() {
    let text = "
        fn sort(input: array<u32, 5>) -> array<u32, 5> {
            var a = input;
            for (var i = 1u; i < 5u; i++) {
                for (var j = i; j > 0u && a[j - 1u] > a[j]; j--) {
                    let t = a[j]; a[j] = a[j - 1u]; a[j - 1u] = t;
                }
            }
            return a;
        }
        fn f(a: array<u32, 5>) -> array<u32, 5> { return sort(a); }";
    assert_eq!(
        eval(text, &[u32s(&[4, 1, 5, 9, 2])]),
        u32s(&[1, 2, 4, 5, 9])
    );
    let index = "fn f(i: i32) -> f32 { let a = array(1.0, 2.0, 4.0); return a[i]; }";
    assert_eq!(eval(index, &[Value::I32(2)]), Value::F32(4.0));
    assert_eq!(eval(index, &[Value::I32(-1)]), Value::F32(4.0));
}

#[test]
fn endless_loops_end_in_an_error() {
    for text in [
        "fn f(x: i32) -> i32 {\n  var y = x;\n  while y < 10 { y = x; }\n  return y;\n}",
        "fn f(x: i32) -> i32 {\n  var y = 0;\n  loop { if x > 5 { break; } }\n  return y;\n}",
    ] {
        let f = interpreter(text, "f").unwrap();
        match f.call(&[Value::I32(1)]) {
            Err(Error::Wgsl {
                line: 3,
                column: 3,
                message,
            }) => {
                assert!(message.contains("did not end"), "{message}");
            }
            other => panic!("{other:?}"),
        }
    }
    let fine = "fn f(x: i32) -> i32 { var y = 0; for (var i = 0; i < 1000000; i++) { y ^= i; } return y; }";
    let expected = (0..1_000_000).fold(0, |y, i| y ^ i);
    assert_eq!(eval(fine, &[Value::I32(1)]), Value::I32(expected));
}

#[test]
fn one_scratch_serves_several_programs() {
    let a = interpreter("fn f(x: f32) -> f32 { return x * 3.0; }", "f").unwrap();
    let b = interpreter("fn f(x: f32) -> f32 { return x + 5.0; }", "f").unwrap();
    let mut scratch = super::super::Scratch::new();
    let mut run = |f: &super::Interpreter, x: f32| {
        let mut out = [0];
        f.evaluate_words(&[x.to_bits()], &mut out, &mut scratch)
            .unwrap();
        f32::from_bits(out[0])
    };
    for x in [1.0, 2.5] {
        assert_eq!(run(&a, x), x * 3.0);
        assert_eq!(run(&b, x), x + 5.0);
    }
}

#[test]
fn arguments_that_do_not_fit() {
    let f = interpreter("fn f(x: f32, y: vec2<u32>) -> f32 { return x; }", "f").unwrap();
    for arguments in [
        vec![],
        vec![Value::I32(1), u32s(&[1, 2])],
        vec![Value::F32(1.0), u32s(&[1, 2, 3])],
        vec![Value::F32(1.0), i32s(&[1, 2])],
    ] {
        assert!(matches!(f.call(&arguments), Err(Error::Inputs { .. })));
    }
    let mut scratch = super::super::Scratch::new();
    let short = f.evaluate_words(&[0, 0], &mut [0], &mut scratch);
    assert!(matches!(short, Err(Error::Inputs { .. })));
    let narrow = f.evaluate_words(&[0, 0, 0], &mut [], &mut scratch);
    assert!(matches!(narrow, Err(Error::Inputs { .. })));
}
