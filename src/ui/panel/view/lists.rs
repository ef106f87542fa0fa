//! The views that are lists: agents, tasks, gates, the timeline.

use ratatui::layout::Rect;

use super::canvas::{Canvas, RowHighlight, RowPiece, TextTone, fit, width};
use super::words::{age, bar, cost, or_dash, tokens};
use crate::panel::keys::PanelCommand;
use crate::panel::model::{PanelFetch, PanelModel, PanelView};
use crate::panel::snapshot::{AgentRow, AgentRowRunner, PanelSnapshot, TaskRow, TimelineRow, TimelineRowKind, WaitingRow};
use crate::panel::text_lines::wrapped;
use axiom_model::work::tasks::task::{TaskKind, TaskStatus};

/// A terminal of so many columns has room for everything.
const WIDE: u16 = 120;

/// The rows of a list that are shown, and where.
struct VisibleListRows {
    /// The first row of the list that is shown.
    first: usize,
    /// Where the rows are, below the heading.
    rows: Rect,
    /// What is left below them for details.
    rest: Rect,
}

impl VisibleListRows {
    /// A list of `many` rows with a heading; where `details` are shown, at most so many lines are left for the rows.
    fn of(many: usize, at: usize, area: Rect, details: u16) -> Self {
        let wanted = u16::try_from(many).unwrap_or(u16::MAX).saturating_add(1);
        let height = wanted.min(area.height.saturating_sub(details)).max(2.min(area.height));
        let rows = Rect { y: area.y + 1.min(area.height), height: height.saturating_sub(1), ..area };
        let room = usize::from(rows.height);
        let first = at.saturating_sub(room / 2).min(many.saturating_sub(room));
        let rest = Rect { y: area.y + height, height: area.height.saturating_sub(height), ..area };
        Self { first, rows, rest }
    }

    fn lines(&self) -> impl Iterator<Item = (usize, Rect)> {
        let (first, rows) = (self.first, self.rows);
        (0..rows.height).map(move |line| (first + usize::from(line), Rect { y: rows.y + line, height: 1, ..rows }))
    }
}

/// How many lines are left for details below a list.
fn details(view: PanelView, area: Rect) -> u16 {
    match view {
        PanelView::Agents => area.height / 2,
        PanelView::Gates | PanelView::Tasks => 4,
        PanelView::Timeline => 2,
        PanelView::Output => 0,
    }
}

fn shown(model: &PanelModel, view: PanelView, area: Rect) -> VisibleListRows {
    let at = model.place(view).unwrap_or(0);
    VisibleListRows::of(model.names(view).len(), at, area, details(view, area))
}

/// The name of what is at a row of the screen.
pub fn row_at(model: &PanelModel, area: Rect, row: u16) -> Option<String> {
    let shown = shown(model, model.selected.view, area);
    let (place, _) = shown.lines().find(|(_, line)| line.y == row)?;
    model.names(model.selected.view).get(place).map(|name| (*name).to_owned())
}

/// Draws a list: a heading, its rows, or a line where there are none. Returns what is left.
fn list(
    model: &PanelModel,
    view: PanelView,
    area: Rect,
    canvas: &mut Canvas<'_>,
    heading: &str,
    row: impl Fn(usize) -> Option<Vec<RowPiece>>,
    none: &str,
) -> Rect {
    let shown = shown(model, view, area);
    let selected = model.place(view);
    let filtered = model.filters.of(view).map(|text| format!("Nothing contains '{text}'."));
    let none = filtered.as_deref().unwrap_or(none);
    if model.names(view).is_empty() {
        canvas.line(Rect { y: area.y + 1, height: 1, ..area }, &format!("  {none}"), TextTone::Dim);
        return Rect { y: area.y + 2, height: area.height.saturating_sub(2), ..area };
    }
    canvas.line(area, heading, TextTone::Strong);
    for (place, line) in shown.lines() {
        if let Some(pieces) = row(place) {
            let is = if selected == Some(place) { RowHighlight::Selected } else { RowHighlight::Other };
            canvas.row(line, &pieces, is);
        }
    }
    shown.rest
}

fn state_tone(state: &str) -> TextTone {
    match state {
        "running" | "verifying" => TextTone::Good,
        "waiting" | "paused" | "held" | "stopping" => TextTone::Warn,
        "dead" | "orphaned" | "UNPROTECTED" => TextTone::Bad,
        _ => TextTone::Dim,
    }
}

