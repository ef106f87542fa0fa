//! Header, tabs, notice, footer.

use ratatui::layout::Rect;

use super::canvas::{Canvas, RowHighlight, RowPiece, TextTone, fit, width};
use super::words::{cost, tokens};
use crate::panel::keys::{PanelCommand, TABLE};
use crate::panel::model::{PanelModel, PanelView, impossible};
use crate::panel::snapshot::AgentRowRunner;
use crate::panel::text_lines::{below, most_below};
use axiom_model::queries::project::LiveSessionStatus;
use axiom_model::work::sessions::session::SessionMode;

/// State, mode, target, counts by state, what was used, what waits.
pub fn header(model: &PanelModel, area: Rect, canvas: &mut Canvas<'_>) {
    let session = &model.seen.session;
    let plain = |text: String| (text, TextTone::Plain);
    let state = match session.now {
        LiveSessionStatus::Running => (" running ".to_owned(), TextTone::Good),
        LiveSessionStatus::Pausing => (" pausing ".to_owned(), TextTone::Warn),
        LiveSessionStatus::Paused => (" paused ".to_owned(), TextTone::Warn),
        LiveSessionStatus::Ending => (" ending ".to_owned(), TextTone::Warn),
        LiveSessionStatus::Crashed => (" crashed ".to_owned(), TextTone::Bad),
        LiveSessionStatus::Idle => (" no session ".to_owned(), TextTone::Dim),
    };
    let mode = match session.mode {
        SessionMode::Autopilot => TextTone::Warn,
        SessionMode::SemiAuto | SessionMode::Review => TextTone::Plain,
    };
    let mut pieces: Vec<RowPiece> = vec![state, ("│ ".to_owned(), TextTone::Dim), (format!("{} ", session.mode.as_str()), mode)];
    if let Some(target) = &session.target {
        pieces.push(plain(format!("→ {target} ")));
    }
    let counts = &model.seen.counts;
    // What has no room is left out rather than cut: half a number is another number.
    let mut room = usize::from(area.width).saturating_sub(pieces.iter().map(|(text, _)| width(text)).sum());
    let mut part = |text: String, tone: TextTone| {
        let columns = width(&text) + 2;
        if columns <= room {
            room = room.saturating_sub(columns + 1);
            pieces.push(("│ ".to_owned(), TextTone::Dim));
            pieces.push((format!("{text} "), tone));
        }
    };
    part(format!("{} working", model.working()), TextTone::Plain);
    part(format!("{}/{} merged", counts.merged, counts.total), TextTone::Plain);
    let stuck = counts.blocked + counts.failed;
    if stuck > 0 {
        part(format!("{stuck} stuck"), TextTone::Bad);
    }
    let waiting = model.for_you();
    if waiting > 0 {
        part(format!("{waiting} for you"), TextTone::Warn);
    }
    if !model.seen.recovery.is_empty() {
        part("recover".to_owned(), TextTone::Bad);
    }
    if let Some(used) = session.cost {
        part(cost(used), TextTone::Plain);
    }
    if let Some(used) = session.tokens {
        part(format!("{} tokens", tokens(used)), TextTone::Plain);
    }
    if let Some(disk) = &session.disk {
        part(disk.clone(), TextTone::Dim);
    }
    canvas.row(area, &pieces, RowHighlight::Other);
}

fn tab(model: &PanelModel, view: PanelView) -> String {
    let number = PanelView::ALL.iter().position(|one| *one == view).map_or(0, |place| place + 1);
    let many = match view {
        PanelView::Agents => model.seen.agents.iter().filter(|row| !matches!(row.runner, AgentRowRunner::Prompt { .. })).count(),
        PanelView::Tasks => model.names(PanelView::Tasks).len(),
        PanelView::Gates => model.for_you(),
        PanelView::Output | PanelView::Timeline => 0,
    };
    let many = if many > 0 { format!(" ({many})") } else { String::new() };
    format!(" {number} {}{many} ", view.title())
}

/// Each view with the columns of its tab.
pub fn tab_places(model: &PanelModel) -> Vec<(PanelView, usize, usize)> {
    let mut from = 0;
    let place = |view: &PanelView| {
        let to = from + width(&tab(model, *view));
        let place = (*view, from, to);
        from = to;
        place
    };
    PanelView::ALL.iter().map(place).collect()
}

/// The tabs; that of the shown view is reversed.
pub fn tabs(model: &PanelModel, area: Rect, canvas: &mut Canvas<'_>) {
    for (view, from, to) in tab_places(model) {
        let (from, to) = (u16::try_from(from).unwrap_or(u16::MAX), u16::try_from(to).unwrap_or(u16::MAX));
        if to > area.width {
            break;
        }
        let place = Rect { x: area.x + from, width: to - from, ..area };
        let row = if view == model.selected.view { RowHighlight::Selected } else { RowHighlight::Other };
        canvas.row(place, &[(tab(model, view), TextTone::Plain)], row);
    }
    filter(model, area, canvas);
}

