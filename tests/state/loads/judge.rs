//! What may come of damaged input: an error, or what is true and, where something is missing, says so.

use std::path::{Path, PathBuf};

use git_axiom::model::agent::presets::preset;
use git_axiom::model::agent::stream::decode::StreamDecoder;
use git_axiom::model::agent::stream::summary::StreamSummary;
use git_axiom::model::base::ids::Token;
use git_axiom::model::checkpoint::document::CheckpointDocument;
use git_axiom::process::client::state::{keeper_state, read_signals};
use git_axiom::process::keeper::spool::SignalSpool;
use git_axiom::process::run_folder::record_files;
use git_axiom::process::run_folder::records::{ExitRecord, KeeperRecord};
use git_axiom::process::run_folder::spec::{self, KeeperSpec};
use git_axiom::safety::config::{ConfigLayers, ConfigSource, load_usable};
use git_axiom::store::beside::tasks;
use git_axiom::store::log_files::line;
use git_axiom::store::states::handle::Store;
use git_axiom::store::states::inspect;
use git_axiom::store::states::snapshot;
use git_axiom::store::states::snapshot::SnapshotFile;

use super::ground::{Ground, Kind};

/// Whether something was loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// It was, at least in part.
    Loaded,
    /// It was refused.
    Refused,
}

/// What is wrong.
pub type Judgement = Result<Outcome, String>;

/// Reads the input as the program would.
pub fn judge(ground: &Ground, kind: Kind, input: &[u8]) -> Judgement {
    let Some(place) = ground.place(kind) else { return of_bytes(ground, kind, input) };
    std::fs::write(&place, input).unwrap();
    let judged = of_store(ground, kind, input);
    std::fs::write(&place, ground.whole(kind)).unwrap();
    judged
}

fn of_bytes(ground: &Ground, kind: Kind, input: &[u8]) -> Judgement {
    match kind {
        Kind::Line => match line::decode(input.strip_suffix(b"\n").unwrap_or(input)) {
            Ok(envelope) => once_true(ground.history.contains(&envelope), &envelope),
            Err(_) => Ok(Outcome::Refused),
        },
        Kind::Config => of_config(input),
        Kind::Checkpoint => of_checkpoint(input),
        Kind::Exit => of_record::<ExitRecord>(ground, kind, spec::EXIT, input),
        Kind::Keeper => of_record::<KeeperRecord>(ground, kind, spec::KEEPER, input),
        Kind::Spec => of_record::<KeeperSpec>(ground, kind, spec::SPEC, input),
        Kind::Signals => of_signals(ground, input),
        Kind::Spool => of_spool(ground, input),
        Kind::Stream => of_stream(input),
        Kind::Log | Kind::Segment | Kind::Snapshot | Kind::Part | Kind::Cases => unreachable!(),
    }
}

fn of_store(ground: &Ground, kind: Kind, input: &[u8]) -> Judgement {
    let layout = &ground.layout;
    match kind {
        Kind::Log | Kind::Segment => {
            let looked = inspect::inspect(layout);
            let whole = ground.whole(kind);
            // The last events that are missing whole leave no trace in the log, and an event that is there twice does no harm.
            let known: Vec<&[u8]> = whole.split_inclusive(|byte| *byte == b'\n').collect();
            let strange =
                input.split_inclusive(|byte| *byte == b'\n').any(|line| !known.contains(&line) && !ground.is_line(line));
            if strange && looked.is_ok_and(|found| found.is_sound()) {
                return Err("recovery sees no damage".into());
            }
            let Ok(store) = Store::load(layout.clone()) else { return Ok(Outcome::Refused) };
            let known = ground.states.get(store.state().seq as usize);
            once_true(known == Some(store.state()), &store.state().seq)
        }
        Kind::Snapshot => match snapshot::load(layout) {
            Ok(SnapshotFile::Good(loaded)) => {
                let known = ground.states.get(loaded.state.seq as usize);
                once_true(known == Some(&loaded.state), &loaded.state.seq)
            }
            Ok(SnapshotFile::Damaged(_) | SnapshotFile::Missing) | Err(_) => Ok(Outcome::Refused),
        },
        Kind::Part => match snapshot::load(layout) {
            Ok(SnapshotFile::Good(loaded)) => {
                match (loaded.state.record.checkpoints.all(), ground.states.get(loaded.state.seq as usize)) {
                    (Ok(all), Some(known)) => once_true(known.record.checkpoints.all().unwrap() == all, &all.len()),
                    (Ok(_), None) => Err("a state that never was".into()),
                    (Err(_), _) => Ok(Outcome::Refused),
                }
            }
            other => Err(format!("the snapshot itself: {other:?}")),
        },
        Kind::Cases => {
            let found = tasks::load(layout).unwrap();
            let whole: Vec<&[u8]> = ground.whole(kind).split(|byte| *byte == b'\n').collect();
            let strange = input.split(|byte| *byte == b'\n').any(|line| !line.is_empty() && !whole.contains(&line));
            if strange && found.damaged == 0 {
                return Err("a damaged line is not counted".into());
            }
            let was = |task: &_| ground.states.iter().any(|state| state.restorable.tasks.values().any(|known| known == task));
            once_true(found.tasks.values().all(was), &found.tasks.keys())
        }
        Kind::Line | Kind::Config | Kind::Checkpoint | Kind::Exit | Kind::Keeper | Kind::Spec => unreachable!(),
        Kind::Signals | Kind::Spool | Kind::Stream => unreachable!(),
    }
}

