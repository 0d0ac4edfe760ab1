//! Tables as files of comma-separated values (RFC 4180), for whoever goes on in a spreadsheet. They leave the screen:
//! customers are masked in every cell.

use crate::domain::mask::Masks;
use crate::ui::text::safe_value;

/// One line of a table.
pub fn line<const N: usize>(cells: [String; N], masks: &mut Masks) -> String {
    let mut line = cells.map(|cell| quoted(&masks.hide_in_id(&cell))).join(",");
    line.push_str("\r\n");
    line
}

/// A cell no spreadsheet takes for a formula, and no separator breaks.
fn quoted(cell: &str) -> String {
    let cell = &safe_value(cell);
    let guarded =
        if cell.starts_with(['=', '+', '-', '@', '\t', '\r']) { format!("'{cell}") } else { cell.to_string() };
    let clean: String = guarded.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    format!("\"{}\"", clean.replace('"', "\"\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobodys_address_leaves_in_a_cell() {
        let mut masks = Masks::default();
        let all = line(["anna@example.com-17".to_owned(), "paid by anna@example.com".to_owned()], &mut masks);
        assert!(!all.contains("anna"), "{all}");
        assert!(line(["4111111111111111".to_owned()], &mut masks).contains("4111"), "an order may be a number");
    }

    #[test]
    fn a_cell_is_no_formula_and_breaks_no_row() {
        assert_eq!(quoted("=HYPERLINK(\"x\")"), "\"'=HYPERLINK(\"\"x\"\")\"");
        let broken = quoted("a,b\r\nc\u{202e}d\u{1b}[2J");
        assert!(!broken.contains(['\r', '\n', '\u{202e}', '\u{1b}']), "{broken}");
        assert_eq!(line(["a".to_owned(), "b".to_owned()], &mut Masks::default()), "\"a\",\"b\"\r\n");
    }
}
