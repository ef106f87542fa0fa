//! A human in another terminal intervenes at random while many agents work and agents, keepers and the supervisor are killed: nothing
//! is lost, each intervention is in the log, and agents obey within a moment. `AXIOM_ROUNDS=500` for the long run (20 agents, 100
//! tasks, 30 kills), which prints how long it took.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::chaos::crowd::strike;
use crate::common::nothing_lost::Holders;
use crate::common::trials::AskedCases;
use crate::session_support::{Live, Random, World};

struct Drive {
    agents: usize,
    tasks: usize,
    interventions: usize,
    kills: usize,
}

impl Drive {
    /// A small one, or 20 agents on 100 tasks with as many interventions as are asked for.
    fn of(asked: &AskedCases) -> Self {
        match asked.rounds_asked().map(|rounds| rounds as usize) {
            Some(interventions) => Self { agents: 20, tasks: 100, interventions, kills: 30 },
            None => Self { agents: 3, tasks: 6, interventions: 12, kills: 2 },
        }
    }
}

/// A task of three iterations. Each adds a line of its own to its file and then says so elsewhere; asked to end, it says when.
fn script(world: &World, id: &str) -> String {
    let beside = world.env.root().display();
    format!(
        "echo $$ >> '{beside}/pids'\n\
         begun=$(date +%s%N); trap \"date +$begun:%s%N >> '{beside}/obeyed-$AXIOM_AGENT'; exit 1\" TERM\n\
         line=\"{id} $$ $(date +%N)\"; echo \"$line\" >> {id}.txt; sync {id}.txt; echo \"$line\" >> '{beside}/told'\n\
         for i in 1 2 3 4 5 6 7 8 9 10; do sleep 0.05; done\n\
         test \"$(wc -l < {id}.txt)\" -ge 3"
    )
}

/// What a human does at random; an agent that works, and its task, are named where that is needed.
fn verb(random: &mut Random, agent: &str, task: &str, other: &str) -> Vec<String> {
    let verbs: [&[&str]; 13] = [
        &["stop", agent],
        &["stop", agent, "--retry"],
        &["kill", agent],
        &["redirect", agent, other],
        &["redirect", agent, other, "--same-workspace", "--retry"],
        &["task", "block", task, "--reason", "wait"],
        &["pause"],
        &["pause", "--force"],
        &["resume"],
        &["task", "edit", task, "--title", "other"],
        &["mode", "review"],
        &["mode", "autopilot"],
        &["gate", "approve", "--all"],
    ];
    let chosen = verbs[usize::try_from(random.below(verbs.len() as u64)).unwrap()];
    chosen.iter().map(|word| (*word).to_owned()).collect()
}

/// Brings back what keeps everything from going on.
fn let_go_on(world: &World) {
    for verb in [&["resume"][..], &["mode", "autopilot"], &["gate", "approve", "--all"]] {
        drop(world.env.axiom(verb));
    }
    let listed = world.env.json(&["task", "list", "--status", "blocked"]);
    for task in listed["tasks"].as_array().unwrap() {
        drop(world.env.axiom(&["task", "unblock", task["id"].as_str().unwrap()]));
    }
}

/// One intervention, with the moments before and after it; `None` where nobody works.
fn intervene(world: &World, random: &mut Random, tasks: usize) -> Option<(Vec<String>, [jiff::Timestamp; 2], bool)> {
    let agents = world.agents();
    let busy: Vec<&serde_json::Value> = agents.iter().filter(|agent| agent["taskId"].is_string()).collect();
    if busy.is_empty() {
        let_go_on(world);
        return None;
    }
    let agent = busy[usize::try_from(random.below(busy.len() as u64)).unwrap()];
    let (name, task) = (agent["id"].as_str().unwrap(), agent["taskId"].as_str().unwrap());
    let other = format!("t-{}", random.below(tasks as u64));
    let words = verb(random, name, task, &other);
    let begun = jiff::Timestamp::now();
    let run = world.env.axiom(&words.iter().map(String::as_str).collect::<Vec<_>>());
    // Refused where the agent has just let go, where the other task is taken, or where the supervisor was killed meanwhile.
    assert!(matches!(run.code, Some(0..=5)) && !run.stderr.contains("INTERNAL"), "{words:?}\n{run}");
    Some((words, [begun, jiff::Timestamp::now()], run.code == Some(0)))
}

