//! Tables for people: colours only on a terminal, whole lines when piped.

use comfy_table::{ContentArrangement, Table, presets};

/// An empty table with these headings.
pub fn table(headings: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    // On a terminal cells wrap to its width; a pipe has none.
    table.set_content_arrangement(ContentArrangement::Dynamic);
    table.set_header(headings);
    table
}

/// A progress bar of `length` steps: on a terminal only.
pub fn progress(length: u64) -> indicatif::ProgressBar {
    let bar = indicatif::ProgressBar::new(length);
    let style = indicatif::ProgressStyle::with_template("{wide_bar} {pos}/{len} {eta} {msg}");
    // The template is a constant; were it wrong, the default style would do.
    style.map(|style| bar.set_style(style)).ok();
    bar
}
