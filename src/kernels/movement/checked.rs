//! Results of indices that only the device has seen.

use crate::error::{Error, Result};
use crate::tensor::{Outputs, Tensor};

/// A result, and how many of the indices that it was made by were out of range:
/// known on the device, and read by [`check`](Self::check).
#[derive(Debug, Clone)]
pub struct Checked {
    operation: &'static str,
    data: Tensor,
    invalid: Tensor,
    rows: usize,
}

impl Checked {
    pub(super) fn of(operation: &'static str, outputs: Outputs, rows: usize) -> Checked {
        let mut tensors = outputs.into_tensors();
        let invalid = tensors.swap_remove(1);
        Checked {
            operation,
            data: tensors.swap_remove(0),
            invalid,
            rows,
        }
    }

    /// The result, with zeros for indices out of range.
    pub fn unchecked(&self) -> &Tensor {
        &self.data
    }

    /// How many indices were out of range, as a tensor on the device: u32 \[1\].
    pub fn invalid_tensor(&self) -> &Tensor {
        &self.invalid
    }

    /// The result, if every index was in range.
    ///
    /// # Errors
    /// [`Error::Inputs`] when some were not, and what reading reports.
    pub async fn check(&self) -> Result<Tensor> {
        let invalid = self.invalid.to_vec::<u32>().await?;
        self.judged(&invalid)
    }

    /// As [`check`](Self::check), blocking.
    ///
    /// # Errors
    /// As [`check`](Self::check).
    #[cfg(not(target_arch = "wasm32"))]
    pub fn check_blocking(&self) -> Result<Tensor> {
        let invalid = self.invalid.to_vec_blocking::<u32>()?;
        self.judged(&invalid)
    }

    fn judged(&self, invalid: &[u32]) -> Result<Tensor> {
        match invalid.first() {
            Some(0) | None => Ok(self.data.clone()),
            Some(count) => Err(Error::Inputs {
                operation: self.operation.into(),
                problem: format!(
                    "{count} indices are not within 0..{}; their rows are zeros in `unchecked()`",
                    self.rows
                ),
            }),
        }
    }
}
