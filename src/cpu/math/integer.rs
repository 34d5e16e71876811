//! Integer twins: wrapping, with WGSL's division (x/0 = x, x%0 = 0,
//! MIN/−1 = MIN, MIN%−1 = 0).

macro_rules! integers {
    ($module:ident, $type:ident, $doc:literal) => {
        #[doc = $doc]
        #[allow(missing_docs, reason = "documented once, in the table of operations")]
        pub mod $module {
            #[inline]
            pub fn neg(x: $type) -> $type {
                x.wrapping_neg()
            }
            #[inline]
            pub fn square(x: $type) -> $type {
                x.wrapping_mul(x)
            }
            #[inline]
            pub fn clamp(x: $type, low: $type, high: $type) -> $type {
                x.max(low).min(high)
            }
            #[inline]
            pub fn bit_not(x: $type) -> $type {
                !x
            }
            #[inline]
            pub fn add(a: $type, b: $type) -> $type {
                a.wrapping_add(b)
            }
            #[inline]
            pub fn sub(a: $type, b: $type) -> $type {
                a.wrapping_sub(b)
            }
            #[inline]
            pub fn mul(a: $type, b: $type) -> $type {
                a.wrapping_mul(b)
            }
            #[inline]
            pub fn div(a: $type, b: $type) -> $type {
                if b == 0 { a } else { a.wrapping_div(b) }
            }
            #[inline]
            pub fn rem(a: $type, b: $type) -> $type {
                if b == 0 { 0 } else { a.wrapping_rem(b) }
            }
            #[inline]
            pub fn min(a: $type, b: $type) -> $type {
                a.min(b)
            }
            #[inline]
            pub fn max(a: $type, b: $type) -> $type {
                a.max(b)
            }
            #[inline]
            pub fn bit_and(a: $type, b: $type) -> $type {
                a & b
            }
            #[inline]
            pub fn bit_or(a: $type, b: $type) -> $type {
                a | b
            }
            #[inline]
            pub fn bit_xor(a: $type, b: $type) -> $type {
                a ^ b
            }
            #[inline]
            pub fn shift_left(a: $type, b: $type) -> $type {
                a.wrapping_shl(b as u32)
            }
            #[inline]
            pub fn shift_right(a: $type, b: $type) -> $type {
                a.wrapping_shr(b as u32)
            }
            #[inline]
            pub fn eq(a: $type, b: $type) -> $type {
                (a == b) as $type
            }
            #[inline]
            pub fn ne(a: $type, b: $type) -> $type {
                (a != b) as $type
            }
            #[inline]
            pub fn lt(a: $type, b: $type) -> $type {
                (a < b) as $type
            }
            #[inline]
            pub fn le(a: $type, b: $type) -> $type {
                (a <= b) as $type
            }
            #[inline]
            pub fn gt(a: $type, b: $type) -> $type {
                (a > b) as $type
            }
            #[inline]
            pub fn ge(a: $type, b: $type) -> $type {
                (a >= b) as $type
            }
            pub use super::$type::*;
        }
    };
}
integers!(signed, i32, "On `i32`.");
integers!(unsigned, u32, "On `u32`.");

/// Where the signed twin differs by more than its type.
mod i32 {
    #[inline]
    pub fn abs(x: i32) -> i32 {
        x.wrapping_abs()
    }
    #[inline]
    pub fn sign(x: i32) -> i32 {
        x.signum()
    }
    /// A negative power is 0, but for the powers of 1 and −1.
    #[inline]
    pub fn pow(a: i32, b: i32) -> i32 {
        match (a, b) {
            (1, _) => 1,
            (-1, _) => 1 - 2 * (b & 1),
            (_, b) if b < 0 => 0,
            _ => a.wrapping_pow(b as u32),
        }
    }
}

/// Where the unsigned twin differs by more than its type.
mod u32 {
    #[inline]
    pub fn abs(x: u32) -> u32 {
        x
    }
    #[inline]
    pub fn sign(x: u32) -> u32 {
        (x > 0) as u32
    }
    #[inline]
    pub fn pow(a: u32, b: u32) -> u32 {
        a.wrapping_pow(b)
    }
}
