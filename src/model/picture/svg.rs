//! The picture as one file: time from left to right, lanes below one another, the area of a dot the changed lines, the command that
//! goes there where the pointer rests. No script, nothing from elsewhere. Pure.

use std::fmt::Write as _;

use jiff::Timestamp;

use super::{Picture, PictureMoment, PictureMomentKind};

/// The part of the picture that has a time.
const WIDTH: f64 = 1000.0;
const LEFT: f64 = 170.0;
const RIGHT: f64 = 30.0;
const TOP: f64 = 60.0;
const LANE: f64 = 44.0;

const STYLE: &str = "\
:root{--ink:#24292f;--dim:#8c959f;--paper:#fff;--work:#0969da;--merge:#1a7f37;--save:#8250df;--back:#cf222e}\
@media(prefers-color-scheme:dark){:root{--ink:#e6edf3;--dim:#6e7681;--paper:#0d1117;--work:#58a6ff;--merge:#3fb950;--save:#bc8cff;--back:#ff7b72}}\
svg{background:var(--paper)}text{font:12px ui-monospace,monospace;fill:var(--ink)}.dim{fill:var(--dim)}\
.lane{stroke:var(--dim);stroke-width:2;fill:none}.main{stroke:var(--ink);stroke-width:3}.work{fill:var(--work)}\
.merge{fill:var(--merge);stroke:var(--merge)}.join{stroke:var(--merge);stroke-width:2;fill:none}\
.save{fill:var(--save);stroke:var(--save)}.back{stroke:var(--back);stroke-width:2;fill:none}.tip{fill:var(--back)}";

/// The file. `clock` says a time in words.
pub fn svg(picture: &Picture, clock: impl Fn(Timestamp) -> String) -> String {
    let scale = TimeScale::of(picture);
    let height = TOP + LANE * picture.columns() as f64 + 10.0;
    let mut text = String::new();
    let all = LEFT + WIDTH + RIGHT;
    let _ = writeln!(text, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {all} {height}\" role=\"img\">");
    let _ = writeln!(text, "<title>git axiom: what happened</title>\n<style>{STYLE}</style>");
    for tick in 0..=4_u8 {
        let share = f64::from(tick) / 4.0;
        let (x, said) = (LEFT + WIDTH * share, scale.time(share).map(&clock).unwrap_or_default());
        let _ = writeln!(text, "<text class=\"dim\" x=\"{x:.1}\" y=\"16\" text-anchor=\"middle\">{}</text>", escaped(&said));
    }
    let _ = writeln!(text, "<line class=\"lane main\" x1=\"{LEFT}\" y1=\"{0}\" x2=\"{1}\" y2=\"{0}\"/>", y(0), LEFT + WIDTH);
    let _ = writeln!(text, "<text x=\"10\" y=\"{:.1}\">main worktree</text>", y(0) + 4.0);
    lanes(picture, &scale, &mut text);
    for (place, moment) in picture.moments.iter().enumerate() {
        draw(picture, &scale, place, moment, &mut text);
    }
    text.push_str("</svg>\n");
    text
}

/// Where a time is.
struct TimeScale {
    first: Option<Timestamp>,
    milliseconds: f64,
}

impl TimeScale {
    fn of(picture: &Picture) -> Self {
        let times = picture.moments.iter().map(|moment| moment.at);
        let (first, last) = (times.clone().min(), times.max());
        let span = first.zip(last).map_or(0, |(first, last)| last.as_millisecond() - first.as_millisecond());
        Self { first, milliseconds: (span as f64).max(1.0) }
    }

    fn x(&self, at: Timestamp) -> f64 {
        let since = self.first.map_or(0, |first| at.as_millisecond() - first.as_millisecond());
        LEFT + WIDTH * (since as f64 / self.milliseconds).clamp(0.0, 1.0)
    }

    #[allow(clippy::cast_possible_truncation)]
    fn time(&self, share: f64) -> Option<Timestamp> {
        let first = self.first?;
        Timestamp::from_millisecond(first.as_millisecond() + (self.milliseconds * share) as i64).ok()
    }
}

fn y(column: usize) -> f64 {
    TOP + LANE * column as f64
}

fn lanes(picture: &Picture, scale: &TimeScale, text: &mut String) {
    for lane in &picture.lanes {
        let at = |place: Option<usize>, else_at: f64| {
            place.and_then(|place| picture.moments.get(place)).map_or(else_at, |moment| scale.x(moment.at))
        };
        let (from, to, y) = (at(lane.from, LEFT), at(lane.to, LEFT + WIDTH), y(lane.column));
        let _ = writeln!(text, "<line class=\"lane\" x1=\"{from:.1}\" y1=\"{y}\" x2=\"{to:.1}\" y2=\"{y}\"/>");
        let agent = lane.agent_id.as_ref().map_or_else(String::new, |agent| format!(" ({agent})"));
        let said = escaped(&format!("{}{agent}", lane.task_id));
        let _ = writeln!(text, "<text class=\"dim\" x=\"{:.1}\" y=\"{:.1}\">{said}</text>", from + 6.0, y - 8.0);
    }
}