/// Which columns of the agents say something in any row: an empty one has no room.
struct AgentColumns {
    iteration: bool,
    progress: bool,
}

fn agent(row: &AgentRow, model: &PanelModel, columns: u16, shown: &AgentColumns) -> Vec<RowPiece> {
    let plain = |text: String, width: usize| (fit(&text, width) + " ", TextTone::Plain);
    let iteration = match row.iteration {
        (0, _) => "-".to_owned(),
        (now, Some(most)) => format!("{now}/{most}"),
        (now, None) => now.to_string(),
    };
    let mut pieces = vec![
        (" ".to_owned(), TextTone::Plain),
        plain(row.id.clone(), 11),
        (fit(&row.state, 8) + " ", state_tone(&row.state)),
        plain(or_dash(row.task.clone()), 13),
    ];
    if shown.iteration {
        pieces.push(plain(iteration, 6));
    }
    if shown.progress {
        pieces.push(plain(or_dash(row.heard.progress.map(|percent| format!("{percent}%"))), 4));
    }
    pieces.push(plain(or_dash(row.since.map(|since| age(since, row.until.unwrap_or(model.now)))), 5));
    pieces.push(plain(or_dash(row.heard.at.map(|heard| age(heard, model.now))), 5));
    if columns >= WIDE {
        pieces.push(plain(or_dash(row.used.tokens.map(tokens)), 7));
        pieces.push(plain(or_dash(row.used.cost.map(cost)), 8));
        pieces.push(plain(row.title.clone(), 32));
    }
    let title = || if columns < WIDE { row.title.clone() } else { String::new() };
    pieces.push((row.heard.doing.clone().unwrap_or_else(title), TextTone::Dim));
    pieces
}

/// The agents, and below them what the selected one does.
pub fn agents(model: &PanelModel, area: Rect, canvas: &mut Canvas<'_>) {
    let wide = if area.width >= WIDE { "TOKENS  COST     TITLE                            " } else { "" };
    let rows: Vec<_> = model.shown_agents().collect();
    let columns = AgentColumns {
        iteration: rows.iter().any(|row| row.iteration.0 > 0),
        progress: rows.iter().any(|row| row.heard.progress.is_some()),
    };
    let (iteration, percent) = (if columns.iteration { "ITER   " } else { "" }, if columns.progress { "%    " } else { "" });
    let heading = format!(" AGENT       STATE    TASK          {iteration}{percent}TIME  HEARD {wide}NOW");
    let row = |place: usize| rows.get(place).map(|row| agent(row, model, area.width, &columns));
    let rest = list(model, PanelView::Agents, area, canvas, &heading, row, no_agents(&model.seen));
    if let Some(row) = model.place(PanelView::Agents).and_then(|place| rows.get(place)) {
        agent_details(row, model, rest, canvas);
    }
}

/// What the list of agents says where it is empty.
const fn no_agents(seen: &PanelSnapshot) -> &'static str {
    match (seen.session.supervised, seen.waiting.is_empty()) {
        (false, _) => "No agent has worked yet: git axiom run begins a session.",
        (true, false) => "No agent has worked yet: what is in Gates waits for you.",
        (true, true) => "No agent has worked yet.",
    }
}

fn agent_details(row: &AgentRow, model: &PanelModel, area: Rect, canvas: &mut Canvas<'_>) {
    let mut lines: Vec<Vec<RowPiece>> = vec![vec![("─".repeat(usize::from(area.width)), TextTone::Dim)]];
    let task = row.task.as_deref().map_or_else(String::new, |task| format!(" on {task}: {}", row.title));
    let title = if row.task.is_none() && !row.title.is_empty() { format!(": {}", row.title) } else { task };
    lines.push(vec![(format!(" {}", row.id), TextTone::Strong), (title, TextTone::Plain)]);
    let mut facts: Vec<String> = Vec::new();
    facts.extend(row.heard.progress.map(|percent| format!("{} {percent}%", bar(percent, 10))));
    facts.extend(row.heard.phase.clone());
    facts.extend(row.workspace.lines.map(|(added, removed)| format!("+{added} -{removed}")));
    facts.extend(row.used.tokens.map(|used| format!("{} tokens", tokens(used))));
    facts.extend(row.used.cost.map(cost));
    facts.extend(row.used.budget.clone());
    if !facts.is_empty() {
        lines.push(vec![(format!(" {}", facts.join(" · ")), TextTone::Plain)]);
    }
    if let AgentRowRunner::Human { unprotected: Some(why) } = &row.runner {
        lines.push(vec![(format!(" not protected: {why}"), TextTone::Bad)]);
    }
    let room = usize::from(area.height).saturating_sub(lines.len());
    lines.extend(super::output::last(model, room));
    draw_lines(&lines, area, canvas);
}

