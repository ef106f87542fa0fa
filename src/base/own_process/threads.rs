//! Doing the same for many things in several threads.

use std::sync::OnceLock;

/// How many threads this machine runs at once. Asking the system for it takes a dozen calls.
pub fn at_once() -> usize {
    static COUNT: OnceLock<usize> = OnceLock::new();
    *COUNT.get_or_init(|| std::thread::available_parallelism().map_or(1, usize::from))
}

/// Calls `work` for parts of `items`, side by side where there are more than `few`; the results are in the order of the items. A
/// part is worked on twice where its thread panicked, so this is for looking. `work` gets the number of its first item, too.
pub fn in_parts<'i, T: Sync, R: Send>(items: &'i [T], few: usize, work: impl Fn(usize, &'i [T]) -> Vec<R> + Sync) -> Vec<R> {
    if items.len() <= few {
        return work(0, items);
    }
    let part = items.len().div_ceil(at_once()).max(few).max(1);
    let work = &work;
    std::thread::scope(|scope| {
        let parts = || (0..).step_by(part).zip(items.chunks(part));
        let begin = |(first, part)| (first, part, std::thread::Builder::new().spawn_scoped(scope, move || work(first, part)));
        let begun: Vec<_> = parts().skip(1).map(begin).collect();
        let mut all = parts().next().map_or_else(Vec::new, |(first, part)| work(first, part));
        for (first, part, thread) in begun {
            // If a thread could not be started, or panicked, its part is done here.
            all.extend(thread.ok().and_then(|thread| thread.join().ok()).unwrap_or_else(|| work(first, part)));
        }
        all
    })
}

/// As [`in_parts`], for each item; all results, or the first error.
pub fn for_each<'i, T: Sync, R: Send, E: Send>(
    items: &'i [T],
    few: usize,
    work: impl Fn(&'i T) -> Result<R, E> + Sync,
) -> Result<Vec<R>, E> {
    in_parts(items, few, |_, part| part.iter().map(&work).collect()).into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_in_the_order_of_the_items_however_many_there_are() {
        for many in [0, 1, 7, 64, 65, 1000] {
            let items: Vec<usize> = (0..many).collect();
            let doubled: Result<Vec<usize>, ()> = for_each(&items, 3, |item| Ok(item * 2));
            assert_eq!(doubled, Ok((0..many).map(|item| item * 2).collect()), "{many}");
        }
        let failed: Result<Vec<()>, usize> = for_each(&[1, 2, 3, 4], 1, |item| if *item > 2 { Err(*item) } else { Ok(()) });
        assert_eq!(failed, Err(3));
    }
}
