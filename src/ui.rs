//! How things look: theme, safe text, layout, widgets over plain data.
