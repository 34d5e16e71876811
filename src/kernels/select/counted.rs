//! Results whose size only the device knows.

use crate::error::Result;
use crate::tensor::{Outputs, Tensor};

/// A tensor with room for more elements than it holds, and how many it holds,
/// which stays on the device: nothing is read back before [`count`](Self::count)
/// or [`trim`](Self::trim).
#[derive(Debug, Clone)]
pub struct Counted {
    data: Tensor,
    count: Tensor,
}

impl Counted {
    /// Output `index`, counted by the last one.
    pub(super) fn of(outputs: Outputs, index: usize) -> Result<Counted> {
        let tensors = outputs.into_tensors();
        Ok(Counted {
            data: tensors[index].clone(),
            count: tensors[tensors.len() - 1].clone(),
        })
    }

    /// The first two outputs, counted by the last one.
    pub(super) fn pair(outputs: Outputs) -> Result<(Counted, Counted)> {
        let tensors = outputs.into_tensors();
        let count = &tensors[tensors.len() - 1];
        let counted = |data: &Tensor| Counted {
            data: data.clone(),
            count: count.clone(),
        };
        Ok((counted(&tensors[0]), counted(&tensors[1])))
    }

    /// All of the room, of rank 1. What lies behind the counted elements means nothing.
    pub fn data(&self) -> &Tensor {
        &self.data
    }

    /// How many elements count, as a tensor on the device: u32 \[1\].
    pub fn count_tensor(&self) -> &Tensor {
        &self.count
    }

    /// The most elements that there can be.
    pub fn capacity(&self) -> usize {
        self.data.len()
    }

    /// Reads how many elements there are.
    ///
    /// # Errors
    /// [`Error::DeviceLost`](crate::Error::DeviceLost) and what the device reports.
    pub async fn count(&self) -> Result<usize> {
        Ok(self.clamped(&self.count.to_vec::<u32>().await?))
    }

    fn clamped(&self, count: &[u32]) -> usize {
        count
            .first()
            .map_or(0, |&count| count as usize)
            .min(self.capacity())
    }

    /// The elements that count: a view of the same memory.
    ///
    /// # Errors
    /// As [`count`](Self::count).
    pub async fn trim(&self) -> Result<Tensor> {
        self.data.narrow(0, 0, self.count().await?)
    }

    /// As [`count`](Self::count), blocking.
    ///
    /// # Errors
    /// As [`count`](Self::count).
    #[cfg(not(target_arch = "wasm32"))]
    pub fn count_blocking(&self) -> Result<usize> {
        Ok(self.clamped(&self.count.to_vec_blocking::<u32>()?))
    }

    /// As [`trim`](Self::trim), blocking.
    ///
    /// # Errors
    /// As [`count`](Self::count).
    #[cfg(not(target_arch = "wasm32"))]
    pub fn trim_blocking(&self) -> Result<Tensor> {
        self.data.narrow(0, 0, self.count_blocking()?)
    }
}
