//! Splitting a shell text into simple commands and their words, roughly as a POSIX shell does.

/// The most commands of one text.
pub(super) const MOST: usize = 2000;

/// The simple commands of a text. Those in substitutions are commands of their own. A redirection into a file is the
/// command `>` or `>>` with the file.
pub(super) fn split(text: &str) -> Vec<Vec<String>> {
    let mut splitter = ShellSplitter { rest: text.chars().collect(), ..ShellSplitter::default() };
    splitter.run();
    splitter.done
}

#[derive(Default)]
struct ShellSplitter {
    rest: Vec<char>,
    at: usize,
    done: Vec<Vec<String>>,
    words: Vec<String>,
    word: Option<String>,
    /// Here-documents that begin at the next line: the word that ends each, and whether a shell reads it.
    documents: Vec<(String, bool)>,
}

impl ShellSplitter {
    fn peek(&self) -> Option<char> {
        self.rest.get(self.at).copied()
    }

    fn next(&mut self) -> Option<char> {
        let next = self.peek();
        self.at += usize::from(next.is_some());
        next
    }

    fn push(&mut self, c: char) {
        self.word.get_or_insert_default().push(c);
    }

    fn end_word(&mut self) {
        self.words.extend(self.word.take());
    }

    fn end_command(&mut self) {
        self.end_word();
        if !self.words.is_empty() {
            self.done.push(std::mem::take(&mut self.words));
        }
    }

    fn run(&mut self) {
        while self.done.len() < MOST
            && let Some(c) = self.next()
        {
            match c {
                '\\' => match self.next() {
                    Some('\n') | None => {}
                    Some(c) => self.push(c),
                },
                '\'' => self.quoted(),
                '"' => self.double_quoted(),
                '`' => self.backticks(),
                '$' if self.peek() == Some('(') => self.substitution(),
                '#' if self.word.is_none() => self.comment(),
                ' ' | '\t' | '\r' => self.end_word(),
                '\n' => {
                    self.end_command();
                    self.here_documents();
                }
                '>' => self.redirection(),
                '<' => self.input(),
                '&' if self.peek() == Some('>') => {}
                ';' | '|' | '&' | '(' | ')' => self.end_command(),
                c => self.push(c),
            }
        }
        self.end_command();
    }

    fn quoted(&mut self) {
        self.word.get_or_insert_default();
        while let Some(c) = self.next().filter(|c| *c != '\'') {
            self.push(c);
        }
    }

    fn double_quoted(&mut self) {
        self.word.get_or_insert_default();
        while let Some(c) = self.next().filter(|c| *c != '"') {
            match c {
                '\\' => match self.next() {
                    Some(c @ ('"' | '\\' | '$' | '`')) => self.push(c),
                    Some('\n') | None => {}
                    Some(c) => {
                        self.push('\\');
                        self.push(c);
                    }
                },
                '`' => self.backticks(),
                '$' if self.peek() == Some('(') => self.substitution(),
                c => self.push(c),
            }
        }
    }

    fn comment(&mut self) {
        while self.peek().is_some_and(|c| c != '\n') {
            self.at += 1;
        }
    }

    /// Up to the bracket that ends it; quotes in it may hold brackets.
    fn substitution(&mut self) {
        self.at += 1;
        let begin = self.at;
        let (mut depth, mut quote) = (1_usize, None);
        while let Some(c) = self.next() {
            match (c, quote) {
                ('\\', None | Some('"')) => drop(self.next()),
                ('\'' | '"', None) => quote = Some(c),
                (c, Some(open)) if c == open => quote = None,
                ('(', None) => depth += 1,
                (')', None) => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                break;
            }
        }
        let end = if depth == 0 { self.at - 1 } else { self.at };
        self.within(begin, end);
    }

    fn backticks(&mut self) {
        let begin = self.at;
        while self.peek().is_some_and(|c| c != '`') {
            self.at += 1;
        }
        let end = self.at;
        self.at = (self.at + 1).min(self.rest.len());
        self.within(begin, end);
    }

    /// What a substitution runs; what it prints is not known.
    fn within(&mut self, begin: usize, end: usize) {
        self.word.get_or_insert_default();
        // Each level is a part of the one around it, so the whole takes time for its depth: very deep texts are cut off.
        if self.rest.len() - begin < MOST * 50 && self.done.len() < MOST {
            let text: String = self.rest.get(begin..end).unwrap_or_default().iter().collect();
            if text.matches("$(").count() < 50 {
                self.done.extend(split(&text));
            }
        }
    }

    /// `>`, `>|`, `>>`, `>&`: the first two overwrite the file that follows.
    fn redirection(&mut self) {
        // A number before it is the descriptor.
        if self.word.as_ref().is_some_and(|word| word.chars().all(|c| c.is_ascii_digit())) {
            self.word = None;
        }
        self.end_word();
        let appends = self.peek() == Some('>');
        let copies = self.peek() == Some('&');
        self.at += usize::from(appends || copies || self.peek() == Some('|'));
        let target = self.plain_word();
        let is_device = target.starts_with("/dev/") || target.is_empty();
        if !copies && !is_device {
            let sign = if appends { ">>" } else { ">" };
            self.done.push(vec![sign.to_owned(), target]);
        }
    }

    fn input(&mut self) {
        self.end_word();
        if self.peek() != Some('<') {
            return;
        }
        self.at += 1;
        if self.peek() == Some('<') {
            // A here-string: its word is input.
            self.at += 1;
            drop(self.plain_word());
            return;
        }
        self.at += usize::from(self.peek() == Some('-'));
        let end = self.plain_word();
        let reads_commands = self.words.first().is_some_and(|word| super::table::is_shell(&super::table::name_of(word)));
        self.documents.push((end, reads_commands));
    }

    /// The next word, its quotes taken away.
    fn plain_word(&mut self) -> String {
        while self.peek().is_some_and(|c| c == ' ' || c == '\t') {
            self.at += 1;
        }
        let mut word = String::new();
        while let Some(c) = self.peek().filter(|c| !c.is_whitespace() && !";&|()<>".contains(*c)) {
            self.at += 1;
            if !matches!(c, '\'' | '"' | '\\') {
                word.push(c);
            }
        }
        word
    }

    fn here_documents(&mut self) {
        for (end, reads_commands) in std::mem::take(&mut self.documents) {
            let mut body = String::new();
            while self.at < self.rest.len() {
                let from = self.at;
                let line_end = self.rest[from..].iter().position(|c| *c == '\n').map_or(self.rest.len(), |n| from + n);
                let line: String = self.rest[from..line_end].iter().collect();
                self.at = (line_end + 1).min(self.rest.len());
                if line.trim() == end {
                    break;
                }
                body.push_str(&line);
                body.push('\n');
            }
            if reads_commands {
                self.done.extend(split(&body));
            }
        }
    }
}
