//! The text header of an `.npy` file: a Python dictionary of three known keys.
//!
//! Parsed here, and only as far as those keys go, because a parser of any Python
//! literal is a liability on untrusted files: that of the `npyz` crate takes 35
//! seconds on a header of twenty opening brackets, and its time doubles with each.

use super::Problem;
use super::stored::{Layout, Stored};
use crate::dtype::DType;

/// Parses a header's text.
pub(super) fn parse(text: &[u8]) -> Result<Layout, Problem> {
    let mut parser = Parser { text, at: 0 };
    let (mut descr, mut fortran, mut shape) = (None, None, None);
    parser.expect(b'{')?;
    while !parser.eat(b'}') {
        let key = parser.string()?;
        parser.expect(b':')?;
        let repeated = match key {
            b"descr" => descr.replace(parser.descr()?).is_some(),
            b"fortran_order" => fortran.replace(parser.boolean()?).is_some(),
            b"shape" => shape.replace(parser.shape()?).is_some(),
            other => {
                return Err(format!(
                    "the header has an unknown key `{}`; it takes `descr`, `fortran_order` and `shape`",
                    other.escape_ascii()
                ));
            }
        };
        if repeated {
            return Err(format!(
                "the header has `{}` twice; save the file again",
                key.escape_ascii()
            ));
        }
        if !parser.eat(b',') {
            parser.expect(b'}')?;
            break;
        }
    }
    parser.end()?;
    let missing = |key: &str| format!("the header lacks `{key}`; save the file again");
    let (stored, big_endian) = descr.ok_or_else(|| missing("descr"))?;
    Ok(Layout {
        stored,
        big_endian,
        fortran: fortran.ok_or_else(|| missing("fortran_order"))?,
        shape: shape.ok_or_else(|| missing("shape"))?,
    })
}

/// The element type that numpy's type string stands for, and whether it is big-endian.
fn stored(descr: &[u8]) -> Result<(Stored, bool), Problem> {
    let (order, code) = match descr {
        [order @ (b'<' | b'>' | b'|'), code @ ..] => (*order, code),
        _ => (b'?', descr),
    };
    let stored = match code {
        b"f4" => Stored::Exact(DType::F32),
        b"f2" => Stored::Exact(DType::F16),
        // What numpy makes of the bfloat16 of ml_dtypes.
        b"V2" => Stored::Exact(DType::BF16),
        b"i4" => Stored::Exact(DType::I32),
        b"u4" => Stored::Exact(DType::U32),
        b"b1" => Stored::Bool,
        b"i1" => Stored::I8,
        b"u1" => Stored::U8,
        b"i2" => Stored::I16,
        b"u2" => Stored::U16,
        b"i8" => Stored::I64,
        b"u8" => Stored::U64,
        b"f8" => Stored::F64,
        b"O" => {
            return Err(
                "an object array holds pickled Python objects, which are never run here; convert it with `x.astype(numpy.float32)` and save again".into(),
            );
        }
        [b'c', ..] => {
            return Err(
                "complex numbers are not read; save `x.astype(numpy.complex64).view(numpy.float32)`, whose last axis alternates re and im".into(),
            );
        }
        _ => return Err(unknown(descr)),
    };
    match order {
        b'<' => Ok((stored, false)),
        // Opaque bytes have no order; no writer gives them the other one.
        b'>' if code != b"V2" => Ok((stored, true)),
        b'|' if stored.size() == 1 || code == b"V2" => Ok((stored, false)),
        _ => Err(unknown(descr)),
    }
}

fn unknown(descr: &[u8]) -> Problem {
    format!(
        "the dtype `{}` is not read; convert the array to float32, float16, int32 or uint32",
        descr.escape_ascii()
    )
}

struct Parser<'a> {
    text: &'a [u8],
    at: usize,
}

impl<'a> Parser<'a> {
    /// The next byte that is not white space, without taking it.
    fn peek(&mut self) -> Option<u8> {
        while self.text.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
        self.text.get(self.at).copied()
    }

    fn wrong<T>(&self, wanted: &str) -> Result<T, Problem> {
        Err(format!(
            "the header is not that of an .npy file: {wanted} expected at byte {} of its text",
            self.at
        ))
    }

    fn eat(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, byte: u8) -> Result<(), Problem> {
        match self.eat(byte) {
            true => Ok(()),
            false => self.wrong(&format!("`{}`", char::from(byte))),
        }
    }

    fn end(&mut self) -> Result<(), Problem> {
        match self.peek() {
            None => Ok(()),
            Some(_) => self.wrong("the end"),
        }
    }

    fn take_while(&mut self, keep: impl Fn(&u8) -> bool) -> &'a [u8] {
        let rest = &self.text[self.at..];
        let length = rest.iter().position(|b| !keep(b)).unwrap_or(rest.len());
        self.at += length;
        &rest[..length]
    }

    /// A string without escapes, which no key or type string needs.
    fn string(&mut self) -> Result<&'a [u8], Problem> {
        let Some(quote @ (b'\'' | b'"')) = self.peek() else {
            return self.wrong("a string");
        };
        self.at += 1;
        let string = self.take_while(|&b| b != quote && b != b'\\');
        match self.text.get(self.at) {
            Some(&end) if end == quote => {
                self.at += 1;
                Ok(string)
            }
            _ => self.wrong("a closing quote"),
        }
    }

    fn descr(&mut self) -> Result<(Stored, bool), Problem> {
        match self.peek() {
            Some(b'[' | b'(') => Err(
                "a structured array is not read; save each field as an array of its own, together in an .npz".into(),
            ),
            _ => stored(self.string()?),
        }
    }

    fn boolean(&mut self) -> Result<bool, Problem> {
        self.peek();
        match self.take_while(u8::is_ascii_alphabetic) {
            b"True" => Ok(true),
            b"False" => Ok(false),
            _ => self.wrong("True or False"),
        }
    }

    fn shape(&mut self) -> Result<Vec<usize>, Problem> {
        self.expect(b'(')?;
        let mut shape = Vec::new();
        while !self.eat(b')') {
            shape.push(self.extent()?);
            if !self.eat(b',') {
                // `(3)` would be a number to Python; numpy writes `(3,)`.
                if shape.len() == 1 {
                    return self.wrong("`,`");
                }
                self.expect(b')')?;
                break;
            }
        }
        Ok(shape)
    }

    fn extent(&mut self) -> Result<usize, Problem> {
        self.peek();
        let digits = self.take_while(u8::is_ascii_digit);
        if digits.is_empty() {
            return self.wrong("a size, which is a number from 0,");
        }
        // Python 2 marked long integers so.
        if self.text.get(self.at) == Some(&b'L') {
            self.at += 1;
        }
        digits
            .iter()
            .try_fold(0usize, |n, digit| {
                n.checked_mul(10)?.checked_add(usize::from(digit - b'0'))
            })
            .ok_or_else(|| {
                format!(
                    "the header has a size of {} digits, beyond what can be counted; it is wrong",
                    digits.len()
                )
            })
    }
}
