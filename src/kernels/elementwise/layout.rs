//! Axes of several operands at once.

/// Extents and strides that all operands of a kernel share, outermost first.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Layout {
    /// Never empty: a single element is one axis of extent 1.
    pub extents: Vec<usize>,
    /// Of each operand, as many as there are extents.
    pub strides: Vec<Vec<isize>>,
}

impl Layout {
    /// Drops axes of extent 1 and merges neighbours that lie contiguously in
    /// every operand, as they do in the dense result.
    pub fn merge(shape: &[usize], strides: &[Vec<isize>]) -> Layout {
        let mut extents: Vec<usize> = Vec::new();
        let mut merged: Vec<Vec<isize>> = vec![Vec::new(); strides.len()];
        for (axis, &extent) in shape.iter().enumerate() {
            if extent == 1 {
                continue;
            }
            let contiguous = |(to, from): (&Vec<isize>, &Vec<isize>)| {
                to.last() == Some(&(from[axis] * extent as isize))
            };
            match extents.last_mut() {
                Some(outer) if merged.iter().zip(strides).all(contiguous) => {
                    *outer *= extent;
                    for (to, from) in merged.iter_mut().zip(strides) {
                        to.pop();
                        to.push(from[axis]);
                    }
                }
                _ => {
                    extents.push(extent);
                    for (to, from) in merged.iter_mut().zip(strides) {
                        to.push(from[axis]);
                    }
                }
            }
        }
        if extents.is_empty() {
            extents.push(1);
            merged.iter_mut().for_each(|to| to.push(0));
        }
        Layout {
            extents,
            strides: merged,
        }
    }

    pub fn rank(&self) -> usize {
        self.extents.len()
    }
}

#[cfg(test)]
mod tests {
    use super::Layout;

    #[test]
    fn axes_merge_only_where_every_operand_allows_it() {
        let dense = vec![12, 4, 1];
        let merged = |shape: &[usize], strides: &[Vec<isize>]| {
            let layout = Layout::merge(shape, strides);
            (layout.extents, layout.strides)
        };
        assert_eq!(
            merged(&[2, 3, 4], &[dense.clone(), dense.clone()]),
            (vec![24], vec![vec![1], vec![1]])
        );
        let row = vec![0, 0, 1];
        assert_eq!(
            merged(&[2, 3, 4], &[dense.clone(), row]),
            (vec![6, 4], vec![vec![4, 1], vec![0, 1]])
        );
        let column = vec![3, 1, 0];
        assert_eq!(
            merged(&[2, 3, 4], &[dense.clone(), column]),
            (vec![6, 4], vec![vec![4, 1], vec![1, 0]])
        );
        let one = vec![0, 0, 0];
        assert_eq!(
            merged(&[2, 3, 4], &[dense, one]),
            (vec![24], vec![vec![1], vec![0]])
        );
        assert_eq!(merged(&[1, 1], &[vec![7, 1]]), (vec![1], vec![vec![0]]));
        assert_eq!(merged(&[], &[vec![]]), (vec![1], vec![vec![0]]));
    }
}
