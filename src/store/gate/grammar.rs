//! What a query may be made of: a table of every node kind and field that may occur in its tree.
//!
//! The tree is sqlparser's, as serde writes it. A node, a field or a variant that is not in this
//! table is refused, so whatever a newer parser learns is refused until somebody reads about it
//! and adds a line here. Says what may stand where; `walk` does the standing and the names.
//!
//! A field's kind is a short text:
//! `-` must be empty (null, false, "None", no elements) · `bool` · `yes` (true) · `text` · `span` (any: a place in the
//! text) · `Node` · `Node?` (or null) · `Node*` (a list of them).

/// One node kind.
pub(super) enum Node {
    /// An object with exactly these fields.
    Fields(&'static [(&'static str, &'static str)]),
    /// One of these variants; the kind of what it carries, or `-` when it carries nothing.
    OneOf(&'static [(&'static str, &'static str)]),
    /// An array of exactly these kinds.
    Parts(&'static [&'static str]),
}

use Node::{Fields, OneOf, Parts};

/// The table. The walk starts at `Statement`.
#[rustfmt::skip] // a table reads best in rows
pub(super) const GRAMMAR: &[(&str, Node)] = &[
    ("Statement", OneOf(&[("Query", "Query")])),
    ("Query", Fields(&[("with", "With?"), ("body", "SetExpr"), ("order_by", "OrderBy?"),
        ("limit_clause", "LimitClause?"), ("fetch", "-"), ("locks", "-"), ("for_clause", "-"),
        ("settings", "-"), ("format_clause", "-"), ("pipe_operators", "-")])),
    ("With", Fields(&[("with_token", "span"), ("recursive", "-"), ("cte_tables", "Cte*")])),
    ("Cte", Fields(&[("alias", "Alias"), ("query", "Query"), ("from", "-"),
        ("materialized", "Materialized?"), ("closing_paren_token", "span")])),
    ("Materialized", OneOf(&[("Materialized", "-"), ("NotMaterialized", "-")])),
    ("Alias", Fields(&[("explicit", "bool"), ("name", "Ident"), ("columns", "AliasColumn*"),
        ("at", "-")])),
    ("AliasColumn", Fields(&[("name", "Ident"), ("data_type", "Type?")])),
    ("Ident", Fields(&[("value", "text"), ("quote_style", "Quote?"), ("span", "span")])),
    ("Quote", OneOf(&[("\"", "-")])),
    ("Name", OneOf(&[("Identifier", "Ident")])),
    ("SetExpr", OneOf(&[("Select", "Select"), ("Query", "Query"),
        ("SetOperation", "SetOperation"), ("Values", "Values")])),
    ("SetOperation", Fields(&[("left", "SetExpr"), ("op", "SetOperator"),
        ("set_quantifier", "SetQuantifier"), ("right", "SetExpr")])),
    ("SetOperator", OneOf(&[("Union", "-"), ("Except", "-"), ("Intersect", "-")])),
    ("SetQuantifier", OneOf(&[("All", "-"), ("Distinct", "-"), ("None", "-")])),
    ("Values", Fields(&[("explicit_row", "-"), ("value_keyword", "-"), ("rows", "ValuesRow*")])),
    ("ValuesRow", Fields(&[("opening_token", "span"), ("content", "Expr*"),
        ("closing_token", "span")])),
    ("Select", Fields(&[("select_token", "span"), ("optimizer_hints", "-"),
        ("distinct", "Distinct?"), ("select_modifiers", "-"), ("top", "-"),
        ("top_before_distinct", "-"), ("projection", "SelectItem*"), ("exclude", "-"),
        ("into", "-"), ("from", "From*"), ("lateral_views", "-"), ("prewhere", "-"),
        ("selection", "Expr?"), ("connect_by", "-"), ("group_by", "GroupBy"),
        ("cluster_by", "-"), ("distribute_by", "-"), ("sort_by", "-"), ("having", "Expr?"),
        ("named_window", "NamedWindow*"), ("qualify", "-"), ("window_before_qualify", "bool"),
        ("value_table_mode", "-"), ("flavor", "Flavor")])),
    ("Flavor", OneOf(&[("Standard", "-")])),
    ("Distinct", OneOf(&[("Distinct", "-"), ("On", "Expr*")])),
    ("SelectItem", OneOf(&[("UnnamedExpr", "Expr"), ("ExprWithAlias", "AliasedExpr")])),
    ("AliasedExpr", Fields(&[("expr", "Expr"), ("alias", "Ident")])),
    ("GroupBy", OneOf(&[("Expressions", "GroupByParts")])),
    ("GroupByParts", Parts(&["Expr*", "-"])),
    ("NamedWindow", Parts(&["Ident", "WindowBody"])),
    ("WindowBody", OneOf(&[("WindowSpec", "WindowSpec")])),
    ("From", Fields(&[("relation", "Relation"), ("joins", "Join*")])),
    ("Join", Fields(&[("relation", "Relation"), ("global", "-"),
        ("join_operator", "JoinOperator")])),
    ("JoinOperator", OneOf(&[("Join", "JoinOn"), ("Inner", "JoinOn"), ("Left", "JoinOn"),
        ("LeftOuter", "JoinOn"), ("Right", "JoinOn"), ("RightOuter", "JoinOn"),
        ("FullOuter", "JoinOn"), ("CrossJoin", "JoinOn")])),
    ("JoinOn", OneOf(&[("On", "Expr"), ("Using", "UsingColumn*"), ("None", "-")])),
    ("UsingColumn", Parts(&["Name"])),
    ("Relation", OneOf(&[("Table", "Table"), ("Derived", "Derived"),
        ("Function", "TableFunction"), ("UNNEST", "Unnest"), ("NestedJoin", "NestedJoin")])),
    ("Table", Fields(&[("name", "Name*"), ("alias", "Alias?"), ("args", "TableArgs?"),
        ("with_hints", "-"), ("version", "-"), ("with_ordinality", "bool"), ("partitions", "-"),
        ("json_path", "-"), ("sample", "-"), ("index_directives", "-"), ("inheritance", "-")])),
    ("TableArgs", Fields(&[("args", "Arg*"), ("settings", "-")])),
    ("Derived", Fields(&[("lateral", "bool"), ("subquery", "Query"), ("alias", "Alias?"),
        ("sample", "-")])),
    ("TableFunction", Fields(&[("lateral", "bool"), ("name", "Name*"), ("args", "Arg*"),
        ("with_ordinality", "bool"), ("alias", "Alias?")])),
    ("Unnest", Fields(&[("alias", "Alias?"), ("array_exprs", "Expr*"), ("with_offset", "-"),
        ("with_offset_alias", "-"), ("with_ordinality", "bool")])),
    ("NestedJoin", Fields(&[("table_with_joins", "From"), ("alias", "Alias?")])),
    ("OrderBy", Fields(&[("kind", "OrderByKind"), ("interpolate", "-")])),
    ("OrderByKind", OneOf(&[("Expressions", "OrderByExpr*")])),
    ("OrderByExpr", Fields(&[("expr", "Expr"), ("options", "OrderByOptions"), ("with_fill", "-")])),
    ("OrderByOptions", Fields(&[("sort", "OrderBySort?"), ("nulls_first", "bool?")])),
    ("OrderBySort", OneOf(&[("Asc", "-"), ("Desc", "-")])),
    ("LimitClause", OneOf(&[("LimitOffset", "LimitOffset")])),
    ("LimitOffset", Fields(&[("limit", "Expr?"), ("offset", "-"), ("limit_by", "-")])),
    ("Expr", OneOf(&[("Identifier", "Ident"), ("CompoundIdentifier", "Ident*"),
        ("IsFalse", "Expr"), ("IsNotFalse", "Expr"), ("IsTrue", "Expr"), ("IsNotTrue", "Expr"),
        ("IsNull", "Expr"), ("IsNotNull", "Expr"), ("IsUnknown", "Expr"),
        ("IsNotUnknown", "Expr"), ("IsDistinctFrom", "TwoExprs"),
        ("IsNotDistinctFrom", "TwoExprs"), ("In", "In"), ("Between", "Between"),
        ("BinaryOp", "BinaryOp"), ("Like", "Like"), ("ILike", "Like"), ("AnyOp", "AnyOp"),
        ("AllOp", "AllOp"), ("UnaryOp", "UnaryOp"), ("Cast", "Cast"), ("Extract", "Extract"),
        ("Ceil", "CeilFloor"), ("Floor", "CeilFloor"), ("Position", "Position"),
        ("Substring", "Substring"), ("Trim", "Trim"), ("Nested", "Expr"), ("Value", "ValueAt"),
        ("TypedString", "TypedString"), ("Function", "Function"), ("Case", "Case"),
        ("Exists", "Exists"), ("Subquery", "Query"), ("Tuple", "Expr*"), ("Array", "Array"),
        ("Interval", "Interval")])),
    ("TwoExprs", Parts(&["Expr", "Expr"])),
    ("In", Fields(&[("expr", "Expr"), ("target", "InTarget"), ("negated", "bool"),
        ("global", "-")])),
    ("InTarget", OneOf(&[("List", "Expr*"), ("Subquery", "Query")])),
    ("Between", Fields(&[("expr", "Expr"), ("negated", "bool"), ("low", "Expr"),
        ("high", "Expr")])),
    ("BinaryOp", Fields(&[("left", "Expr"), ("op", "Operator"), ("right", "Expr")])),
    ("Operator", OneOf(&[("Plus", "-"), ("Minus", "-"), ("Multiply", "-"), ("Divide", "-"),
        ("Modulo", "-"), ("StringConcat", "-"), ("Gt", "-"), ("Lt", "-"), ("GtEq", "-"),
        ("LtEq", "-"), ("Eq", "-"), ("NotEq", "-"), ("And", "-"), ("Or", "-"),
        ("PGOverlap", "-"), ("PGRegexMatch", "-"), ("PGRegexIMatch", "-"),
        ("PGRegexNotMatch", "-"), ("PGRegexNotIMatch", "-"), ("Arrow", "-"), ("LongArrow", "-"),
        ("HashArrow", "-"), ("HashLongArrow", "-"), ("AtArrow", "-"), ("ArrowAt", "-"),
        ("Question", "-")])),
    ("Like", Fields(&[("negated", "bool"), ("any", "-"), ("expr", "Expr"), ("pattern", "Expr"),
        ("escape_char", "Expr?")])),
    ("AnyOp", Fields(&[("left", "Expr"), ("compare_op", "Operator"), ("right", "Expr"),
        ("is_some", "bool")])),
    ("AllOp", Fields(&[("left", "Expr"), ("compare_op", "Operator"), ("right", "Expr")])),
    ("UnaryOp", Fields(&[("op", "UnaryOperator"), ("expr", "Expr")])),
    ("UnaryOperator", OneOf(&[("Not", "-"), ("Minus", "-"), ("Plus", "-")])),
    ("Cast", Fields(&[("kind", "CastKind"), ("expr", "Expr"), ("data_type", "Type"),
        ("format", "-")])),
    ("CastKind", OneOf(&[("Cast", "-"), ("DoubleColon", "-")])),
    ("Extract", Fields(&[("field", "TimeField"), ("syntax", "ExtractSyntax"), ("expr", "Expr")])),
    ("ExtractSyntax", OneOf(&[("From", "-")])),
    ("TimeField", OneOf(&[("Epoch", "-"), ("Year", "-"), ("Month", "-"), ("Day", "-"),
        ("Hour", "-"), ("Minute", "-"), ("Second", "-")])),
    ("CeilFloor", Fields(&[("expr", "Expr"), ("field", "CeilFloorKind")])),
    ("CeilFloorKind", OneOf(&[("DateTimeField", "NoTimeField")])),
    ("NoTimeField", OneOf(&[("NoDateTime", "-")])),
    ("Position", Fields(&[("expr", "Expr"), ("in", "Expr")])),
    ("Substring", Fields(&[("expr", "Expr"), ("substring_from", "Expr?"),
        ("substring_for", "Expr?"), ("special", "bool"), ("shorthand", "bool")])),
    ("Trim", Fields(&[("trim_where", "-"), ("trim_what", "-"), ("expr", "Expr"),
        ("trim_characters", "-")])),
    ("ValueAt", Fields(&[("value", "Value"), ("span", "span")])),
    ("Value", OneOf(&[("Number", "Number"), ("SingleQuotedString", "text"), ("Boolean", "bool"),
        ("Null", "-"), ("Placeholder", "text")])),
    ("Number", Parts(&["text", "-"])),
    ("TypedString", Fields(&[("data_type", "Type"), ("value", "ValueAt"),
        ("uses_odbc_syntax", "-")])),
    ("Function", Fields(&[("name", "Name*"), ("uses_odbc_syntax", "-"), ("parameters", "-"),
        ("args", "CallArgs"), ("within_group", "OrderByExpr*"), ("filter", "Expr?"),
        ("null_treatment", "-"), ("over", "Over?")])),
    ("CallArgs", OneOf(&[("None", "-"), ("List", "ArgList")])),
    ("ArgList", Fields(&[("duplicate_treatment", "Duplicates?"), ("args", "Arg*"),
        ("clauses", "ArgClause*")])),
    ("Duplicates", OneOf(&[("Distinct", "-"), ("All", "-")])),
    ("ArgClause", OneOf(&[("OrderBy", "OrderByExpr*")])),
    ("Arg", OneOf(&[("Unnamed", "ArgExpr"), ("Named", "NamedArg"), ("ExprNamed", "ExprNamedArg")])),
    ("NamedArg", Fields(&[("name", "Ident"), ("arg", "ArgExpr"), ("operator", "ArgArrow")])),
    ("ExprNamedArg", Fields(&[("name", "ArgName"), ("arg", "ArgExpr"), ("operator", "ArgArrow")])),
    ("ArgName", OneOf(&[("Identifier", "Ident")])),
    ("ArgArrow", OneOf(&[("RightArrow", "-")])),
    ("ArgExpr", OneOf(&[("Expr", "Expr"), ("Wildcard", "-")])),
    ("Over", OneOf(&[("WindowSpec", "WindowSpec"), ("NamedWindow", "Ident")])),
    ("WindowSpec", Fields(&[("window_name", "-"), ("partition_by", "Expr*"),
        ("order_by", "OrderByExpr*"), ("window_frame", "Frame?")])),
    ("Frame", Fields(&[("units", "FrameUnits"), ("start_bound", "Bound"),
        ("end_bound", "Bound?")])),
    ("FrameUnits", OneOf(&[("Rows", "-"), ("Range", "-")])),
    ("Bound", OneOf(&[("CurrentRow", "-"), ("Preceding", "Expr?"), ("Following", "Expr?")])),
    ("Case", Fields(&[("case_token", "span"), ("end_token", "span"), ("operand", "Expr?"),
        ("conditions", "When*"), ("else_result", "Expr?")])),
    ("When", Fields(&[("condition", "Expr"), ("result", "Expr")])),
    ("Exists", Fields(&[("subquery", "Query"), ("negated", "bool")])),
    ("Array", Fields(&[("elem", "Expr*"), ("named", "yes")])),
    ("Interval", Fields(&[("value", "Expr"), ("leading_field", "-"), ("leading_precision", "-"),
        ("last_field", "-"), ("fractional_seconds_precision", "-")])),
    ("Type", OneOf(&[("Text", "-"), ("BigInt", "-"), ("Int8", "-"), ("Int4", "-"), ("Int", "-"),
        ("Integer", "-"), ("SmallInt", "-"), ("Numeric", "-"), ("Float8", "-"),
        ("DoublePrecision", "-"), ("Bool", "-"), ("Boolean", "-"), ("Date", "-"),
        ("Timestamp", "Timestamp"), ("Interval", "PlainInterval"), ("JSONB", "-"), ("Uuid", "-"),
        ("Bytea", "-"), ("Varchar", "-"), ("Array", "ArrayType"), ("Custom", "PlainType")])),
    ("Timestamp", Parts(&["-", "Zone"])),
    ("Zone", OneOf(&[("Tz", "-"), ("WithTimeZone", "-")])),
    ("PlainInterval", Fields(&[("fields", "-"), ("precision", "-")])),
    ("ArrayType", OneOf(&[("SquareBracket", "ArrayOf")])),
    ("ArrayOf", Parts(&["Type", "-"])),
    ("PlainType", Parts(&["Name*", "-"])),
];

/// Finds a node kind.
pub(super) fn node(name: &str) -> Option<&'static Node> {
    GRAMMAR.iter().find_map(|(known, node)| (*known == name).then_some(node))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_named_in_the_table_is_in_the_table() {
        let plain = ["-", "bool", "yes", "text", "span"];
        let known = |kind: &str| {
            let bare = kind.trim_end_matches(['?', '*']);
            plain.contains(&bare) || node(bare).is_some()
        };
        for (name, node) in GRAMMAR {
            let kinds: Vec<&str> = match node {
                Fields(list) | OneOf(list) => list.iter().map(|(_, kind)| *kind).collect(),
                Parts(list) => list.to_vec(),
            };
            for kind in kinds {
                assert!(known(kind), "{name} speaks of {kind}");
            }
        }
    }

    #[test]
    fn no_kind_is_listed_twice() {
        for (name, _) in GRAMMAR {
            assert_eq!(GRAMMAR.iter().filter(|(other, _)| other == name).count(), 1, "{name}");
        }
    }
}
