//! Random programs against a direct evaluation.

use proptest::prelude::*;

use super::super::Scratch;
use super::{UserModule, interpreter};

/// An expression over `a`, `b` and `c`, as WGSL text and as its value.
#[derive(Debug, Clone)]
enum Tree<T> {
    Variable(usize),
    Constant(T),
    Binary(&'static str, Box<Tree<T>>, Box<Tree<T>>),
    Select(Box<Tree<T>>, Box<Tree<T>>, Box<Tree<T>>),
}

const OPERATORS: &[&str] = &["+", "-", "*", "/", "%", "min", "max", "&", "|", "^"];

fn tree<T: Clone + std::fmt::Debug + 'static>(
    constants: BoxedStrategy<T>,
    operators: &'static [&'static str],
) -> BoxedStrategy<Tree<T>> {
    let leaf = prop_oneof![
        (0..3usize).prop_map(Tree::Variable),
        constants.prop_map(Tree::Constant),
    ];
    leaf.prop_recursive(6, 48, 3, move |inner| {
        let pair = (inner.clone(), inner.clone());
        prop_oneof![
            (prop::sample::select(operators), pair.clone()).prop_map(|(op, (a, b))| Tree::Binary(
                op,
                a.into(),
                b.into()
            )),
            (pair, inner).prop_map(|((a, b), c)| Tree::Select(a.into(), b.into(), c.into())),
        ]
    })
    .boxed()
}

impl<T: Copy + PartialOrd> Tree<T> {
    /// WGSL that evaluates the tree; `let`s keep naga from folding constants,
    /// whose overflow it refuses.
    fn text(&self, literal: &dyn Fn(T) -> String, lets: &mut String, count: &mut usize) -> String {
        let value = match self {
            Tree::Variable(index) => return ["a", "b", "c"][*index].into(),
            Tree::Constant(value) => literal(*value),
            Tree::Binary(op, a, b) => {
                let (a, b) = (a.text(literal, lets, count), b.text(literal, lets, count));
                if op.len() > 1 {
                    format!("{op}({a}, {b})")
                } else {
                    format!("({a} {op} {b})")
                }
            }
            Tree::Select(a, b, c) => {
                let (a, b) = (a.text(literal, lets, count), b.text(literal, lets, count));
                let c = c.text(literal, lets, count);
                format!("select({a}, {b}, {a} < {c})")
            }
        };
        *count += 1;
        lets.push_str(&format!("let t{count} = {value};\n"));
        format!("t{count}")
    }

    fn value(&self, variables: &[T; 3], apply: &dyn Fn(&str, T, T) -> T) -> T {
        match self {
            Tree::Variable(index) => variables[*index],
            Tree::Constant(value) => *value,
            Tree::Binary(op, a, b) => {
                apply(op, a.value(variables, apply), b.value(variables, apply))
            }
            Tree::Select(a, b, c) => {
                let a = a.value(variables, apply);
                if a < c.value(variables, apply) {
                    b.value(variables, apply)
                } else {
                    a
                }
            }
        }
    }

    fn run(&self, ty: &str, literal: &dyn Fn(T) -> String, words: [u32; 3]) -> u32 {
        let mut lets = String::new();
        let result = self.text(literal, &mut lets, &mut 0);
        let text =
            format!("fn f(a: {ty}, b: {ty}, c: {ty}) -> {ty} {{\n{lets}return {result};\n}}");
        let f = interpreter(&text, "f").unwrap_or_else(|error| panic!("{error}\n{text}"));
        let mut out = [0];
        f.evaluate_words(&words, &mut out, &mut Scratch::new())
            .unwrap();
        out[0]
    }
}

