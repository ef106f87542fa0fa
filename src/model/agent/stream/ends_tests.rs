//! What recordings say of runs that were limited, refused or not signed in.

use super::recordings_tests::check;

/// The limit of the second one passed: its waits are told, and its end is a success.
#[test]
fn limits() {
    check(
        "codex-limited.jsonl",
        r#"
session 01a20d84
request
final failure -
error RateLimit (429) exceeded retry limit, last status: 429 Too Many Requests
= - - - $-, 0 texts, 0 calls, 1 requests, 0 refused, 0 open, failure, RateLimit
"#,
    );
    check(
        "pi-limited.jsonl",
        r#"
session 01a20d84
request
usage (0) (0) (0) $(0.0)
final failure -
error RateLimit (429) 429 scripted error
waits RateLimit (429) for (2): 429 scripted error
usage (0) (0) (0) $(0.0)
final failure -
error RateLimit (429) 429 scripted error
waits RateLimit (429) for (4): 429 scripted error
response mpl-19
text "ok"
usage (1000) (50) (0) $(0.00375)
begins write (Write) 000019 {"content":"hello\n","path":"a.txt"}
ended write 000019 "Successfully wrote 6 bytes to a.txt"
request
response mpl-20
text "ok"
usage (1100) (50) (0) $(0.00405)
begins bash (Shell) 000020 {"command":"git axiom signal complete","timeout":600000}
ended bash 000020 "(no output)"
request
response mpl-21
text "done"
usage (1200) (50) (0) $(0.00435)
final success -
= (3300) (150) (0) $(0.01215), 3 texts, 2 calls, 3 requests, 0 refused, 0 open, success
"#,
    );
}

#[test]
fn refusals_of_codex() {
    check(
        "codex-sandbox.jsonl",
        r#"
session 01a20d87
request
response
text "ok"
begins command_execution (Shell) item_2 "/bin/bash -c 'sleep 2; echo x > /etc/lab-denied'"
denied command_execution item_2 "/bin/bash -c 'sleep 2; echo x > /etc/lab-denied'": "/bin/bash: line 1: /etc/lab-denied: Read-only file system"
ended command_execution item_2 failed exit 1 "/bin/bash: line 1: /etc/lab-denied: Read-only file system\n"
request
response
text "ok"
begins command_execution (Shell) item_4 "/bin/bash -c 'sleep 2; git commit --allow-empty -m x; echo y > /etc/foo'"
denied command_execution item_4 "/bin/bash -c 'sleep 2; git commit --allow-empty -m x; echo y > /etc/foo'": "/bin/bash: line 1: /etc/foo: Read-only file system"
ended command_execution item_4 failed exit 1 "fatal: Unable to create '/repo/.git/index.lock': Read-only file system\n/bin/bash: line 1: /etc/foo: Read-only file system\n"
request
response
text "could not"
usage (3300) (150) (0) $-
final success -
= (3300) (150) (0) $-, 3 texts, 2 calls, 3 requests, 2 refused, 0 open, success
"#,
    );
    check(
        "codex-rejected.stderr",
        r#"
denied  - "`/bin/bash -c 'rm -rf /tmp/lab-x'` rejected: rm -f style commands are not permitted. Use a safer approach"
text "2026-11-24T12:33:22.072079Z ERROR codex_core::tools::router: error=exec_command failed: CreateProcess { message: \"Rejected(\\\"`/bin/bash -c 'rm -rf /tmp/lab-x'` rejected: rm -f style commands are not permitted. Use a safer approach\\\")\" }"
= - - - $-, 1 texts, 0 calls, 0 requests, 1 refused, 0 open, no end
"#,
    );
}

#[test]
fn tries_that_standard_error_tells_and_their_end() {
    check(
        "gemini-limited.jsonl",
        r#"
session ff5ba3b9
request
response
text "ok"
begins write_file (Write) 000001 {"content":"b\n","file_path":"b.txt"}
ended write_file 000001 ""
request
usage (1000) (50) (0) $-
final failure -
error RateLimit - [API Error: scripted error]
Please wait and try again later. To increase your limits, request a quota increase through AI Studio, or switch to another /auth method
= (1000) (50) (0) $-, 1 texts, 1 calls, 2 requests, 0 refused, 0 open, failure, RateLimit
"#,
    );
    check(
        "gemini-limited.stderr",
        r#"
text "YOLO mode is enabled. All tool calls will be automatically approved."
waits RateLimit (429) for -: Attempt 1 failed wit
text "Attempt 1 failed with status 429. Retrying with backoff... _ApiError: {\"type\":\"error\",\"error\":{\"type\":\"rate_limit_error\",\"message\":\"scripted error\",\"code\":429,\"status\":\"UNAVAILABLE\"}}"
text "    at throwErrorIfNotOK (file:///usr/lib/node_modules/@google/gemini-cli/bundle/chunk-JDPZ4CE3.js:267833:24)"
text "    at async retryWithBackoff (file:///usr/lib/node_modules/@google/gemini-cli/bundle/chunk-JDPZ4CE3.js:308039:23) {"
text "  status: 429"
text "}"
= - - - $-, 6 texts, 0 calls, 0 requests, 0 refused, 0 open, no end
"#,
    );
}

#[test]
fn missing_keys() {
    check(
        "gemini-sign-in.stderr",
        r#"
text "YOLO mode is enabled. All tool calls will be automatically approved."
error SignIn - Please set an Auth method in your /home/agent/.gemini/settings.json or specify one of the following environment variables before running: GEMINI_API_KEY, GOOGLE_GENAI_USE_VERTEXAI, GOOGLE_GENAI_USE_GCA
text "Please set an Auth method in your /home/agent/.gemini/settings.json or specify one of the following environment variables before running: GEMINI_API_KEY, GOOGLE_GENAI_USE_VERTEXAI, GOOGLE_GENAI_USE_GCA"
error SignIn - When using Gemini API, you must specify the GEMINI_API_KEY environment variable.
text "When using Gemini API, you must specify the GEMINI_API_KEY environment variable."
text "Update your environment and try again (no reload needed if using .env)!"
= - - - $-, 4 texts, 0 calls, 0 requests, 0 refused, 0 open, no end, SignIn
"#,
    );
    check(
        "pi-sign-in.stderr",
        r#"
error SignIn - No API key found for the selected model.
text "No API key found for the selected model."
text ""
text "Use /login to log into a provider via OAuth or API key. See:"
text "  /usr/lib/node_modules/@mariozechner/pi-coding-agent/docs/providers.md"
text "  /usr/lib/node_modules/@mariozechner/pi-coding-agent/docs/models.md"
= - - - $-, 5 texts, 0 calls, 0 requests, 0 refused, 0 open, no end, SignIn
"#,
    );
    check(
        "aider-error.txt",
        r#"
text "Detected dumb terminal, disabling fancy input and pretty output."
text ""
text "Update git name with: git config user.name \"Your Name\""
text "Update git email with: git config user.email \"you@example.com\""
text "Aider v0.86.2"
text "Model: openai/fake-model with diff edit format"
text "Git repo: ../../.git/worktrees/agent-001-t with 1 files"
text "Repo-map: disabled"
text ""
error SignIn - litellm.AuthenticationError: AuthenticationError: OpenAIException - scripted 
text "litellm.AuthenticationError: AuthenticationError: OpenAIException - scripted "
text "error"
text "The API provider is not able to authenticate you. Check your API key."
= - - - $-, 12 texts, 0 calls, 0 requests, 0 refused, 0 open, no end, SignIn
"#,
    );
}
