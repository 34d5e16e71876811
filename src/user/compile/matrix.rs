//! Products of matrices, transposes and determinants. Columns lie one after
//! the other.

use naga::TypeInner;

use super::super::scalar::{Binary, Unary};
use super::{Compiler, Value};
use crate::error::Result;

impl Compiler<'_> {
    /// The product, when it is one of linear algebra; `None` when it is by component.
    pub(super) fn matrix_product(
        &mut self,
        left_ty: &TypeInner,
        right_ty: &TypeInner,
        left: Value,
        right: Value,
    ) -> Result<Option<Value>> {
        // A vector on the left is a row, one on the right a column.
        let (rows, inner, columns) = match (left_ty, right_ty) {
            (
                &TypeInner::Matrix { columns, rows, .. },
                &TypeInner::Matrix {
                    columns: right_columns,
                    ..
                },
            ) => (rows as u16, columns as u16, right_columns as u16),
            (&TypeInner::Matrix { columns, rows, .. }, TypeInner::Vector { .. }) => {
                (rows as u16, columns as u16, 1)
            }
            (TypeInner::Vector { .. }, &TypeInner::Matrix { columns, rows, .. }) => {
                (1, rows as u16, columns as u16)
            }
            _ => return Ok(None),
        };
        let mut elements = Vec::with_capacity(rows as usize * columns as usize);
        for column in 0..columns {
            for row in 0..rows {
                let mut sum = None;
                for i in 0..inner {
                    let a = left.slice(i * rows + row, 1);
                    let b = right.slice(column * inner + i, 1);
                    let term = self.binary(Binary::MulF, a, b)?;
                    sum = Some(match sum {
                        None => term,
                        Some(sum) => self.binary(Binary::AddF, sum, term)?,
                    });
                }
                elements.extend(sum);
            }
        }
        self.gather(&elements).map(Some)
    }

    pub(super) fn transpose(&mut self, ty: &TypeInner, matrix: Value) -> Result<Value> {
        let &TypeInner::Matrix { columns, rows, .. } = ty else {
            return Err(self.unsupported("this transpose"));
        };
        let (columns, rows) = (columns as u16, rows as u16);
        let elements: Vec<Value> = (0..rows)
            .flat_map(|row| (0..columns).map(move |column| matrix.slice(column * rows + row, 1)))
            .collect();
        self.gather(&elements)
    }

    pub(super) fn determinant(&mut self, ty: &TypeInner, matrix: Value) -> Result<Value> {
        let &TypeInner::Matrix { rows, .. } = ty else {
            return Err(self.unsupported("this determinant"));
        };
        let rows = rows as u16;
        let columns: Vec<Value> = (0..rows)
            .map(|column| matrix.slice(column * rows, rows))
            .collect();
        let all: Vec<u16> = (0..rows).collect();
        self.minor(&columns, &all)
    }

    /// The determinant of some rows of some columns, along the first column.
    fn minor(&mut self, columns: &[Value], rows: &[u16]) -> Result<Value> {
        let Some((first, others)) = columns.split_first() else {
            return self.float(1.0);
        };
        let mut sum = None;
        for (i, &row) in rows.iter().enumerate() {
            let element = first.slice(row, 1);
            if others.is_empty() {
                return Ok(element);
            }
            let other_rows: Vec<u16> = rows.iter().copied().filter(|&other| other != row).collect();
            let minor = self.minor(others, &other_rows)?;
            let term = self.binary(Binary::MulF, element, minor)?;
            sum = Some(match sum {
                None => term,
                Some(sum) if i % 2 == 0 => self.binary(Binary::AddF, sum, term)?,
                Some(sum) => self.binary(Binary::SubF, sum, term)?,
            });
        }
        match sum {
            Some(sum) => Ok(sum),
            None => self.float(1.0),
        }
    }

    /// The sum of the products of components.
    pub(super) fn dot(
        &mut self,
        multiply: Binary,
        add: Binary,
        a: Value,
        b: Value,
    ) -> Result<Value> {
        let products = self.binary(multiply, a, b)?;
        self.fold(add, products)
    }

    pub(super) fn length(&mut self, vector: Value) -> Result<Value> {
        if vector.words == 1 {
            return self.unary(Unary::AbsF, vector);
        }
        let squares = self.dot(Binary::MulF, Binary::AddF, vector, vector)?;
        self.unary(Unary::Sqrt, squares)
    }
}
