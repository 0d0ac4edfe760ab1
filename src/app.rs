//! The console as a value: model, messages, update, effects, screens. Pure: no runtime, no database, no clock.
