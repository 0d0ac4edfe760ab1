//! The declarative HTTP adapter that asks a payment provider what happened. It can only GET.