/// Draws lines, and says how many have no room.
fn draw_lines(lines: &[Vec<RowPiece>], area: Rect, canvas: &mut Canvas<'_>) {
    let room = usize::from(area.height);
    let shown = if lines.len() > room { room.saturating_sub(1) } else { lines.len() };
    let more = (shown < lines.len()).then(|| vec![(format!(" and {} more", lines.len() - shown), TextTone::Dim)]);
    for (line, y) in lines.iter().take(shown).chain(&more).zip(area.y..area.y + area.height) {
        canvas.row(Rect { y, height: 1, ..area }, line, RowHighlight::Other);
    }
}

fn task_tone(row: &TaskRow) -> TextTone {
    match row.status.stored {
        TaskStatus::Active if row.status.is_cut_off() => TextTone::Bad,
        TaskStatus::Active => TextTone::Good,
        TaskStatus::Blocked | TaskStatus::Failed => TextTone::Bad,
        TaskStatus::Done if row.status.merged => TextTone::Dim,
        TaskStatus::Archived => TextTone::Dim,
        TaskStatus::Done => TextTone::Accent,
        TaskStatus::Pending => TextTone::Plain,
    }
}

fn task(row: &TaskRow, columns: u16, (has_agents, has_waiting): (bool, bool)) -> Vec<RowPiece> {
    let indent = "  ".repeat(row.depth.min(8));
    let mark = if row.kind == TaskKind::Task { "" } else { "▾ " };
    let left_out = if has_agents { 0 } else { 11 } + if has_waiting { 0 } else { 13 };
    let title = (usize::from(columns) + left_out).saturating_sub(62).max(12);
    let unblocks = if row.unblocks > 0 { format!("unblocks {}", row.unblocks) } else { String::new() };
    let mut pieces = vec![
        (format!(" {}", fit(&format!("{indent}{mark}{}", row.id), 18)), TextTone::Plain),
        (format!(" {}", fit(row.status.in_words(), 11)), task_tone(row)),
        (format!(" {:>3}% ", row.progress), TextTone::Plain),
    ];
    if has_agents {
        pieces.push((fit(row.agent.as_deref().unwrap_or_default(), 10) + " ", TextTone::Accent));
    }
    if has_waiting {
        pieces.push((fit(&unblocks, 12) + " ", TextTone::Dim));
    }
    pieces.push((fit(&row.title, title), if row.kind == TaskKind::Task { TextTone::Plain } else { TextTone::Strong }));
    pieces
}

/// The tasks as a tree.
pub fn tasks(model: &PanelModel, area: Rect, canvas: &mut Canvas<'_>) {
    let rows: Vec<_> = model.shown_tasks().collect();
    let shown = (rows.iter().any(|row| row.agent.is_some()), rows.iter().any(|row| row.unblocks > 0));
    let (agents, waiting) = (if shown.0 { "AGENT      " } else { "" }, if shown.1 { "WAITED FOR   " } else { "" });
    let heading = format!(" ID                 STATUS       DONE {agents}{waiting}TITLE");
    let row = |place: usize| rows.get(place).map(|row| task(row, area.width, shown));
    let none = match model.seen.tasks.is_empty() {
        true => format!("There is no task yet: {} adds one, or git axiom plan.", model.keys.shown(PanelCommand::AddTask)),
        false => format!("All tasks are merged: {} shows them.", model.keys.shown(PanelCommand::Merged)),
    };
    let rest = list(model, PanelView::Tasks, area, canvas, &heading, row, &none);
    let Some(row) = model.place(PanelView::Tasks).and_then(|place| rows.get(place)) else { return };
    let mut lines = vec![vec![("─".repeat(usize::from(rest.width)), TextTone::Dim)]];
    lines.push(vec![(format!(" {}", row.id), TextTone::Strong), (format!(": {}", row.title), TextTone::Plain)]);
    if !row.after.is_empty() {
        lines.push(vec![(format!(" after {}", row.after.join(", ")), TextTone::Plain)]);
    }
    if let Some(reason) = &row.reason {
        lines.push(vec![(format!(" {reason}"), TextTone::Bad)]);
    }
    draw_lines(&lines, rest, canvas);
}

