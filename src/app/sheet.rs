//! Tables as files of comma-separated values (RFC 4180), for whoever goes on in a spreadsheet.

/// One line of a table.
pub fn line<const N: usize>(cells: [String; N]) -> String {
    let mut line = cells.map(|cell| quoted(&cell)).join(",");
    line.push_str("\r\n");
    line
}

/// A cell no spreadsheet takes for a formula, and no separator breaks.
fn quoted(cell: &str) -> String {
    let guarded = if cell.starts_with(['=', '+', '-', '@', '\t', '\r']) { format!("'{cell}") } else { cell.to_owned() };
    let clean: String = guarded.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    format!("\"{}\"", clean.replace('"', "\"\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_is_no_formula_and_breaks_no_row() {
        assert_eq!(quoted("=HYPERLINK(\"x\")"), "\"'=HYPERLINK(\"\"x\"\")\"");
        assert_eq!(quoted("a,b\r\nc"), "\"a,b  c\"");
        assert_eq!(line(["a".to_owned(), "b".to_owned()]), "\"a\",\"b\"\r\n");
    }
}
