//! What is open above the views.

use ratatui::layout::Rect;
use ratatui::widgets::{Block, Clear, Widget};

use super::canvas::{Canvas, RowHighlight, RowPiece, TextTone, fit, width};
use crate::panel::input::PanelKey;
use crate::panel::keys::{PanelCommand, PanelCommandScope, TABLE, row_of};
use crate::panel::model::{
    CheckpointManagerView, DialogBody, DialogChoice, DialogTextInput, PanelDialog, PanelModel, impossible, instead, menu,
};
use crate::panel::snapshot::AgentRowRunner;
use crate::panel::text_lines::wrapped;
use axiom_model::queries::project::LiveSessionStatus;

/// The widest dialog.
const WIDEST: u16 = 110;
/// The most lines that stay below a text.
const MOST_FIXED: usize = 10;
/// How the hints of a failure begin.
const HINT: &str = "hint: ";

/// A line of a dialog.
type DialogRow = (Vec<RowPiece>, RowHighlight);

/// What a dialog shows.
#[derive(Default)]
struct DialogContent {
    title: String,
    /// Lines that can be scrolled.
    lines: Vec<DialogRow>,
    /// The first of them that is shown.
    top: usize,
    /// Lines that always stay below them: choices, hints, what is typed.
    fixed: Vec<DialogRow>,
    /// The one of these that is seen in any case.
    at: usize,
    /// The keys.
    keys: Vec<(String, &'static str)>,
}

fn plain(text: impl Into<String>) -> DialogRow {
    (vec![(text.into(), TextTone::Plain)], RowHighlight::Other)
}

fn toned(text: impl Into<String>, tone: TextTone) -> DialogRow {
    (vec![(text.into(), tone)], RowHighlight::Other)
}

/// Draws a dialog in the middle of an area.
pub fn draw(model: &PanelModel, dialog: &PanelDialog, area: Rect, canvas: &mut Canvas<'_>) {
    let columns = area.width.saturating_sub(4).min(WIDEST);
    let inside = usize::from(columns.saturating_sub(4));
    let content = content(model, dialog, inside);
    let key_rows = rows_of_keys(&content.keys, inside);
    let below = content.fixed.len().min(MOST_FIXED) + 1 + key_rows.len();
    let wanted = content.lines.len() + below + 2;
    let height = u16::try_from(wanted).unwrap_or(u16::MAX).min(area.height.saturating_sub(2));
    let outer = Rect { x: area.x + (area.width - columns) / 2, y: area.y + (area.height - height) / 2, width: columns, height };
    // Half of a wide character would stay beside the dialog, and shift its edge.
    for y in outer.y..outer.y + outer.height {
        if let Some(cell) = outer.x.checked_sub(1).and_then(|x| canvas.buffer.cell_mut((x, y)))
            && width(cell.symbol()) > 1
        {
            cell.set_symbol(" ");
        }
    }
    Clear.render(outer, canvas.buffer);
    let block = Block::bordered().title(format!(" {} ", fit_title(&content.title, inside)));
    let inner = block.inner(outer);
    block.render(outer, canvas.buffer);
    let inner = Rect { x: inner.x + 1, width: inner.width.saturating_sub(2), ..inner };
    // However long the text is, what can be chosen is seen below it.
    let for_fixed = usize::from(inner.height).saturating_sub(1 + key_rows.len());
    let fixed = around(&content.fixed, content.at, for_fixed.min(MOST_FIXED));
    let room = usize::from(inner.height).saturating_sub(fixed.len() + 1 + key_rows.len());
    let top = content.top.min(content.lines.len().saturating_sub(room));
    let shown = content.lines.iter().skip(top).take(room);
    for (y, (pieces, row)) in (inner.y..).zip(shown.chain(fixed)) {
        canvas.row(Rect { y, height: 1, ..inner }, pieces, *row);
    }
    let more = content.lines.len().saturating_sub(top + room);
    let first = inner.y + inner.height.saturating_sub(u16::try_from(key_rows.len()).unwrap_or(1));
    for (place, (y, keys)) in (first..).zip(&key_rows).enumerate() {
        let mut pieces: Vec<RowPiece> = Vec::new();
        if more > 0 && place == 0 {
            pieces.push((format!("▾ {more} more  "), TextTone::Warn));
        }
        for (key, words) in keys {
            pieces.push((format!("[{key}]"), TextTone::Accent));
            pieces.push((format!(" {words}  "), TextTone::Dim));
        }
        canvas.row(Rect { y, height: 1, ..inner }, &pieces, RowHighlight::Other);
    }
}

/// As many of some lines as there is room for, around one of them.
fn around(lines: &[DialogRow], at: usize, room: usize) -> &[DialogRow] {
    let first = at.saturating_sub(room / 2).min(lines.len().saturating_sub(room));
    lines.get(first..(first + room).min(lines.len())).unwrap_or_default()
}

/// The keys of a dialog in as many rows as they need; the first one has room for how much more there is.
fn rows_of_keys(keys: &[(String, &'static str)], columns: usize) -> Vec<Vec<(String, &'static str)>> {
    let mut rows = vec![Vec::new()];
    let mut used = "▾ 9999 more  ".chars().count();
    for (key, words) in keys {
        let wide = width(key) + width(words) + 5;
        if used + wide > columns + 2 && rows.last().is_some_and(|row| !row.is_empty()) {
            rows.push(Vec::new());
            used = 0;
        }
        used += wide;
        if let Some(row) = rows.last_mut() {
            row.push((key.clone(), *words));
        }
    }
    rows
}

fn fit_title(title: &str, columns: usize) -> String {
    fit(title, width(title).min(columns))
}

fn content(model: &PanelModel, dialog: &PanelDialog, columns: usize) -> DialogContent {
    match dialog {
        PanelDialog::Help { top } => help(model, *top, columns),
        PanelDialog::Menu { at } => actions(model, *at, columns),
        PanelDialog::Plan { title, body, deed, top, asked: _ } => {
            let agrees = deed.is_some().then(|| (PanelKey::Enter.to_string(), "do it"));
            let keys = agrees.into_iter().chain([esc(if deed.is_some() { "leave it" } else { "close" })]).collect();
            DialogContent { keys, ..told(title, body, *top, columns) }
        }
        PanelDialog::Text { title, body, top } => told(title, body, *top, columns),
        PanelDialog::Typed(typed) => typing(typed, columns),
        PanelDialog::Choose { title, about: _, body, items, at, top, asked: _ } => {
            choice((title, *top), body, items, *at, columns)
        }
        PanelDialog::Pausing => pausing(model, columns),
        PanelDialog::Manager { body, managed } => manager(model, body, managed, columns),
    }
}

/// A text; the hints of a failure stay below it.
fn told(title: &str, body: &DialogBody, top: usize, columns: usize) -> DialogContent {
    let lines = body_lines(body, columns);
    let fixed = hints(body, columns);
    DialogContent { title: title.to_owned(), lines, top, fixed, keys: vec![esc("close")], ..DialogContent::default() }
}

/// What can be done about a failure.
fn hints(body: &DialogBody, columns: usize) -> Vec<DialogRow> {
    let DialogBody::Failed(lines) = body else { return Vec::new() };
    let hints = lines.iter().filter(|line| line.starts_with(HINT));
    hints.flat_map(|line| wrapped(line, columns).into_iter().map(plain)).collect()
}

fn esc(words: &'static str) -> (String, &'static str) {
    (PanelKey::Escape.to_string(), words)
}

fn body_lines(body: &DialogBody, columns: usize) -> Vec<DialogRow> {
    match body {
        DialogBody::Coming(_) => vec![toned("It is being found out …", TextTone::Dim)],
        DialogBody::Ready(lines) => {
            let tone = |line: &str| match line {
                line if line.starts_with("To take it back") => TextTone::Good,
                line if line.starts_with('+') && !line.starts_with("+++") => TextTone::Good,
                line if line.starts_with('-') && !line.starts_with("---") => TextTone::Bad,
                line if line.starts_with("@@") => TextTone::Accent,
                _ => TextTone::Plain,
            };
            lines.iter().flat_map(|line| wrapped(line, columns).into_iter().map(|part| toned(part, tone(line)))).collect()
        }
        DialogBody::Failed(lines) => {
            let numbered = lines.iter().enumerate().filter(|(_, line)| !line.starts_with(HINT));
            let toned_by = |(place, line): (usize, &String)| {
                let tone = if place == 0 { TextTone::Bad } else { TextTone::Plain };
                wrapped(line, columns).into_iter().map(move |part| toned(part, tone)).collect::<Vec<_>>()
            };
            numbered.flat_map(toned_by).collect()
        }
    }
}

fn help(model: &PanelModel, top: usize, columns: usize) -> DialogContent {
    let mut lines = Vec::new();
    for of in PanelCommandScope::ALL {
        if !lines.is_empty() {
            lines.push(plain(""));
        }
        lines.push(toned(of.heading(), TextTone::Strong));
        for row in TABLE.iter().filter(|row| row.of == of) {
            let keys: Vec<String> = model.keys.of_command(row.command).iter().map(PanelKey::to_string).collect();
            let keys = if keys.is_empty() { "-".to_owned() } else { keys.join(" ") };
            for (place, part) in wrapped(row.words, columns.saturating_sub(18)).into_iter().enumerate() {
                let keys = if place == 0 { keys.as_str() } else { "" };
                lines.push((
                    vec![(format!("  {}", fit(keys, 15)), TextTone::Accent), (part, TextTone::Plain)],
                    RowHighlight::Other,
                ));
            }
        }
    }
    let keys = vec![("j/k".to_owned(), "scroll"), esc("close")];
    DialogContent { title: "KEYS".to_owned(), lines, top, keys, ..DialogContent::default() }
}

fn actions(model: &PanelModel, at: usize, columns: usize) -> DialogContent {
    let about = |of: PanelCommandScope| match of {
        PanelCommandScope::Agent => model.agent_row().map(|row| {
            let task = row.task.as_deref().map_or_else(String::new, |task| format!(" on {task}"));
            format!("{}{task}: {}", row.id, row.state)
        }),
        PanelCommandScope::Task => {
            model.task_row().map(|row| format!("{}: {} ({})", row.id, row.title, row.status.shown.in_words()))
        }
        PanelCommandScope::Everything => {
            Some(format!("{}, {}", model.seen.session.now.as_str(), model.seen.session.mode.as_str()))
        }
        PanelCommandScope::View => None,
    };
    let (mut lines, mut before, mut selected) = (Vec::new(), None, 0);
    for (place, command) in menu().into_iter().enumerate() {
        let Some(row) = row_of(command) else { continue };
        if before != Some(row.of) {
            if before.is_some() {
                lines.push(plain(""));
            }
            let what = about(row.of).map_or_else(|| ": none".to_owned(), |what| format!(": {what}"));
            lines.push((vec![(row.of.heading().to_owned(), TextTone::Strong), (what, TextTone::Plain)], RowHighlight::Other));
            before = Some(row.of);
        }
        let why = impossible(model, command);
        let tone = if why.is_some() { TextTone::Dim } else { TextTone::Plain };
        let key = fit(&model.keys.shown(command), 7);
        let words = match why {
            Some(why) => format!("{} ({why})", row.short),
            None => instead(model, command).unwrap_or_else(|| row.words.to_owned()),
        };
        let is = if place == at { RowHighlight::Selected } else { RowHighlight::Other };
        if place == at {
            selected = lines.len();
        }
        let key_tone = if tone == TextTone::Dim { TextTone::Dim } else { TextTone::Accent };
        lines.push((vec![(format!("  {key}"), key_tone), (fit(&words, columns.saturating_sub(9)), tone)], is));
    }
    let room = usize::from(model.size.1).saturating_sub(6);
    let top = selected.saturating_sub(room / 2);
    let keys = vec![
        ("j/k".to_owned(), "select"),
        (PanelKey::Tab.to_string(), "next group"),
        (PanelKey::Enter.to_string(), "do it"),
        esc("close"),
    ];
    DialogContent { title: "ACTIONS".to_owned(), lines, top, keys, ..DialogContent::default() }
}

fn typing(typed: &DialogTextInput, columns: usize) -> DialogContent {
    let mut lines: Vec<DialogRow> = typed.before.iter().flat_map(|line| wrapped(line, columns)).map(plain).collect();
    lines.push(plain(""));
    let mut fixed = vec![toned(format!("{}:", typed.label), TextTone::Strong)];
    // The end of a long text is what is being typed.
    let room = columns.saturating_sub(3);
    let mut shown: String = typed.text.clone();
    while width(&shown) > room {
        shown.remove(0);
    }
    fixed.push((
        vec![("> ".to_owned(), TextTone::Accent), (shown, TextTone::Plain), ("▏".to_owned(), TextTone::Accent)],
        RowHighlight::Other,
    ));
    let keys = vec![(PanelKey::Enter.to_string(), "do it"), esc("leave it")];
    DialogContent { title: typed.title.clone(), lines, at: fixed.len(), fixed, keys, ..DialogContent::default() }
}

fn choice((title, top): (&str, usize), body: &DialogBody, items: &[DialogChoice], at: usize, columns: usize) -> DialogContent {
    let mut lines = body_lines(body, columns);
    lines.push(plain(""));
    let row = |(place, item): (usize, &DialogChoice)| {
        let letter = item.letter.map_or_else(|| "   ".to_owned(), |letter| format!("[{letter}]"));
        let pieces =
            vec![(format!("{letter} "), TextTone::Accent), (fit(&item.line, columns.saturating_sub(4)), TextTone::Plain)];
        (pieces, if place == at { RowHighlight::Selected } else { RowHighlight::Other })
    };
    let hints = hints(body, columns);
    let at = hints.len() + at;
    let fixed = hints.into_iter().chain(items.iter().enumerate().map(row)).collect();
    let keys = match items {
        [] => vec![esc("close")],
        _ => vec![("j/k".to_owned(), "select"), (PanelKey::Enter.to_string(), "choose"), esc("leave it")],
    };
    DialogContent { title: title.to_owned(), lines, top, fixed, at, keys }
}

fn pausing(model: &PanelModel, columns: usize) -> DialogContent {
    let agents: Vec<_> =
        model.seen.agents.iter().filter(|row| row.runner == AgentRowRunner::Agent && row.task.is_some()).collect();
    let running = agents.iter().filter(|row| row.state == "running").count();
    let first = match (model.seen.session.now, running) {
        (LiveSessionStatus::Paused, _) | (_, 0) => "Paused: no agent runs, and none begins.".to_owned(),
        (_, 1) => "Waiting until 1 iteration ends …".to_owned(),
        (_, many) => format!("Waiting until {many} iterations end …"),
    };
    let mut lines = vec![plain(first), plain("")];
    for row in agents {
        let (state, tone) = match row.state.as_str() {
            "running" => (format!("runs, iteration {}", row.iteration.0), TextTone::Warn),
            other => (other.to_owned(), TextTone::Good),
        };
        lines.push((vec![(fit(&row.id, 14), TextTone::Plain), (state, tone)], RowHighlight::Other));
    }
    let paused = model.seen.session.now == LiveSessionStatus::Paused;
    let key = model.keys.shown(PanelCommand::Pause);
    lines.push(plain(""));
    let again = match paused {
        true => format!("{key} lets them go on."),
        false => format!("{key} again stops them at once: what they did is committed, and they go on with it afterwards."),
    };
    lines.extend(wrapped(&again, columns).into_iter().map(plain));
    let title = if paused { "PAUSED" } else { "PAUSING" };
    let words = if paused { "resume" } else { "at once" };
    DialogContent { title: title.to_owned(), lines, keys: vec![(key, words), esc("close")], ..DialogContent::default() }
}

fn manager(model: &PanelModel, body: &DialogBody, managed: &CheckpointManagerView, columns: usize) -> DialogContent {
    let title = "CHECKPOINTS".to_owned();
    let new = (model.keys.shown(PanelCommand::NewCheckpoint), "new");
    if managed.rows.is_empty() {
        let lines = match body {
            DialogBody::Ready(_) => vec![plain("There is no checkpoint yet.")],
            DialogBody::Coming(_) | DialogBody::Failed(_) => body_lines(body, columns),
        };
        return DialogContent { title, lines, keys: vec![new, esc("close")], ..DialogContent::default() };
    }
    let row = |(place, row): (usize, &crate::panel::snapshot::CheckpointRow)| {
        let mark = if managed.marked.contains(&row.name) { "[x] " } else { "[ ] " };
        let pieces = vec![(mark.to_owned(), TextTone::Accent), (fit(&row.line, columns.saturating_sub(4)), TextTone::Plain)];
        (pieces, if place == managed.at { RowHighlight::Selected } else { RowHighlight::Other })
    };
    let mut lines = vec![toned(format!("    {}", managed.heading), TextTone::Strong)];
    lines.extend(managed.rows.iter().enumerate().map(row));
    let room = usize::from(model.size.1).saturating_sub(10);
    let top = managed.at.saturating_sub(room / 2);
    let mut fixed = vec![plain("")];
    fixed.extend(wrapped(&managed.summary, columns).into_iter().map(|line| toned(line, TextTone::Dim)));
    let keys = vec![
        (PanelKey::Enter.to_string(), "go back"),
        (PanelKey::Char(' ').to_string(), "mark"),
        ("d".to_owned(), "delete"),
        ("o".to_owned(), "old"),
        ("p".to_owned(), "pack"),
        new,
        esc("close"),
    ];
    DialogContent { title, lines, top, fixed, keys, ..DialogContent::default() }
}