fn i32_apply(op: &str, a: i32, b: i32) -> i32 {
    match op {
        "+" => a.wrapping_add(b),
        "-" => a.wrapping_sub(b),
        "*" => a.wrapping_mul(b),
        "/" if b == 0 => a,
        "/" => a.wrapping_div(b),
        "%" if b == 0 => 0,
        "%" => a.wrapping_rem(b),
        "min" => a.min(b),
        "max" => a.max(b),
        "&" => a & b,
        "|" => a | b,
        _ => a ^ b,
    }
}

fn u32_apply(op: &str, a: u32, b: u32) -> u32 {
    match op {
        "+" => a.wrapping_add(b),
        "-" => a.wrapping_sub(b),
        "*" => a.wrapping_mul(b),
        "/" => a.checked_div(b).unwrap_or(a),
        "%" => a.checked_rem(b).unwrap_or(0),
        "min" => a.min(b),
        "max" => a.max(b),
        "&" => a & b,
        "|" => a | b,
        _ => a ^ b,
    }
}

fn f32_apply(op: &str, a: f32, b: f32) -> f32 {
    match op {
        "+" => a + b,
        "-" => a - b,
        "*" => a * b,
        "/" => a / b,
        "%" => a % b,
        "min" => a.min(b),
        _ => a.max(b),
    }
}

fn edgy_i32() -> BoxedStrategy<i32> {
    prop_oneof![
        any::<i32>(),
        Just(i32::MIN),
        Just(i32::MAX),
        Just(-1),
        Just(0),
        Just(1)
    ]
    .boxed()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn i32_trees(tree in tree(edgy_i32(), OPERATORS), v in [edgy_i32(), edgy_i32(), edgy_i32()]) {
        let literal = |v: i32| format!("bitcast<i32>({}u)", v as u32);
        let expected = tree.value(&v, &i32_apply);
        prop_assert_eq!(tree.run("i32", &literal, v.map(|v| v as u32)) as i32, expected);
    }

    #[test]
    fn u32_trees(tree in tree(any::<u32>().boxed(), OPERATORS), v in any::<[u32; 3]>()) {
        let expected = tree.value(&v, &u32_apply);
        prop_assert_eq!(tree.run("u32", &|v| format!("{v}u"), v), expected);
    }

    #[test]
    fn f32_trees(
        tree in tree((-1e6f32..1e6).boxed(), &OPERATORS[..7]),
        v in [-1e6f32..1e6, -1e6f32..1e6, -1e6f32..1e6],
    ) {
        let expected = tree.value(&v, &f32_apply);
        let found = f32::from_bits(tree.run("f32", &|v| format!("{v:?}f"), v.map(f32::to_bits)));
        prop_assert!(found == expected || found.is_nan() && expected.is_nan(), "{found} {expected}");
    }

    /// Text from the tokens of WGSL, most of it nonsense.
    #[test]
    fn nonsense_is_no_danger(words in prop::collection::vec(prop::sample::select(WORDS), 0..40)) {
        let text = words.join(" ");
        let _ = UserModule::parse(&text, "");
        let _ = UserModule::parse(&format!("fn f(a: f32) -> f32 {{ {text} }}"), "");
        let _ = UserModule::parse(&format!("fn f(a: f32) -> f32 {{ return {text}; }}"), "");
    }

    #[test]
    fn any_characters_are_no_danger(text in any::<String>()) {
        let _ = UserModule::parse(&text, "");
    }
}

#[rustfmt::skip]
const WORDS: &[&str] = &[
    "fn", "f", "(", ")", "{", "}", "[", "]", "<", ">", "a", "b", ":", ";", ",", "->", "return",
    "let", "var", "const", "=", "+", "-", "*", "&", "&&", "||", "!", "~", "1", "2.5", "0u", "1e99",
    "if", "else", "loop", "while", "for", "break", "continue", "switch", "case", "default", "f32",
    "vec2", "vec3f", "mat2x2f", "array", "struct", "alias", "ptr", "function", ".x", ".", "@",
    "must_use", "select", "max", "bitcast", "i32", "bool", "true", "discard", "_", "++", "+=",
];
