//! The typed functions of this family, from the rows of the table.

use crate::error::Result;
use crate::kernels::math_table::{
    each_binary, each_integer_binary, each_integer_unary, each_unary,
};
use crate::params::Params;
use crate::tensor::{Tensor, call};

macro_rules! unary {
    ($($name:ident [$($param:ident = $default:literal),*] $uses:ident, $low:literal .. $high:literal, $doc:literal $(, $integer:ident)?;)*) => {$(
        #[doc = concat!("`", stringify!($name), "` of every element of `x`: ", $doc, ".")]
        ///
        #[doc = concat!(
            "```\nuse portcullis::{Device, Tensor, ops};\n",
            "let x = Tensor::from_slice(&Device::cpu(), &[0.25f32, 0.5], &[2])?;\n",
            "let y = ops::", stringify!($name), "(&x", $(", ", stringify!($default),)* ")?;\n",
            "assert_eq!(y.shape(), [2]);\n# Ok::<(), portcullis::Error>(())\n```",
        )]
        ///
        /// # Errors
        /// [`Error::DType`](crate::Error::DType) for a dtype that it is not defined on, and those of [`call`].
        pub fn $name(x: &Tensor $(, $param: f64)*) -> Result<Tensor> {
            let params = Params::new()$(.with(stringify!($param), $param))*;
            Ok(call(stringify!($name), &[Some(x)], &params)?.into_first())
        }
    )*};
}
each_unary!(unary);

macro_rules! integer_unary {
    ($($name:ident, $doc:literal;)*) => {$(
        #[doc = concat!("`", stringify!($name), "` of every element of `x`, integers: ", $doc, ".")]
        ///
        #[doc = concat!(
            "```\nuse portcullis::{Device, Tensor, ops};\n",
            "let x = Tensor::from_slice(&Device::cpu(), &[1i32, 2], &[2])?;\n",
            "assert_eq!(ops::", stringify!($name), "(&x)?.shape(), [2]);\n",
            "# Ok::<(), portcullis::Error>(())\n```",
        )]
        ///
        /// # Errors
        /// [`Error::DType`](crate::Error::DType) for floats, and those of [`call`].
        pub fn $name(x: &Tensor) -> Result<Tensor> {
            Ok(call(stringify!($name), &[Some(x)], &Params::new())?.into_first())
        }
    )*};
}
each_integer_unary!(integer_unary);

macro_rules! binary {
    ($($name:ident [$($derivative:ident)*], $low:literal .. $high:literal, $low_b:literal .. $high_b:literal, $doc:literal, $comparison:literal;)*) => {$(
        #[doc = concat!("`", stringify!($name), "` of two tensors of one dtype that broadcast: ", $doc, ".")]
        ///
        #[doc = concat!(
            "```\nuse portcullis::{Device, Tensor, ops};\n",
            "let a = Tensor::from_slice(&Device::cpu(), &[1.0f32, 2.0, 3.0, 4.0], &[2, 2])?;\n",
            "let b = Tensor::from_slice(&Device::cpu(), &[2.0f32, 3.0], &[2])?;\n",
            "assert_eq!(ops::", stringify!($name), "(&a, &b)?.shape(), [2, 2]);\n",
            "# Ok::<(), portcullis::Error>(())\n```",
        )]
        ///
        /// # Errors
        /// [`Error::DType`](crate::Error::DType) when the dtypes differ,
        /// [`Error::Shape`](crate::Error::Shape) when the shapes do not broadcast, and those of [`call`].
        pub fn $name(a: &Tensor, b: &Tensor) -> Result<Tensor> {
            Ok(call(stringify!($name), &[Some(a), Some(b)], &Params::new())?.into_first())
        }
    )*};
}
each_binary!(binary);

macro_rules! integer_binary {
    ($($name:ident, $doc:literal;)*) => {$(
        #[doc = concat!("`", stringify!($name), "` of two tensors of integers that broadcast: ", $doc, ".")]
        ///
        #[doc = concat!(
            "```\nuse portcullis::{Device, Tensor, ops};\n",
            "let a = Tensor::from_slice(&Device::cpu(), &[5i32, -6], &[2])?;\n",
            "let b = Tensor::from_slice(&Device::cpu(), &[3i32], &[1])?;\n",
            "assert_eq!(ops::", stringify!($name), "(&a, &b)?.shape(), [2]);\n",
            "# Ok::<(), portcullis::Error>(())\n```",
        )]
        ///
        /// # Errors
        /// [`Error::DType`](crate::Error::DType) for floats or different dtypes,
        /// [`Error::Shape`](crate::Error::Shape) when the shapes do not broadcast, and those of [`call`].
        pub fn $name(a: &Tensor, b: &Tensor) -> Result<Tensor> {
            Ok(call(stringify!($name), &[Some(a), Some(b)], &Params::new())?.into_first())
        }
    )*};
}
each_integer_binary!(integer_binary);
