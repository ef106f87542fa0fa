//! What each of the recordings says, line by line, and in sum.

use super::recordings_tests::check;

#[test]
fn claude() {
    check(
        "claude.jsonl",
        r#"
session 7d40903e
request
response 000158
text "ok"
usage (1000) (1) (0) $-
begins Write (Write) 000158 {"content":"hello\n","file_path":"a.txt"}
ended Write 000158 "File created successfully at: a.txt (file state is current in your context — no need to Read it back)"
request
response 000159
text "ok"
usage (2100) (2) (0) $-
begins Bash (Shell) 000159 {"command":"echo out; exit 3","description":"scripted","timeout":600000}
ended Bash 000159 failed "Exit code 3\nout"
request
response 000160
text "all done"
usage (3300) (3) (0) $-
usage (3300) (150) (0) $(0.0162)
final success ("all done")
= (3300) (150) (0) $(0.0162), 3 texts, 2 calls, 3 requests, 0 refused, 0 open, success
"#,
    );
    check(
        "claude-denied.jsonl",
        r#"
session 0f012e91
request
response 000165
text "ok"
usage (1000) (1) (0) $-
begins Bash (Shell) 000165 {"command":"git push origin main","description":"scripted","timeout":600000}
denied Bash 000165 "git push origin main": "This command requires approval"
ended Bash 000165 failed "This command requires approval"
request
response 000166
text "could not"
usage (2100) (2) (0) $-
usage (2100) (100) (0) $(0.0104)
final success ("could not")
= (2100) (100) (0) $(0.0104), 2 texts, 1 calls, 2 requests, 1 refused, 0 open, success
"#,
    );
    check(
        "claude-error.jsonl",
        r#"
session 1c7bba72
request
waits SignIn (401) for (1): authentication_faile
response d2e477
text "Failed to authenticate. API Error: 401 scripted error"
usage (0) (0) (0) $-
usage (0) (0) (0) $(0.0)
final failure ("Failed to authenticate. API Error: 401 scripted error")
error SignIn (401) Failed to authenticate. API Error: 401 scripted error
= (0) (0) (0) $(0.0), 1 texts, 0 calls, 1 requests, 0 refused, 0 open, failure, SignIn
"#,
    );
}

#[test]
fn codex() {
    check(
        "codex.jsonl",
        r#"
session 01a2025d
request
response
text "ok"
begins file_change (Edit) item_1 [{"kind":"add","path":"/repo/p9.txt"}]
ended file_change item_1 ""
request
response
text "ok"
begins command_execution (Shell) item_3 "/bin/bash -c 'echo out; exit 3'"
ended command_execution item_3 failed exit 3 "out\n"
request
response
text "all done"
usage (3300) (150) (0) $-
final success -
= (3300) (150) (0) $-, 3 texts, 2 calls, 3 requests, 0 refused, 0 open, success
"#,
    );
    check(
        "codex-denied.jsonl",
        r#"
session 01a20246
request
response
text "ok"
text "could not"
usage (2100) (100) (0) $-
final success -
= (2100) (100) (0) $-, 2 texts, 0 calls, 1 requests, 0 refused, 0 open, success
"#,
    );
    check(
        "codex-error.jsonl",
        r#"
session 01a20246
request
waits SignIn (401) for -: Reconnecting... 1/2 
waits SignIn (401) for -: Reconnecting... 2/2 
final failure -
error SignIn (401) unexpected status 401 Unauthorized: scripted error, url: http://127.0.0.1:18181/v1/responses
= - - - $-, 0 texts, 0 calls, 1 requests, 0 refused, 0 open, failure, SignIn
"#,
    );
}

#[test]
fn gemini() {
    check(
        "gemini.jsonl",
        r#"
session 22ac2b10
request
response
text "ok"
begins write_file (Write) 6477_0 {"content":"hello\n","file_path":"a3.txt"}
ended write_file 6477_0 ""
request
response
text "ok"
begins run_shell_command (Shell) 6887_0 {"command":"echo out; exit 3","description":"scripted"}
ended run_shell_command 6887_0 "out"
request
response
text "all done"
usage (3300) (150) (0) $-
final success -
= (3300) (150) (0) $-, 3 texts, 2 calls, 3 requests, 0 refused, 0 open, success
"#,
    );
    check(
        "gemini-denied.jsonl",
        r#"
session eb7083a2
request
response
text "scripted title"
usage (1000) (50) (0) $-
final success -
= (1000) (50) (0) $-, 1 texts, 0 calls, 1 requests, 0 refused, 0 open, success
"#,
    );
    check(
        "gemini-error.jsonl",
        r#"
session 0ebd9d29
request
usage (0) (0) (0) $-
final failure -
error SignIn (401) [API Error: scripted error (401)]
= (0) (0) (0) $-, 0 texts, 0 calls, 1 requests, 0 refused, 0 open, failure, SignIn
"#,
    );
}

