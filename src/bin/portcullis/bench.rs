#[derive(clap::Args)]
pub struct Arguments {}
pub fn main(_: &Arguments) -> crate::Outcome { Ok(true) }
