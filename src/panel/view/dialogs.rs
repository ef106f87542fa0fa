//! What is open above the views.

use ratatui::layout::Rect;
use ratatui::widgets::{Block, Clear, Widget};

use super::canvas::{Canvas, Piece, Row, Tone, fit, width, wrapped};
use crate::domain::work::project::SessionNow;
use crate::panel::input::Key;
use crate::panel::keys::{Command, Of, TABLE, row_of};
use crate::panel::model::{Body, Dialog, Item, Managed, Model, Typed, impossible, instead, menu};
use crate::panel::seen::Runner;

/// The widest dialog.
const WIDEST: u16 = 110;
/// The most lines that stay below a text.
const MOST_FIXED: usize = 10;
/// How the hints of a failure begin.
const HINT: &str = "hint: ";

/// A line of a dialog.
type Line = (Vec<Piece>, Row);

/// What a dialog shows.
#[derive(Default)]
struct Content {
    title: String,
    /// Lines that can be scrolled.
    lines: Vec<Line>,
    /// The first of them that is shown.
    top: usize,
    /// Lines that always stay below them: choices, hints, what is typed.
    fixed: Vec<Line>,
    /// The one of these that is seen in any case.
    at: usize,
    /// The keys.
    keys: Vec<(String, &'static str)>,
}

fn plain(text: impl Into<String>) -> Line {
    (vec![(text.into(), Tone::Plain)], Row::Other)
}

fn toned(text: impl Into<String>, tone: Tone) -> Line {
    (vec![(text.into(), tone)], Row::Other)
}

/// Draws a dialog in the middle of an area.
pub fn draw(model: &Model, dialog: &Dialog, area: Rect, canvas: &mut Canvas<'_>) {
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
        let mut pieces: Vec<Piece> = Vec::new();
        if more > 0 && place == 0 {
            pieces.push((format!("▾ {more} more  "), Tone::Warn));
        }
        for (key, words) in keys {
            pieces.push((format!("[{key}]"), Tone::Accent));
            pieces.push((format!(" {words}  "), Tone::Dim));
        }
        canvas.row(Rect { y, height: 1, ..inner }, &pieces, Row::Other);
    }
}