fn once_true(holds: bool, what: &dyn std::fmt::Debug) -> Judgement {
    if holds { Ok(Outcome::Loaded) } else { Err(format!("it was loaded, and never was so: {what:?}")) }
}

/// A file that is no TOML, and a key that does not count, are both said.
fn of_config(input: &[u8]) -> Judgement {
    let Ok(text) = std::str::from_utf8(input) else { return Ok(Outcome::Refused) };
    let path = PathBuf::from("/config.toml");
    let usable = load_usable(&ConfigLayers { user_file: Some((path, text.to_owned())), ..ConfigLayers::default() })
        .map_err(|e| e.to_string())?;
    if !usable.problems.is_empty() {
        return Ok(Outcome::Refused);
    }
    let table: toml::Table =
        toml::from_str(text.trim_start_matches('\u{feff}')).map_err(|error| format!("no word of {error}"))?;
    for (section, keys) in &table {
        let keys = keys.as_table().ok_or(format!("no word of '{section}'"))?;
        for (key, _) in keys.iter().filter(|(_, value)| !value.is_table()) {
            let name = format!("{section}.{key}");
            let counts = usable.loaded.settings.iter().any(|(known, at)| *known == name && at.source != ConfigSource::Default);
            if !counts {
                return Err(format!("no word of '{name}'"));
            }
        }
    }
    git_axiom::safety::config::check(&usable.loaded.config).map_err(|error| format!("accepted, and cannot be used: {error}"))?;
    Ok(Outcome::Loaded)
}

/// Whether it is the right one git says, by its id: here only that it reads back as it was understood.
fn of_checkpoint(input: &[u8]) -> Judgement {
    let Ok(document) = CheckpointDocument::from_json(input) else { return Ok(Outcome::Refused) };
    let again = CheckpointDocument::from_json(&serde_json::to_vec(&document).unwrap());
    once_true(again.as_ref() == Ok(&document), &again.map(|_| ()))
}

fn of_record<T: serde::de::DeserializeOwned + PartialEq>(ground: &Ground, kind: Kind, name: &str, input: &[u8]) -> Judgement {
    let dir = ground.run();
    std::fs::create_dir_all(&dir).unwrap();
    let path = dir.join(name);
    std::fs::write(&path, input).unwrap();
    let read = record_files::read_json::<T>(&path);
    let _ = keeper_state(&dir);
    let sound: T = serde_json::from_slice(ground.whole(kind)).unwrap();
    std::fs::remove_file(&path).unwrap();
    match read {
        Ok(Some(record)) => once_true(record == sound, &String::from_utf8_lossy(input)),
        Ok(None) => Err("it is there".into()),
        Err(_) => Ok(Outcome::Refused),
    }
}

fn of_signals(ground: &Ground, input: &[u8]) -> Judgement {
    let dir = ground.run();
    std::fs::create_dir_all(&dir).unwrap();
    let read = |bytes: &[u8]| {
        std::fs::write(dir.join(spec::SIGNALS), bytes).unwrap();
        read_signals(&dir, 0).unwrap()
    };
    let (sound, now) = (read(ground.whole(Kind::Signals)), read(input));
    let whole = ground.whole(Kind::Signals).split_inclusive(|byte| *byte == b'\n').next().unwrap();
    let lines = input.split_inclusive(|byte| *byte == b'\n').filter(|line| line.ends_with(b"\n"));
    let strange = lines.filter(|line| *line != whole).count() as u64;
    if now.damaged < strange {
        return Err(format!("{strange} lines are damaged, {} counted", now.damaged));
    }
    once_true(now.signals.iter().all(|signal| sound.signals.contains(signal)), &now.signals)
}

/// What comes from an agent may be anything that is valid.
fn of_spool(ground: &Ground, input: &[u8]) -> Judgement {
    let dir = ground.run().join("keeper");
    let folder = dir.join("spool");
    let _ = std::fs::remove_dir_all(&dir);
    std::fs::create_dir_all(&dir).unwrap();
    let mut spool = SignalSpool::open(&folder, &dir, Token::new("t1").unwrap()).unwrap();
    std::fs::write(folder.join("1.json"), input).unwrap();
    let handled = spool.take();
    let read = read_signals(&dir, 0).unwrap();
    let answered = Path::new(&folder).join("1.ack").exists();
    if handled != 1 || !answered || read.signals.len() as u64 != spool.recorded() || read.damaged > 0 {
        return Err(format!("handled {handled}, answered {answered}, {read:?}"));
    }
    Ok(if spool.recorded() == 1 { Outcome::Loaded } else { Outcome::Refused })
}

fn of_stream(input: &[u8]) -> Judgement {
    let adapter = preset("claude").map_err(|error| error.to_string())?;
    let mut decoder = StreamDecoder::new(&adapter.stream, &adapter.tools);
    let mut summary = StreamSummary::new(&adapter.stream);
    let mut seen = decoder.feed(input);
    if decoder.held() > 4 * input.len() + 64 * 1024 {
        return Err(format!("{} bytes are held of {}", decoder.held(), input.len()));
    }
    seen.extend(decoder.end());
    seen.iter().for_each(|one| summary.add(one));
    Ok(if seen.is_empty() { Outcome::Refused } else { Outcome::Loaded })
}
