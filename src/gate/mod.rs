//! The gate: oracles and the bounds that results are held to.

pub mod oracle;