/// As many of some lines as there is room for, around one of them.
fn around(lines: &[Line], at: usize, room: usize) -> &[Line] {
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

fn content(model: &Model, dialog: &Dialog, columns: usize) -> Content {
    match dialog {
        Dialog::Help { top } => help(model, *top, columns),
        Dialog::Menu { at } => actions(model, *at, columns),
        Dialog::Plan { title, body, deed, top } => {
            let agrees = deed.is_some().then(|| (Key::Enter.to_string(), "do it"));
            let keys = agrees.into_iter().chain([esc(if deed.is_some() { "leave it" } else { "close" })]).collect();
            Content { keys, ..told(title, body, *top, columns) }
        }
        Dialog::Text { title, body, top } => told(title, body, *top, columns),
        Dialog::Typed(typed) => typing(typed, columns),
        Dialog::Choose { title, about: _, body, items, at, top } => choice((title, *top), body, items, *at, columns),
        Dialog::Pausing => pausing(model, columns),
        Dialog::Manager { body, managed } => manager(model, body, managed, columns),
    }
}

/// A text; the hints of a failure stay below it.
fn told(title: &str, body: &Body, top: usize, columns: usize) -> Content {
    let lines = body_lines(body, columns);
    let fixed = hints(body, columns);
    Content { title: title.to_owned(), lines, top, fixed, keys: vec![esc("close")], ..Content::default() }
}

/// What can be done about a failure.
fn hints(body: &Body, columns: usize) -> Vec<Line> {
    let Body::Failed(lines) = body else { return Vec::new() };
    let hints = lines.iter().filter(|line| line.starts_with(HINT));
    hints.flat_map(|line| wrapped(line, columns).into_iter().map(plain)).collect()
}

fn esc(words: &'static str) -> (String, &'static str) {
    (Key::Escape.to_string(), words)
}

fn body_lines(body: &Body, columns: usize) -> Vec<Line> {
    match body {
        Body::Coming(_) => vec![toned("It is being found out …", Tone::Dim)],
        Body::Ready(lines) => {
            let tone = |line: &str| match line {
                line if line.starts_with("To take it back") => Tone::Good,
                line if line.starts_with('+') && !line.starts_with("+++") => Tone::Good,
                line if line.starts_with('-') && !line.starts_with("---") => Tone::Bad,
                line if line.starts_with("@@") => Tone::Accent,
                _ => Tone::Plain,
            };
            lines.iter().flat_map(|line| wrapped(line, columns).into_iter().map(|part| toned(part, tone(line)))).collect()
        }
        Body::Failed(lines) => {
            let numbered = lines.iter().enumerate().filter(|(_, line)| !line.starts_with(HINT));
            let toned_by = |(place, line): (usize, &String)| {
                let tone = if place == 0 { Tone::Bad } else { Tone::Plain };
                wrapped(line, columns).into_iter().map(move |part| toned(part, tone)).collect::<Vec<_>>()
            };
            numbered.flat_map(toned_by).collect()
        }
    }
}

fn help(model: &Model, top: usize, columns: usize) -> Content {
    let mut lines = Vec::new();
    for of in Of::ALL {
        if !lines.is_empty() {
            lines.push(plain(""));
        }
        lines.push(toned(of.heading(), Tone::Strong));
        for row in TABLE.iter().filter(|row| row.of == of) {
            let keys: Vec<String> = model.keys.of_command(row.command).iter().map(Key::to_string).collect();
            let keys = if keys.is_empty() { "-".to_owned() } else { keys.join(" ") };
            for (place, part) in wrapped(row.words, columns.saturating_sub(18)).into_iter().enumerate() {
                let keys = if place == 0 { keys.as_str() } else { "" };
                lines.push((vec![(format!("  {}", fit(keys, 15)), Tone::Accent), (part, Tone::Plain)], Row::Other));
            }
        }
    }
    let keys = vec![("j/k".to_owned(), "scroll"), esc("close")];
    Content { title: "KEYS".to_owned(), lines, top, keys, ..Content::default() }
}

fn actions(model: &Model, at: usize, columns: usize) -> Content {
    let about = |of: Of| match of {
        Of::Agent => model.agent_row().map(|row| {
            let task = row.task.as_deref().map_or_else(String::new, |task| format!(" on {task}"));
            format!("{}{task}: {}", row.id, row.state)
        }),
        Of::Task => model.task_row().map(|row| format!("{}: {} ({})", row.id, row.title, row.shown)),
        Of::Everything => Some(format!("{}, {}", model.seen.session.now.as_str(), model.seen.session.mode.as_str())),
        Of::View => None,
    };
    let (mut lines, mut before, mut selected) = (Vec::new(), None, 0);
    for (place, command) in menu().into_iter().enumerate() {
        let Some(row) = row_of(command) else { continue };
        if before != Some(row.of) {
            if before.is_some() {
                lines.push(plain(""));
            }
            let what = about(row.of).map_or_else(|| ": none".to_owned(), |what| format!(": {what}"));
            lines.push((vec![(row.of.heading().to_owned(), Tone::Strong), (what, Tone::Plain)], Row::Other));
            before = Some(row.of);
        }
        let why = impossible(model, command);
        let tone = if why.is_some() { Tone::Dim } else { Tone::Plain };
        let key = fit(&model.keys.shown(command), 7);
        let words = match why {
            Some(why) => format!("{} ({why})", row.short),
            None => instead(model, command).unwrap_or_else(|| row.words.to_owned()),
        };
        let is = if place == at { Row::Selected } else { Row::Other };
        if place == at {
            selected = lines.len();
        }
        let key_tone = if tone == Tone::Dim { Tone::Dim } else { Tone::Accent };
        lines.push((vec![(format!("  {key}"), key_tone), (fit(&words, columns.saturating_sub(9)), tone)], is));
    }
    let room = usize::from(model.size.1).saturating_sub(6);
    let top = selected.saturating_sub(room / 2);
    let keys =
        vec![("j/k".to_owned(), "select"), (Key::Tab.to_string(), "next group"), (Key::Enter.to_string(), "do it"), esc("close")];
    Content { title: "ACTIONS".to_owned(), lines, top, keys, ..Content::default() }
}

fn typing(typed: &Typed, columns: usize) -> Content {
    let mut lines: Vec<Line> = typed.before.iter().flat_map(|line| wrapped(line, columns)).map(plain).collect();
    lines.push(plain(""));
    let mut fixed = vec![toned(format!("{}:", typed.label), Tone::Strong)];
    // The end of a long text is what is being typed.
    let room = columns.saturating_sub(3);
    let mut shown: String = typed.text.clone();
    while width(&shown) > room {
        shown.remove(0);
    }
    fixed.push((vec![("> ".to_owned(), Tone::Accent), (shown, Tone::Plain), ("▏".to_owned(), Tone::Accent)], Row::Other));
    let keys = vec![(Key::Enter.to_string(), "do it"), esc("leave it")];
    Content { title: typed.title.clone(), lines, at: fixed.len(), fixed, keys, ..Content::default() }
}

fn choice((title, top): (&str, usize), body: &Body, items: &[Item], at: usize, columns: usize) -> Content {
    let mut lines = body_lines(body, columns);
    lines.push(plain(""));
    let row = |(place, item): (usize, &Item)| {
        let letter = item.letter.map_or_else(|| "   ".to_owned(), |letter| format!("[{letter}]"));
        let pieces = vec![(format!("{letter} "), Tone::Accent), (fit(&item.line, columns.saturating_sub(4)), Tone::Plain)];
        (pieces, if place == at { Row::Selected } else { Row::Other })
    };
    let hints = hints(body, columns);
    let at = hints.len() + at;
    let fixed = hints.into_iter().chain(items.iter().enumerate().map(row)).collect();
    let keys = match items {
        [] => vec![esc("close")],
        _ => vec![("j/k".to_owned(), "select"), (Key::Enter.to_string(), "choose"), esc("leave it")],
    };
    Content { title: title.to_owned(), lines, top, fixed, at, keys }
}

fn pausing(model: &Model, columns: usize) -> Content {
    let agents: Vec<_> = model.seen.agents.iter().filter(|row| row.runner == Runner::Agent && row.task.is_some()).collect();
    let running = agents.iter().filter(|row| row.state == "running").count();
    let first = match (model.seen.session.now, running) {
        (SessionNow::Paused, _) | (_, 0) => "Paused: no agent runs, and none begins.".to_owned(),
        (_, 1) => "Waiting until 1 iteration ends …".to_owned(),
        (_, many) => format!("Waiting until {many} iterations end …"),
    };
    let mut lines = vec![plain(first), plain("")];
    for row in agents {
        let (state, tone) = match row.state.as_str() {
            "running" => (format!("runs, iteration {}", row.iteration.0), Tone::Warn),
            other => (other.to_owned(), Tone::Good),
        };
        lines.push((vec![(fit(&row.id, 14), Tone::Plain), (state, tone)], Row::Other));
    }
    let paused = model.seen.session.now == SessionNow::Paused;
    let key = model.keys.shown(Command::Pause);
    lines.push(plain(""));
    let again = match paused {
        true => format!("{key} lets them go on."),
        false => format!("{key} again stops them at once: what they did is committed, and they go on with it afterwards."),
    };
    lines.extend(wrapped(&again, columns).into_iter().map(plain));
    let title = if paused { "PAUSED" } else { "PAUSING" };
    let words = if paused { "resume" } else { "at once" };
    Content { title: title.to_owned(), lines, keys: vec![(key, words), esc("close")], ..Content::default() }
}

fn manager(model: &Model, body: &Body, managed: &Managed, columns: usize) -> Content {
    let title = "CHECKPOINTS".to_owned();
    let new = (model.keys.shown(Command::NewCheckpoint), "new");
    if managed.rows.is_empty() {
        let lines = match body {
            Body::Ready(_) => vec![plain("There is no checkpoint yet.")],
            Body::Coming(_) | Body::Failed(_) => body_lines(body, columns),
        };
        return Content { title, lines, keys: vec![new, esc("close")], ..Content::default() };
    }
    let row = |(place, row): (usize, &crate::panel::seen::CheckpointRow)| {
        let mark = if managed.marked.contains(&row.name) { "[x] " } else { "[ ] " };
        let pieces = vec![(mark.to_owned(), Tone::Accent), (fit(&row.line, columns.saturating_sub(4)), Tone::Plain)];
        (pieces, if place == managed.at { Row::Selected } else { Row::Other })
    };
    let mut lines = vec![toned(format!("    {}", managed.heading), Tone::Strong)];
    lines.extend(managed.rows.iter().enumerate().map(row));
    let room = usize::from(model.size.1).saturating_sub(10);
    let top = managed.at.saturating_sub(room / 2);
    let mut fixed = vec![plain("")];
    fixed.extend(wrapped(&managed.summary, columns).into_iter().map(|line| toned(line, Tone::Dim)));
    let keys = vec![
        (Key::Enter.to_string(), "go back"),
        (Key::Char(' ').to_string(), "mark"),
        ("d".to_owned(), "delete"),
        ("o".to_owned(), "old"),
        ("p".to_owned(), "pack"),
        new,
        esc("close"),
    ];
    Content { title, lines, top, fixed, keys, ..Content::default() }
}
