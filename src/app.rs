//! The console as a value: model, messages, update, effects, screens.
//!
//! `update(&mut Model, Msg, Now) -> Vec<Effect>` and `view(&Model, &mut Frame, Now)` are pure: the
//! program less the world. Must not know: runtime, database, terminal, clock. What a key would do
//! is therefore an equality test.
//!
//! For the shell: after each frame that was written, send [`msg::Msg::Drawn`]; sleep no longer than
//! until `Model::next_wake`, then send [`msg::Msg::Wake`]; run the effects; never await one.

pub mod command;
pub mod dialog;
pub mod drill;
pub mod effect;
pub mod field;
pub mod hand_backs;
pub mod input;
pub mod key;
pub mod keymap;
pub mod line;
pub mod list;
pub mod marks;
pub mod model;
pub mod msg;
pub mod nav;
pub mod notice;
mod paste;
pub mod picture;
pub mod recording;
pub mod replay;
pub mod screen;
mod sheet;
pub mod sides;
pub mod update;
pub mod view;

pub use effect::Effect;
pub use model::{Acting, Model, Setup};
pub use msg::Msg;
pub use update::update;
pub use view::view;