#[test]
fn opencode() {
    check(
        "opencode.jsonl",
        r#"
session ses_dfdb
request
response Xt8x8q
text "ok"
begins write (Write) 000209 {"content":"hello\n","filePath":"a4.txt"}
ended write 000209 "Wrote file successfully."
request
usage (1000) (50) (0) $(0.00375)
response 69mOLC
text "ok"
begins bash (Shell) 000210 {"command":"echo out; exit 3","timeout":600000}
ended bash 000210 failed exit 3 "out\n"
request
usage (1100) (50) (0) $(0.00405)
response ijaGos
text "all done"
usage (1200) (50) (0) $(0.00435)
final success -
= (3300) (150) (0) $(0.01215), 3 texts, 2 calls, 3 requests, 0 refused, 0 open, success
"#,
    );
    check(
        "opencode-denied.jsonl",
        r#"
session ses_dfdb
request
response umlZPM
text "ok"
begins bash (Shell) 000217 {"command":"echo x > //ext.txt; cat /etc/hostname","timeout":600000}
denied bash 000217 "echo x > //ext.txt; cat /etc/hostname": "The user rejected permission to use this specific tool call."
ended bash 000217 failed "The user rejected permission to use this specific tool call."
request
usage (1000) (50) (0) $(0.00375)
= (1000) (50) (0) $(0.00375), 1 texts, 1 calls, 2 requests, 1 refused, 0 open, no end
"#,
    );
    check(
        "opencode-error.jsonl",
        r#"
session ses_dfdb
request
error Other (400) scripted error
= - - - $-, 0 texts, 0 calls, 1 requests, 0 refused, 0 open, no end, Other
"#,
    );
}

#[test]
fn pi() {
    check(
        "pi.jsonl",
        r#"
session 01a2024d
request
response pl-220
text "ok"
usage (1000) (50) (0) $(0.00375)
begins write (Write) 000220 {"content":"hello\n","path":"a5.txt"}
ended write 000220 "Successfully wrote 6 bytes to a5.txt"
request
response pl-221
text "ok"
usage (1100) (50) (0) $(0.00405)
begins bash (Shell) 000221 {"command":"echo out; exit 3","timeout":600000}
ended bash 000221 failed "out\n\n\nCommand exited with code 3"
request
response pl-222
text "all done"
usage (1200) (50) (0) $(0.00435)
final success -
= (3300) (150) (0) $(0.01215), 3 texts, 2 calls, 3 requests, 0 refused, 0 open, success
"#,
    );
    check(
        "pi-error.jsonl",
        r#"
session 01a2024d
request
usage (0) (0) (0) $(0.0)
final failure -
error SignIn (401) 401 scripted error
= (0) (0) (0) $(0.0), 0 texts, 0 calls, 1 requests, 0 refused, 0 open, failure, SignIn
"#,
    );
}

#[test]
fn aider() {
    check(
        "aider.txt",
        r#"
text "Detected dumb terminal, disabling fancy input and pretty output."
text ""
text "Aider v0.86.2"
text "Model: openai/fake-model with diff edit format"
text "Git repo: ../../.git/worktrees/agent-001-task-001 with 3 files"
text "Repo-map: disabled"
text ""
text "g.txt"
text "```"
text "<<<<<<< SEARCH"
text "======="
text "g"
text ">>>>>>> REPLACE"
text "```"
text ""
text "all written"
text ""
text "<axiom 3237f5a77d48e5cca29d2a5c5e08fa9f>COMPLETE</axiom>"
text ""
final success -
text "Tokens: 1.0k sent, 50 received."
text ""
text "g.txt"
text "Applied edit to g.txt"
= - - - $-, 23 texts, 0 calls, 0 requests, 0 refused, 0 open, success
"#,
    );
}
