//! Compactions one element after another.

use crate::error::Result;
use crate::gate::Expected;
use crate::gate::oracle::gather;
use crate::host::HostTensor;

fn number(count: usize) -> Result<Expected> {
    Ok(Expected::Bits(HostTensor::new(&[1], vec![count as u32])?))
}

/// What `select`, or with the `rest` behind `partition`, gives.
pub(crate) fn by_mask(x: &HostTensor, mask: &HostTensor, rest: bool) -> Result<Vec<Expected>> {
    let mask = mask.to_f64();
    let (mut chosen, others): (Vec<usize>, Vec<usize>) =
        (0..x.len()).partition(|&i| mask[i] != 0.0);
    let count = number(chosen.len())?;
    if rest {
        chosen.extend(others);
        return Ok(vec![
            Expected::Bits(gather(x, &chosen, &[chosen.len()])?),
            count,
        ]);
    }
    Ok(vec![
        Expected::Leading(gather(x, &chosen, &[chosen.len()])?),
        count,
    ])
}

/// What `unique`, or with their lengths `run_length_encode`, gives.
pub(crate) fn runs(x: &HostTensor, with_lengths: bool) -> Result<Vec<Expected>> {
    let values = x.to_f64();
    let mut starts = Vec::new();
    let mut lengths: Vec<i32> = Vec::new();
    for (i, &v) in values.iter().enumerate() {
        let before = i.checked_sub(1).map(|j| values[j]);
        let alike = |u: f64| u == v || (u.is_nan() && v.is_nan());
        match lengths.last_mut().filter(|_| before.is_some_and(alike)) {
            Some(length) => *length += 1,
            None => {
                starts.push(i);
                lengths.push(1);
            }
        }
    }
    let count = number(starts.len())?;
    let firsts = Expected::Leading(gather(x, &starts, &[starts.len()])?);
    if !with_lengths {
        return Ok(vec![firsts, count]);
    }
    let lengths = HostTensor::new(&[lengths.len()], lengths)?;
    Ok(vec![firsts, Expected::Leading(lengths), count])
}
