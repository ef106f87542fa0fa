//! What a verb does outside of a session, told to whoever looks from another terminal, as a session tells what it does. Nothing depends on
//! it.

use crate::context::handle::Context;
use axiom_base::own_process::verb;
use axiom_model::work::sessions::supervisor_activity::SupervisorActivity;
use axiom_process::os::foreground;
use axiom_store::layout::StoreLayout;

/// What was told last. It is taken back when this is dropped.
#[derive(Debug)]
pub struct Telling {
    layout: StoreLayout,
    last: Vec<SupervisorActivity>,
}

impl Telling {
    /// Nothing yet.
    pub fn begin(ctx: &Context) -> Self {
        axiom_store::beside::doing::forget_dead(ctx.layout(), foreground::is_alive);
        Self { layout: ctx.layout().clone(), last: Vec::new() }
    }

    /// Tells what this verb does now, where that is not what was told last.
    pub fn tell(&mut self, now: impl IntoIterator<Item = SupervisorActivity>) {
        let now: Vec<SupervisorActivity> = now.into_iter().map(by_this_verb).collect();
        if now != self.last {
            write(&self.layout, now.clone());
            self.last = now;
        }
    }
}

impl Drop for Telling {
    fn drop(&mut self) {
        self.tell(None);
    }
}

/// The same, done by the verb of this process.
pub fn by_this_verb(doing: SupervisorActivity) -> SupervisorActivity {
    SupervisorActivity { verb: verb::get().map(str::to_owned), pid: Some(std::process::id()), ..doing }
}

/// Writes what this process does.
pub fn write(layout: &StoreLayout, now: Vec<SupervisorActivity>) {
    axiom_store::beside::doing::forget_dead(layout, foreground::is_alive);
    let Some(own) = foreground::own_id() else { return };
    if let Err(error) = axiom_store::beside::doing::write(layout, own, now) {
        tracing::info!(%error, "nobody sees what is being done");
    }
}
