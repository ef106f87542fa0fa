//! Numbers with their words, such as `1 task` and `2 tasks`.

/// A number with its word: `1 task`, `2 tasks`. [`verb`] chooses the verb that goes with it.
pub fn count(number: impl TryInto<u64>, one: &str) -> String {
    count_of(number, one, &format!("{one}s"))
}

/// As [`count`], for words whose plural is not formed with `s`.
pub fn count_of(number: impl TryInto<u64>, one: &str, many: &str) -> String {
    let number: u64 = number.try_into().unwrap_or(u64::MAX);
    format!("{number} {}", if number == 1 { one } else { many })
}

/// The form of a verb that fits the number.
pub fn verb<'a>(number: usize, one: &'a str, many: &'a str) -> &'a str {
    if number == 1 { one } else { many }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_no_plural() {
        assert_eq!([count(0_u32, "task"), count(1_usize, "task"), count(2_u64, "task")], ["0 tasks", "1 task", "2 tasks"]);
        assert_eq!([count_of(1, "process", "processes"), count_of(2, "process", "processes")], ["1 process", "2 processes"]);
        assert_eq!([verb(1, "is", "are"), verb(0, "is", "are")], ["is", "are"]);
    }
}