/// Each line that an agent told of is in the merged file, or else in a capture or the trash, from where a human gets it back.
fn nothing_is_lost(world: &World, note: &str) {
    let told = std::fs::read_to_string(world.beside("told")).unwrap();
    let holders = Holders::refs(&world.env).and_files(vec![world.env.repo().join(".worktrees")], None);
    let lost = holders.lost_lines(told.lines(), ".txt");
    assert!(lost.is_empty(), "{note}: of {} lines these are lost: {lost:?}", told.lines().count());
}

/// How long requests took, in milliseconds, while one supervisor lived; and how many waited for the next one.
#[derive(Default)]
struct Took {
    /// From a request about an agent whose program ran to the signal that it got.
    signals: Vec<i64>,
    /// From a request to its answer.
    answers: Vec<i64>,
    /// Requests that the supervisor's death came between.
    after_a_death: usize,
}

fn took(world: &World) -> Took {
    let events = world.env.json(&["events"])["events"].clone();
    let at = |event: &serde_json::Value| event["at"].as_str().unwrap().parse::<jiff::Timestamp>().unwrap().as_millisecond();
    let named = |wanted: &'static str| events.as_array().unwrap().iter().filter(move |event| event["event"] == wanted);
    let begun: Vec<i64> = named("sessionStarted").map(at).collect();
    let is_one_life = |from: i64, to: i64| !begun.iter().any(|begun| (from..=to).contains(begun));
    let answered: BTreeMap<&str, i64> = named("requestHandled")
        .filter(|event| event["data"]["done"] == true)
        .map(|event| (event["data"]["id"].as_str().unwrap(), at(event)))
        .collect();
    let mut found = Took::default();
    for event in named("requested") {
        let (asked, data) = (at(event), &event["data"]);
        let Some(answer) = answered.get(data["id"].as_str().unwrap()) else { continue };
        if !is_one_life(asked, *answer) {
            found.after_a_death += 1;
            continue;
        }
        found.answers.push(answer - asked);
        if answer - asked > 200 {
            let between = events.as_array().unwrap().iter().filter(|other| (asked..=*answer).contains(&at(other)));
            let names: Vec<String> = between.map(|other| format!("{} {}", at(other) - asked, other["event"])).collect();
            println!("{} ms for {}: {}", answer - asked, data["request"], names.join(", "));
        }
        // Another request may have come first, for the same program: then that one's signal is this one's too.
        found.signals.extend(agent_of(&data["request"]).and_then(|agent| signalled(world, &agent, asked)).map(|at| at - asked));
    }
    found
}

/// When the program of an agent that ran at a moment was asked to end, where it was.
fn signalled(world: &World, agent: &str, moment: i64) -> Option<i64> {
    let obeyed = std::fs::read_to_string(world.beside(&format!("obeyed-{agent}"))).unwrap_or_default();
    let millis = |nanos: &str| nanos.parse::<i64>().ok().map(|nanos| nanos / 1_000_000);
    let lives = obeyed.lines().filter_map(|line| line.split_once(':')).filter_map(|(from, to)| Some(millis(from)?..=millis(to)?));
    lives.filter(|life| life.contains(&moment)).map(|life| *life.end()).min()
}

/// The agent that a request is about, where it is one.
fn agent_of(request: &serde_json::Value) -> Option<String> {
    let (kind, fields) = request.as_object()?.iter().next()?;
    let one = match kind.as_str() {
        "stop" => fields["agents"].as_array().filter(|agents| agents.len() == 1).map(|agents| agents[0].clone()),
        "redirect" => Some(fields["agent"].clone()),
        _ => None,
    };
    Some(one?.as_str()?.to_owned())
}

fn in_words(mut took: Vec<i64>) -> String {
    took.sort_unstable();
    match (took.get(took.len() / 2), took.last()) {
        (Some(median), Some(most)) => {
            let in_time = took.iter().filter(|took| **took <= 200).count();
            format!("median {median} ms, most {most} ms, {in_time} of {} within 200 ms", took.len())
        }
        _ => "none".to_owned(),
    }
}

/// Adds tasks where fewer are left than agents could work on: there must be somebody to intervene with until the end.
fn add_where_few_are_left(world: &World, tasks: &mut Vec<String>, wanted: &Drive) {
    let counts = world.env.json(&["status"])["tasks"].clone();
    let left: u64 = ["pending", "active", "blocked"].iter().map(|status| counts[status].as_u64().unwrap()).sum();
    if usize::try_from(left).unwrap() >= wanted.agents {
        return;
    }
    for _ in 0..wanted.agents {
        let id = format!("t-{}", tasks.len());
        world.task(&id, &script(world, &id), &[]);
        tasks.push(id);
    }
}