/// The column of reasons.
const REASON: usize = 43;

fn gate(row: &WaitingRow, model: &PanelModel) -> Vec<RowPiece> {
    vec![
        (format!(" {}", fit(&row.id, 22)), TextTone::Plain),
        (format!(" {}", fit(row.what.as_str(), 12)), if row.decided.is_some() { TextTone::Dim } else { TextTone::Warn }),
        (format!(" {}", fit(&or_dash(row.since.map(|since| age(since, model.now))), 5)), TextTone::Dim),
        (format!(" {}", waits_in_words(row)), TextTone::Plain),
    ]
}

/// What waits, and first whether that is decided: the end of a line may be cut.
fn waits_in_words(row: &WaitingRow) -> String {
    let decided = row.decided.as_ref().map(|how| format!("({how}) ")).unwrap_or_default();
    format!("{decided}{}", row.reason)
}

/// What waits for a human.
pub fn gates(model: &PanelModel, area: Rect, canvas: &mut Canvas<'_>) {
    let heading = " GATE                   KIND         SINCE WHAT WAITS";
    let rows: Vec<_> = model.shown_waiting().collect();
    let row = |place: usize| rows.get(place).map(|row| gate(row, model));
    let rest = list(model, PanelView::Gates, area, canvas, heading, row, "Nothing waits for you.");
    let Some(row) = model.waiting_row() else { return };
    let mut lines = vec![vec![("─".repeat(usize::from(rest.width)), TextTone::Dim)]];
    let key = model.keys.shown(PanelCommand::Open);
    lines.push(vec![(format!(" {key}"), TextTone::Accent), (" shows what helps to decide, and asks".to_owned(), TextTone::Dim)]);
    let columns = usize::from(rest.width).saturating_sub(2);
    // A reason that its column cuts is read whole here.
    let whole = waits_in_words(row);
    let cut = (width(&whole) + REASON > usize::from(rest.width)).then_some(&whole);
    let details = cut.into_iter().chain(&row.details).flat_map(|detail| wrapped(detail, columns));
    lines.extend(details.map(|detail| vec![(format!(" {detail}"), TextTone::Plain)]));
    draw_lines(&lines, rest, canvas);
}

fn moment(row: &TimelineRow) -> Vec<RowPiece> {
    let (mark, tone) = match &row.what {
        TimelineRowKind::Checkpoint(_) => ("●", TextTone::Accent),
        TimelineRowKind::Operation { undoable: true, .. } => ("↶", TextTone::Plain),
        TimelineRowKind::Operation { undoable: false, .. } => (" ", TextTone::Dim),
    };
    vec![
        (format!(" {} ", row.clock), TextTone::Dim),
        (format!("{mark} "), tone),
        (fit(&row.by, 11) + " ", TextTone::Dim),
        (row.words.clone(), tone),
    ]
}

/// Checkpoints and transactions, newest first.
pub fn timeline(model: &PanelModel, area: Rect, canvas: &mut Canvas<'_>) {
    let none = match &model.timeline {
        PanelFetch::Unknown | PanelFetch::Coming(_) => "It is being read …".to_owned(),
        PanelFetch::Known(_) => "Nothing was done yet.".to_owned(),
        PanelFetch::Failed(lines) => lines.join(" "),
    };
    let rows: Vec<_> = model.shown_moments().collect();
    let row = |place: usize| rows.get(place).map(|row| moment(row));
    let rest = list(model, PanelView::Timeline, area, canvas, " TIME       BY          WHAT", row, &none);
    let Some(row) = model.moment_row() else { return };
    let does = match &row.what {
        TimelineRowKind::Checkpoint(name) => format!("shows what going back to {name} would change, and asks"),
        TimelineRowKind::Operation { undoable: true, id } => format!("shows what undoing {id} would change, and asks"),
        TimelineRowKind::Operation { undoable: false, id } => format!("says why {id} cannot be undone"),
    };
    let key = model.keys.shown(PanelCommand::Open);
    let lines = [
        vec![("─".repeat(usize::from(rest.width)), TextTone::Dim)],
        vec![(format!(" {key} "), TextTone::Accent), (does, TextTone::Dim)],
    ];
    draw_lines(&lines, rest, canvas);
}
