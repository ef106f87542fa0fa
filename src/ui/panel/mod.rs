//! The panel: what a human looks at while agents work, and every intervention one key away.
//!
//! It has two halves. The pure one: what is on disk as plain data ([`snapshot`]), the [`model`] (what is selected, which dialog is open),
//! its reaction to an [`event`] (requests, as data), one table of [`keys`] from which help, footer and documentation are made, and
//! the [`view`], which draws a model on cells. The other half, [`effects`], owns the terminal, reads the log when it changes, and
//! carries out requests by the same functions as the verbs; what plans and outcomes say comes from `wording`, as in
//! their questions. No request destroys anything that was not asked about in a dialog: see [`request::PanelAction`].
//!
//! Not here: what an intervention does, what it says, and other verbs' output. Begin reading with `keys`, then `model`.

mod effects;
pub mod event;
pub mod input;
pub mod keys;
pub mod model;
pub mod request;
pub mod snapshot;
mod text_lines;
pub mod view;

pub use effects::{PanelOptions, PanelPlacement, run};