/// What the lines of the shown view have to contain.
fn filter(model: &PanelModel, area: Rect, canvas: &mut Canvas<'_>) {
    let Some(text) = model.filters.of(model.selected.view) else { return };
    let text = format!(" {}{text} ", model.keys.shown(PanelCommand::Filter));
    let room = usize::from(area.width).saturating_sub(tab_places(model).last().map_or(0, |(_, _, to)| *to));
    let columns = u16::try_from(width(&text).min(room)).unwrap_or(0);
    canvas.line(Rect { x: area.x + area.width - columns, width: columns, ..area }, &text, TextTone::Warn);
}

/// What is being done, what was done, or what has to be done, in as many lines as it needs, so that a hint at its end is whole.
pub fn notice(model: &PanelModel, area: Rect, canvas: &mut Canvas<'_>) {
    let Some((text, tone)) = told(model) else { return };
    let mut lines = below(&text, area.width);
    let room = usize::from(area.height);
    if lines.len() > room {
        lines.truncate(room);
        if let Some(last) = lines.last_mut() {
            *last = fit(&format!("{last} …"), usize::from(area.width).saturating_sub(1));
        }
    }
    for (line, y) in lines.into_iter().zip(area.y..area.y + area.height) {
        canvas.row(Rect { y, height: 1, ..area }, &[(" ".to_owned(), TextTone::Plain), (line, tone)], RowHighlight::Other);
    }
}

/// How many lines of a terminal of this size what is told needs, and has.
pub fn notice_height(model: &PanelModel, area: Rect) -> u16 {
    let lines = told(model).map_or(0, |(text, _)| below(&text, area.width).len());
    u16::try_from(lines).unwrap_or(u16::MAX).clamp(1, most_below(area.height))
}

fn told(model: &PanelModel) -> Option<(String, TextTone)> {
    let told = model.notice.as_ref().map(|notice| (notice.text.clone(), if notice.bad { TextTone::Bad } else { TextTone::Good }));
    let doing = model.doing.first().map(|deed| (format!("… {}", deed.in_words()), TextTone::Warn));
    let recover = || model.seen.recovery.first().map(|why| (format!("{why}: {}", to_recover(model)), TextTone::Bad));
    let last = || model.seen.session.last_action.as_ref().map(|action| (format!("last: {action}"), TextTone::Dim));
    let now = || match model.seen.session.doing.as_slice() {
        [] => None,
        [one] => Some((format!("now: {one}"), TextTone::Dim)),
        [first, more @ ..] => Some((format!("now: {first}; and {} more", more.len()), TextTone::Dim)),
    };
    // What went wrong is not hidden by what is still being done.
    let bad = told.clone().filter(|(_, tone)| *tone == TextTone::Bad);
    bad.or(doing).or(told).or_else(recover).or_else(now).or_else(last)
}

/// Where what a crash left is decided about.
fn to_recover(model: &PanelModel) -> String {
    let (view, open) = (model.keys.shown(PanelCommand::Gates), model.keys.shown(PanelCommand::Open));
    let here = if [&view, &open].iter().any(|key| *key == "-") { String::new() } else { format!("{view}, then {open}, or ") };
    format!("{here}git axiom recover")
}

/// The most important keys, as many as there is room for.
pub fn footer(model: &PanelModel, area: Rect, canvas: &mut Canvas<'_>) {
    let rows = TABLE.iter().filter(|row| row.footer > 0 && model.selected.view.names(row.of));
    // What would only be refused is not offered.
    let mut rows: Vec<_> = rows.filter(|row| impossible(model, row.command).is_none()).collect();
    rows.sort_by_key(|row| row.footer);
    let (mut pieces, mut used): (Vec<RowPiece>, usize) = (Vec::new(), 0);
    for row in rows {
        let key = model.keys.shown(row.command);
        if key == "-" {
            continue;
        }
        let resumes = row.command == PanelCommand::Pause && model.seen.session.now == LiveSessionStatus::Paused;
        let words = if resumes { "resume" } else { row.short };
        let next = width(&key) + width(words) + 3;
        if used + next > usize::from(area.width) {
            break;
        }
        used += next;
        pieces.push((format!(" {key}"), TextTone::Accent));
        pieces.push((format!(" {words} "), TextTone::Dim));
    }
    canvas.row(area, &pieces, RowHighlight::Other);
}