/// The radius of a dot whose area is that many lines.
fn radius(lines: Option<u64>) -> f64 {
    lines.map_or(3.0, |lines| (3.0 + (lines as f64).sqrt() / 2.0).min(16.0))
}

fn draw(picture: &Picture, scale: &TimeScale, place: usize, moment: &PictureMoment, text: &mut String) {
    let x = scale.x(moment.at);
    let columns: Vec<usize> = moment.lanes.iter().map(|lane| picture.lanes[*lane].column).collect();
    let last = columns.iter().copied().max().unwrap_or(0);
    let command = moment.command.as_ref().map_or_else(String::new, |command| format!("\n{command}"));
    let _ = write!(text, "<g><title>{}</title>", escaped(&format!("{}{command}", moment.what)));
    let r = radius(moment.changed_lines);
    match moment.kind {
        PictureMomentKind::Session => {
            let _ = write!(text, "<rect class=\"work\" x=\"{:.1}\" y=\"{:.1}\" width=\"8\" height=\"8\"/>", x - 4.0, y(0) - 4.0);
        }
        PictureMomentKind::Begun => {
            let _ = write!(text, "<line class=\"lane\" x1=\"{x:.1}\" y1=\"{}\" x2=\"{x:.1}\" y2=\"{}\"/>", y(0), y(last));
        }
        PictureMomentKind::Worked | PictureMomentKind::Closed => {
            let class = if moment.kind == PictureMomentKind::Worked { "work" } else { "dim" };
            for column in &columns {
                let _ = write!(text, "<circle class=\"{class}\" cx=\"{x:.1}\" cy=\"{}\" r=\"{r:.1}\"/>", y(*column));
            }
        }
        PictureMomentKind::Merged => {
            let _ = write!(text, "<line class=\"join\" x1=\"{x:.1}\" y1=\"{}\" x2=\"{x:.1}\" y2=\"{}\"/>", y(last), y(0));
            let _ = write!(text, "<circle class=\"merge\" cx=\"{x:.1}\" cy=\"{}\" r=\"{r:.1}\"/>", y(0));
        }
        PictureMomentKind::Checkpoint => {
            let _ = write!(text, "<line class=\"save\" x1=\"{x:.1}\" y1=\"{}\" x2=\"{x:.1}\" y2=\"{}\"/>", y(0), y(last));
            for column in std::iter::once(0).chain(columns) {
                let (y, d) = (y(column), 5.0);
                let points = format!("{x:.1},{:.1} {:.1},{y:.1} {x:.1},{:.1} {:.1},{y:.1}", y - d, x + d, y + d, x - d);
                let _ = write!(text, "<polygon class=\"save\" points=\"{points}\"/>");
            }
        }
        PictureMomentKind::RolledBack | PictureMomentKind::Undone => {
            let to = went_to(picture, place).map_or(x - 30.0, |moment| scale.x(moment.at)).max(LEFT);
            let (above, y) = (y(0) - 26.0, y(0));
            let _ =
                write!(text, "<path class=\"back\" d=\"M{x:.1},{y} C{x:.1},{above} {to:.1},{above} {to:.1},{:.1}\"/>", y - 6.0);
            let _ = write!(
                text,
                "<polygon class=\"tip\" points=\"{to:.1},{y} {:.1},{1:.1} {2:.1},{1:.1}\"/>",
                to - 4.0,
                y - 8.0,
                to + 4.0
            );
        }
    }
    text.push_str("</g>\n");
}

/// The moment to which a rollback went back.
fn went_to(picture: &Picture, place: usize) -> Option<&PictureMoment> {
    let wanted = picture.moments[place].checkpoint.as_ref()?;
    picture.moments[..place]
        .iter()
        .rev()
        .find(|moment| moment.kind == PictureMomentKind::Checkpoint && moment.checkpoint.as_ref() == Some(wanted))
}

/// A text within an element: what XML does not allow is left out.
fn escaped(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => shown.push_str("&amp;"),
            '<' => shown.push_str("&lt;"),
            '>' => shown.push_str("&gt;"),
            '"' => shown.push_str("&quot;"),
            '\n' => shown.push('\n'),
            letter if letter.is_control() => shown.push('\u{fffd}'),
            letter => shown.push(letter),
        }
    }
    shown
}
