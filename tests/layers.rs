//! Who may use whom (see ARCHITECTURE.md), measured.
