#!/usr/bin/env python3
"""Records what README shows, with the real programs: record.py FOLDER VERSION-OF-CLAUDE, which record.sh calls.

A person is played at a terminal of 80 by 24, in a scratch repository: in Claude Code, whose model is played too, an agent
deletes files by a shell command, and `/rewind` offers nothing; then git axiom takes it back. Two asciicasts (version 2) are
written into FOLDER: rewind.cast, the rival's half, and rollback.cast, ours, which the test `pictures` compares with the
program. Waiting for a program is cut short, nothing else.
"""
import fcntl, json, os, pty, re, select, struct, sys, termios, threading, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

COLUMNS, ROWS = 80, 24
# What the model says to a prompt, step by step: a tool and its input, or words.
STEPS = {
    "Add a price list": [("Write", {"file_path": "prices.txt", "content": "apple 2\npear 3\n"}), "Added prices.txt."],
    "Tidy up": [("Bash", {"command": "rm -rf notes src", "description": "Remove clutter"}), "All tidy."],
}


class Model(BaseHTTPRequestHandler):
    """Anthropic's messages, as far as Claude Code asks for them here."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_GET(self):
        self.answer("application/json", b"{}")

    do_HEAD = do_GET

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers.get("content-length") or 0)) or b"{}")
        if not self.path.split("?")[0].endswith("/messages"):
            return self.answer("application/json", b'{"input_tokens": 1}')
        step = next_step(asked) if asked.get("tools") else "A shop"
        call = not isinstance(step, str)
        number, usage = time.time_ns(), {"input_tokens": 1000, "output_tokens": 20}
        message = {"id": f"msg_{number}", "type": "message", "role": "assistant", "model": asked.get("model"), "usage": usage}
        if call:
            block = {"type": "tool_use", "id": f"toolu_{number}", "name": step[0], "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(step[1])}
        else:
            block, delta = {"type": "text", "text": ""}, {"type": "text_delta", "text": step}
        stop = {"stop_reason": "tool_use" if call else "end_turn", "stop_sequence": None}
        if not asked.get("stream"):
            whole = dict(block, input=step[1]) if call else dict(block, text=step)
            return self.answer("application/json", json.dumps(dict(message, content=[whole], **stop)).encode())
        events = [
            {"type": "message_start", "message": dict(message, content=[], stop_reason=None, stop_sequence=None)},
            {"type": "content_block_start", "index": 0, "content_block": block},
            {"type": "content_block_delta", "index": 0, "delta": delta},
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": stop, "usage": usage},
            {"type": "message_stop"},
        ]
        self.answer("text/event-stream", "".join(f"event: {e['type']}\ndata: {json.dumps(e)}\n\n" for e in events).encode())

    def answer(self, kind, body):
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body if self.command != "HEAD" else b"")


def next_step(asked):
    """The step after those whose results came back since the newest prompt that is known."""
    steps, done = [], 0
    for message in asked["messages"]:
        content = message["content"]
        parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
        for part in parts if message["role"] == "user" else []:
            done += part["type"] == "tool_result"
            known = [prompt for prompt in STEPS if part["type"] == "text" and part["text"].strip() == prompt]
            if known:
                steps, done = STEPS[known[0]], 0
    return steps[done] if done < len(steps) else "Done."


class Terminal:
    """A shell in a terminal of its own, and what it printed, by a clock that leaves waiting out and begins with `record`."""

    def __init__(self):
        self.events, self.clock, self.seen, self.began = [], 0.0, "", False
        pid, self.fd = pty.fork()
        if pid == 0:
            os.environ["PS1"] = "$ "
            os.execvp("bash", ["bash", "--norc", "--noprofile", "-i"])
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        self.wait_for("[$] ")

    def read(self, seconds):
        if not select.select([self.fd], [], [], seconds)[0]:
            return False
        text = os.read(self.fd, 65536).decode(errors="replace")
        self.seen += text
        self.events.append([round(self.clock, 3), "o", text])
        return True

    def passes(self, seconds):
        self.clock += seconds if self.began else 0

    def rest(self):
        while self.read(0.5):
            pass

    def wait_for(self, pattern, pause=0.0):
        """Until this was printed since the last keys, and nothing more comes; then time to read. Of the wait 0.4 s are kept."""
        given_up = time.time() + 60
        while not re.search(pattern, re.sub(r"\x1b\[[0-9;?<>=]*[a-zA-Z]", " ", self.seen)):
            if time.time() > given_up:
                sys.exit(f"never seen: {pattern}\n{self.seen}")
            self.read(0.2)
        self.passes(0.4)
        self.rest()
        self.passes(pause)

    def press(self, key, pattern, pause):
        self.seen = ""
        os.write(self.fd, key.encode())
        self.wait_for(pattern, pause)

    def enter(self, text, pattern, pause):
        """Typed, and the return key."""
        for key in text:
            os.write(self.fd, key.encode())
            while self.read(0.05):
                pass
            self.passes(0.035)
        self.rest()
        self.passes(0.3)
        self.press("\r", pattern, pause)

    def cast(self, title):
        head = {"version": 2, "width": COLUMNS, "height": ROWS, "title": title, "duration": round(self.clock, 2)}
        return [head, *self.events]


def rewind():
    """The rival's half, from its second prompt on."""
    terminal = Terminal()
    terminal.enter('claude --verbose --permission-mode acceptEdits --allowedTools Bash Write', "accept edits on", 0)
    terminal.enter("Add a price list", "done [0-9]", 0)
    terminal.began = True
    terminal.passes(0.8)
    terminal.enter("Tidy up", "done [0-9]", 0.9)
    terminal.enter("/rewind", "Tidy up", 0.9)
    terminal.press("\x1b[A", "Tidy up", 0.3)
    terminal.press("\r", "The code will be unchanged", 2.0)
    return terminal


def rollback():
    """Ours, in the same folder."""
    terminal = Terminal()
    terminal.began = True
    terminal.enter("ls", "README.md", 0.4)
    terminal.enter("git axiom rollback --prompt 2", r"\[y", 1.6)
    terminal.enter("y", "git axiom undo", 1.0)
    terminal.enter("ls", "src", 0.7)
    terminal.enter("git axiom undo", r"\[y", 0.7)
    terminal.enter("y", "To take the undo back", 2.0)
    return terminal


def write(path, cast):
    path.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in cast))


def main():
    folder, version = Path(sys.argv[1]), sys.argv[2]
    model = ThreadingHTTPServer(("127.0.0.1", int(os.environ["MODEL_PORT"])), Model)
    threading.Thread(target=model.serve_forever, daemon=True).start()
    theirs = rewind().cast(f"Claude Code {version}, recorded {time.strftime('%Y-%m-%d')}")
    ours = rollback().cast("git axiom")
    write(folder / "rewind.cast", theirs)
    write(folder / "rollback.cast", ours)
    # The picture: one after the other, on an empty screen.
    begin = theirs[0]["duration"]
    moved = [[round(begin + at, 3), kind, text] for at, kind, text in ours[1:]]
    cleared, end = [begin, "o", "\x1b[?1049l\x1b[0m\x1b[2J\x1b[H"], [begin + ours[0]["duration"], "o", ""]
    write(folder / "both.cast", [*theirs, cleared, *moved, end])


main()
