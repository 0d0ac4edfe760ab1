//! A row of bars for a series: heights from a glyph set, a `?` where nothing is known.

use crate::ui::Glyphs;

/// Draws the last `width` values. Not known is `?`, never a low bar. A bar is full at the largest
/// value, but never below `full`: a trickle must not look like a flood.
pub fn bars(values: &[Option<u64>], width: usize, full: u64, glyphs: &Glyphs) -> String {
    let shown = values.iter().rev().take(width).rev();
    let top = values.iter().rev().take(width).flatten().copied().max().unwrap_or(0).max(full);
    let last = u64::try_from(glyphs.levels.len().saturating_sub(1)).unwrap_or(7);
    let mut out: String = " ".repeat(width.saturating_sub(values.len()));
    for value in shown {
        out.push_str(match value {
            None => "?",
            Some(value) => {
                let level = if top == 0 { 0 } else { value.saturating_mul(last).div_ceil(top) };
                let level = usize::try_from(level).unwrap_or(0);
                glyphs.levels.get(level).copied().unwrap_or(" ")
            }
        });
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::Charset;

    #[test]
    fn known_zero_and_not_known_differ() {
        let glyphs = Glyphs::of(Charset::Unicode);
        assert_eq!(bars(&[Some(0), None, Some(7), Some(1)], 6, 0, glyphs), "  ▁?█▂");
        assert_eq!(bars(&[Some(0), Some(0)], 2, 0, glyphs), "▁▁");
        assert_eq!(bars(&[Some(1), Some(0), Some(9)], 2, 0, Glyphs::of(Charset::Ascii)), "_#");
        assert_eq!(bars(&[], 2, 0, glyphs), "  ");
        assert_eq!(bars(&[Some(1), Some(1)], 2, 70, glyphs), "▂▂");
    }
}
