//! What waits for a human besides gates: what a crash left, and the project's files that nobody has approved. Whether it waits is looked
//! for all the time, cheaply; what there is to decide is found out, and carried out, by the functions of `recover` and `trust`.

use std::time::{Duration, Instant};

use super::silent_watch::{SilentPanelWatch, lines_of};
use crate::panel::request::{PanelAction, PanelAnswer, PanelPreview, PanelRemedies};
use crate::panel::snapshot::{WaitingRow, WaitingRowKind};
use crate::wording::recovery as told;
use crate::wording::trust::ApprovalText;
use axiom_agents::recover::{export, resume, survey};
use axiom_agents::supervise::status::RecoveryNeedJson;
use axiom_base::error::Result;
use axiom_model::base::ids::TaskId;
use axiom_model::recovery::human_choice::RecoverySelection;
use axiom_model::work::gates::gate::once_trusted;
use axiom_safety::context::configure::why_not_applied;
use axiom_safety::context::handle::Context;
use axiom_safety::context::trust;
use axiom_safety::context::trust::ProjectTrust;
use axiom_safety::settings::trust::effects;

/// How often the project's files are looked at.
const OFTEN: Duration = Duration::from_secs(10);

/// Why the project's files do not count, as it was found a short while ago.
#[derive(Debug, Default)]
pub struct PanelTrustCheck {
    looked: Option<Instant>,
    why: Option<String>,
}

impl PanelTrustCheck {
    /// Why they do not count; `None` where they do, or there are none.
    pub fn why_not(&mut self, ctx: &Context) -> Option<String> {
        if self.looked.is_none_or(|looked| looked.elapsed() >= OFTEN) {
            self.why = why_not_applied(&ctx.repo, &trust::trust(&ctx.repo));
            self.looked = Some(Instant::now());
        }
        self.why.clone()
    }

    /// Something was done: the next look is a new one.
    pub fn look_again(&mut self) {
        self.looked = None;
    }
}

/// Everything that waits: a recovery first, since other things wait for it, and last the project's files, which a human may leave as they
/// are.
pub fn with_gates(recovery: &RecoveryNeedJson, gates: Vec<WaitingRow>, why_not: Option<String>) -> Vec<WaitingRow> {
    let row = |what: WaitingRowKind, reason: String| WaitingRow {
        id: what.as_str().to_owned(),
        what,
        task: None,
        reason,
        details: Vec::new(),
        since: None,
        decided: None,
        asks: false,
        always: false,
    };
    let recovery = recovery.needed.then(|| row(WaitingRowKind::Recovery, recovery.reasons.join("; ")));
    let is_trusted = why_not.is_none();
    let gates = gates.into_iter().map(|gate| match once_trusted(&gate.reason, gate.decided.is_some()).filter(|_| is_trusted) {
        Some(reason) => WaitingRow { reason, ..gate },
        None => gate,
    });
    recovery.into_iter().chain(gates).chain(why_not.map(|why| row(WaitingRowKind::Trust, why))).collect()
}

/// What a crash left, and what can be chosen.
pub fn recovery(ctx: &mut Context) -> Result<PanelAnswer> {
    let view = survey::look(ctx)?;
    let Some(text) = told::before(&view, None) else {
        return Ok(PanelAnswer::Recovery { lines: lines_of(told::NOTHING), choices: PanelRemedies::None });
    };
    let choices = match (view.cut_off().next(), view.can_be_done()) {
        (Some(_), _) => PanelRemedies::OfTasks,
        (None, true) => PanelRemedies::Repair,
        (None, false) => PanelRemedies::None,
    };
    Ok(PanelAnswer::Recovery { lines: lines_of(&text), choices })
}

/// All that is known of the tasks that a crash cut off.
pub fn cut_off(ctx: &mut Context) -> Result<Vec<String>> {
    let view = survey::look(ctx)?;
    Ok(lines_of(&told::inspected(&export::state(ctx, &view, &[])?)))
}

/// What a recovery with these wishes does.
pub fn recovers(ctx: &mut Context, wanted: &RecoverySelection) -> Result<PanelPreview> {
    let (view, plan) = resume::look_and_plan(ctx, wanted)?;
    let (Some(text), true) = (told::before(&view, None), view.repairs || !plan.before.is_empty()) else {
        return Ok(PanelPreview { lines: vec!["Nothing would be changed.".to_owned()], deed: None });
    };
    let question = told::begins_anew(&plan, wanted).map(|question| [String::new(), question]);
    let lines = lines_of(&text).into_iter().chain(question.into_iter().flatten()).collect();
    Ok(PanelPreview { lines, deed: Some(PanelAction::Recover(wanted.clone())) })
}

/// Which tasks would go out of the plan.
pub fn abandoned(ctx: &mut Context) -> Result<PanelPreview> {
    let view = survey::look(ctx)?;
    let tasks = resume::to_abandon(ctx, &view, &[])?;
    let way_back = [String::new(), "To take it back: git axiom undo".to_owned()];
    let lines = lines_of(&told::abandons(ctx, &tasks)?).into_iter().chain(way_back).collect();
    Ok(PanelPreview { lines, deed: Some(PanelAction::Abandon(tasks)) })
}

/// Recovers, and says what was done.
pub fn recover(ctx: &mut Context, wanted: &RecoverySelection) -> Result<String> {
    let (view, plan) = resume::look_and_plan(ctx, wanted)?;
    let recovered = resume::run_and_look(ctx, (plan, wanted), view, &mut SilentPanelWatch)?;
    let warnings = ctx.store.take_warnings().into_iter().map(|warning| format!("warning: {warning}\n"));
    Ok(told::after(&recovered) + &warnings.collect::<String>())
}

/// Takes exactly these tasks out of the plan.
pub fn abandon(ctx: &mut Context, tasks: &[TaskId]) -> Result<String> {
    let view = survey::look(ctx)?;
    let tasks = resume::to_abandon(ctx, &view, tasks)?;
    Ok(told::abandoned(&resume::abandon(ctx, &tasks, &mut SilentPanelWatch)?))
}

/// The project's files, and whether they can be approved.
pub fn trust(ctx: &Context) -> Result<PanelAnswer> {
    let (now, before) = match trust::trust(&ctx.repo) {
        ProjectTrust::Nothing | ProjectTrust::Approved(_) => {
            return Ok(PanelAnswer::Trust { lines: vec!["Nothing waits for your approval.".to_owned()], digest: None });
        }
        ProjectTrust::Unusable { why, .. } => return Err(why),
        ProjectTrust::Waiting { now, before } => (now, before),
    };
    let before = before.map(|approval| approval.files());
    let effects = effects(&ctx.repo, &now)?;
    let told = ApprovalText::new(&now, before.as_ref(), &effects);
    if let Some(lines) = told.is_long() {
        let elsewhere = ["To read all of it and approve it, in another terminal: git axiom trust".to_owned()];
        return Ok(PanelAnswer::Trust {
            lines: lines_of(&told.summary(lines)).into_iter().chain(elsewhere).collect(),
            digest: None,
        });
    }
    let text = told.all().replace('\t', "    ");
    // What cannot be applied is not approved: every verb that needs the configuration would fail.
    let digest = effects.is_ok().then(|| now.digest().as_str().to_owned());
    Ok(PanelAnswer::Trust { lines: lines_of(text.trim_end()), digest })
}
