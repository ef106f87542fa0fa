//! Pictures of events as the log has them.

use jiff::{SignedDuration, Timestamp};

use super::*;
use crate::state::event_envelope::EventAuthor;

/// Events of a log, one a line: what it does, and its arguments.
fn picture(events: &[Event]) -> Picture {
    let mut fold = PictureFold::default();
    for (seq, event) in (1_u64..).zip(events) {
        let at = Timestamp::UNIX_EPOCH + SignedDuration::from_secs(i64::try_from(seq).unwrap() * 60);
        let txn = OperationId::new(format!("t{seq}")).unwrap();
        fold.push(&EventEnvelope { seq, at, txn, by: EventAuthor::User, event: event.clone() });
    }
    fold.finish()
}

fn event(json: serde_json::Value) -> Event {
    serde_json::from_value(json).unwrap()
}

fn opened(task: &str) -> Event {
    let workspace = serde_json::json!({"agent": "ed-001", "path": "/w", "branch": "refs/heads/axiom/x", "base": "0".repeat(40)});
    event(serde_json::json!({"workspaceOpened": {"task": task, "workspace": workspace}}))
}

fn claimed(agent: &str, task: &str) -> Event {
    event(serde_json::json!({"taskClaimed": {"agent": agent, "task": task}}))
}

fn released(agent: &str) -> Event {
    event(
        serde_json::json!({"workReleased": {"agent": agent, "status": "pending", "reason": "stopped", "retry": false, "complete": null}}),
    )
}

fn began(kind: serde_json::Value, title: &str) -> Event {
    event(serde_json::json!({"operationBegan": {"operation": {"kind": kind, "title": title}}}))
}

fn ended() -> Event {
    event(serde_json::json!({"operationEnded": {"end": "done"}}))
}

fn checkpoint(name: &str) -> Event {
    let oid = "0".repeat(40);
    event(serde_json::json!({"checkpointCreated": {"checkpoint": {
        "name": name, "type": "named", "trigger": "manual", "createdAt": "1970-01-01T00:00:00Z",
        "gitCommit": oid, "capture": oid, "tag": oid, "seq": 1, "tasksCompleted": 0
    }}}))
}

fn story() -> Vec<Event> {
    vec![
        opened("a"),
        claimed("ed-001", "a"),
        opened("b"),
        claimed("ed-002", "b"),
        event(
            serde_json::json!({"workspaceCaptured": {"task": "a", "capture": "0".repeat(40), "lines": {"insertions": 90, "deletions": 10}}}),
        ),
        checkpoint("one"),
        began(serde_json::json!({"merge": {"task": "a"}}), "merge a into main"),
        ended(),
        opened("c"),
        claimed("ed-003", "c"),
        began(serde_json::json!({"rollbackCheckpoint": {"checkpoint": "one"}}), "rollback to one <&>"),
        ended(),
    ]
}

fn text(picture: &Picture) -> String {
    let rows = lanes::rows(picture).into_iter();
    rows.map(|row| format!("{} {}\n", row.cells, picture.moments[row.moment].what)).collect()
}

#[test]
fn lanes_begin_are_held_by_checkpoints_merge_and_are_rolled_back() {
    let picture = picture(&story());
    let expected = [
        "◀─◀─◀  rollback to one <&>",
        "├─╯ │  c begins",
        "●─╮ │  merge a into main",
        "◆─◆─◆  one (manual)",
        "├─┼─╯  b begins",
        "├─╯    a begins",
    ];
    assert_eq!(text(&picture).lines().collect::<Vec<_>>(), expected);
    assert_eq!(lanes::now(&picture), "○ │ │ ");
    assert_eq!(picture.moments[3].changed_lines, Some(100));
    assert!(picture.moments[5].command.as_ref().unwrap().starts_with("git axiom undo "));
    let mut refused = picture.clone();
    assert_eq!(refused.offered().count(), 2);
    refused.offer_only(|_| MomentStanding::Refused, |task| Some(format!("git axiom rollback task {task}")));
    let command = |place: usize| refused.moments[place].command.as_deref();
    assert_eq!((command(3), command(5)), (Some("git axiom rollback task a"), None), "only what is accepted is offered");
    assert_eq!(command(2), Some("git axiom rollback one"));
    let mut undone = picture.clone();
    undone.offer_only(|id| MomentStanding::UndoneBy(id.clone()), |task| Some(task.to_string()));
    let merge = &undone.moments[3];
    assert!(merge.command.is_none() && merge.what.starts_with("merge a into main (undone by "), "{merge:?}");
    let mut not_merged = picture;
    not_merged.offer_only(|_| MomentStanding::Refused, |_| None);
    assert_eq!(not_merged.moments[3].command, None, "it was taken back in another way");
}

#[test]
fn an_agent_leaves_what_it_took_last_and_a_task_begins_when_it_is_taken() {
    let again =
        [released("ed-001"), opened("b"), claimed("ed-001", "b"), released("ed-001"), claimed("ed-002", "b"), opened("c")];
    let picture = picture(&[&[opened("a"), claimed("ed-001", "a")], &again[..]].concat());
    let expected = [
        "│ │ ●  ed-001 leaves b, pending: stopped",
        "├─┼─╯  b begins",
        "│ ●    ed-001 leaves a, pending: stopped",
        "├─╯    a begins",
    ];
    assert_eq!(text(&picture).lines().collect::<Vec<_>>(), expected);
    let of_lanes: Vec<_> =
        picture.lanes.iter().map(|lane| (lane.task_id.as_str(), lane.agent_id.as_ref().unwrap().as_str())).collect();
    assert_eq!(of_lanes, [("a", "ed-001"), ("b", "ed-002")], "a hook has not let c begin yet");
}

#[test]
fn the_newest_part_has_the_lanes_that_were_there_already() {
    let whole = picture(&story());
    let newest = whole.clone().newest(3);
    assert_eq!(text(&newest), text(&whole).lines().take(3).map(|line| format!("{line}\n")).collect::<String>());
    assert_eq!((newest.lanes.len(), whole.clone().newest(100) == whole), (3, true));
    assert_eq!(text(&Picture::default().newest(0)), "");
}

#[test]
fn the_file_is_sound_and_nothing_in_it_is_of_others() {
    let svg = svg::svg(&picture(&story()), |at| at.to_string());
    assert!(svg.contains("rollback to one &lt;&amp;&gt;") && svg.contains("git axiom rollback one"), "{svg}");
    assert_eq!(svg.matches("<polygon class=\"save\"").count(), 3, "a checkpoint is a mark on every lane that it holds");
    assert!(!svg.contains("<script") && !svg.contains("href") && svg.matches("http").count() == 1, "{svg}");
    assert_eq!(svg.matches("<g>").count(), svg.matches("</g>").count());
    assert!(svg::svg(&Picture::default(), |at| at.to_string()).ends_with("</svg>\n"));
}
