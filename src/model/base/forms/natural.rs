//! The order in which people expect names that end in numbers: `t2` before `t10`.

use std::cmp::Ordering;

/// Compares piece by piece: digits by their number, all else by characters. Names that are equal by this rule are ordered by
/// their spelling, so the order is total.
pub fn compare(one: &str, other: &str) -> Ordering {
    let (mut left, mut right) = (one, other);
    loop {
        let (Some(first), Some(second)) = (left.chars().next(), right.chars().next()) else {
            return left.len().cmp(&right.len()).then_with(|| one.cmp(other));
        };
        if first.is_ascii_digit() && second.is_ascii_digit() {
            let (number, after) = digits(left);
            let (other_number, other_after) = digits(right);
            let order = number.len().cmp(&other_number.len()).then_with(|| number.cmp(other_number));
            if order != Ordering::Equal {
                return order;
            }
            (left, right) = (after, other_after);
        } else if first == second {
            (left, right) = (&left[first.len_utf8()..], &right[second.len_utf8()..]);
        } else {
            return first.cmp(&second);
        }
    }
}

/// The items, sorted in this order by `name`.
pub fn sorted<T>(items: impl IntoIterator<Item = T>, name: impl Fn(&T) -> &str) -> Vec<T> {
    let mut items: Vec<T> = items.into_iter().collect();
    items.sort_by(|one, other| compare(name(one), name(other)));
    items
}

/// The number at the beginning, without leading zeros, and the rest of the text.
fn digits(text: &str) -> (&str, &str) {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    (text[..end].trim_start_matches('0'), &text[end..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_count_as_numbers() {
        let mut names = ["t10", "t2", "task-010", "task-9", "a", "t", "t02", "t2b", "10", "9", "b-1-10", "b-1-9"];
        names.sort_by(|one, other| compare(one, other));
        assert_eq!(names, ["9", "10", "a", "b-1-9", "b-1-10", "t", "t02", "t2", "t2b", "t10", "task-9", "task-010"]);
    }

    #[test]
    fn the_order_is_total() {
        let names =
            ["", "0", "00", "1", "01", "a1", "a01", "a1b", "ä2", "ä10", "99999999999999999999999", "100000000000000000000000"];
        for one in names {
            for other in names {
                assert_eq!(compare(one, other), compare(other, one).reverse());
                assert_eq!(compare(one, other) == Ordering::Equal, one == other);
                for third in names.iter().filter(|third| compare(one, other).is_le() && compare(other, third).is_le()) {
                    assert!(compare(one, third).is_le(), "{one} {other} {third}");
                }
            }
        }
    }
}