fn drive(world: &World, random: &mut Random, (wanted, tasks): (&Drive, &mut Vec<String>), note: &str) {
    let agents = wanted.agents.to_string();
    let args = ["--agents", agents.as_str(), "--mode", "autopilot", "--max-iterations", "30"];
    let mut live = world.start(&args);
    let mut done: BTreeMap<String, usize> = BTreeMap::new();
    let (mut made, mut kills) = (0, 0);
    let mut at: Vec<(Vec<String>, [jiff::Timestamp; 2])> = Vec::new();
    while made < wanted.interventions {
        std::thread::sleep(Duration::from_millis(random.below(80)));
        assert_or_restart(world, &mut live, &args);
        add_where_few_are_left(world, tasks, wanted);
        if let Some((words, moments, is_done)) = intervene(world, random, tasks.len()) {
            made += 1;
            if is_done {
                *done
                    .entry(
                        words[..words.len().min(2)]
                            .iter()
                            .filter(|word| !word.starts_with("agent-"))
                            .cloned()
                            .collect::<Vec<_>>()
                            .join(" "),
                    )
                    .or_insert(0) += 1;
                at.push((words, moments));
            }
        }
        if made % 8 == 0 {
            let_go_on(world);
        }
        if kills < wanted.kills * made / wanted.interventions {
            kills += 1;
            strike(world, random, &mut live, &args);
        }
    }
    let_go_on(world);
    world.env.axiom(&["quit", "--yes"]);
    drop(live.wait());
    let Took { signals, answers, after_a_death } = took(world);
    println!("{note}: {made} interventions, {kills} kills; done: {done:?}");
    println!("from the request to the signal: {}; to its answer: {}", in_words(signals), in_words(answers));
    println!("{after_a_death} waited for the next supervisor");
    each_is_in_the_log(world, &at, note);
}

/// A supervisor that was killed while it was being started is started again.
fn assert_or_restart(world: &World, live: &mut Live, args: &[&str]) {
    if !live.runs() {
        *live = world.start(args);
    }
}

/// Each intervention that was done is a transaction of the user's, begun while the verb ran.
fn each_is_in_the_log(world: &World, done: &[(Vec<String>, [jiff::Timestamp; 2])], note: &str) {
    let log = world.env.json(&["log", "--all"]);
    let begun = |one: &serde_json::Value| one["at"].as_str().unwrap().parse::<jiff::Timestamp>().unwrap();
    let users: Vec<jiff::Timestamp> =
        log["operations"].as_array().unwrap().iter().filter(|one| one["by"] == "user").map(begun).collect();
    for (words, [from, to]) in done {
        // Times of events have milliseconds.
        let from = *from - jiff::SignedDuration::from_millis(1);
        // Nothing to do: it was so already, or nobody waited.
        let may_do_nothing = matches!(words[0].as_str(), "mode" | "gate" | "task");
        assert!(may_do_nothing || users.iter().any(|at| from <= *at && at <= to), "{note}: not in the log: {words:?} at {from}");
    }
}

#[test]
fn a_human_who_intervenes_at_random_is_obeyed_and_nothing_is_lost() {
    let asked = AskedCases::read();
    let (wanted, seed) = (Drive::of(&asked), asked.seed_or_clock("interventions"));
    let (mut random, note) = (Random::of(seed), format!("AXIOM_SEED={seed}"));
    let world = World::new();
    for name in ["pids", "told"] {
        std::fs::write(world.beside(name), "").unwrap();
    }
    let mut tasks: Vec<String> = (0..wanted.tasks).map(|number| format!("t-{number}")).collect();
    for task in &tasks {
        world.task(task, &script(&world, task), &[]);
    }
    drive(&world, &mut random, (&wanted, &mut tasks), &note);
    // Whatever was stopped or blocked goes on.
    for _ in 0..3 {
        let_go_on(&world);
        drop(world.autopilot(&["--retry", "--agents", &wanted.agents.to_string(), "--max-iterations", "30"]));
    }
    for task in &tasks {
        let shown = world.show(task);
        let is_told = matches!(shown["status"].as_str(), Some("failed" | "blocked")) && shown["reason"].is_string();
        assert!(shown["merged"].is_object() || is_told, "{note}: {shown}");
    }
    nothing_is_lost(&world, &note);
    world.no_process_is_left();
    world.all_is_well();
}
