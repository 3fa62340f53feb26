//! Which physical pages programs get (`lab/mm/pages.c`, compiled for the host): one after the other, or as a layout draws them.

use crate::build::OnHost;
use std::collections::{BTreeMap, BTreeSet};

/// The pages of the driver's memory: 32 MiB, from 32 MiB on. The cache has the first of them.
const MEMORY: std::ops::Range<u64> = 8192..16384;
const PLACES: u64 = 1024;
const PROGRAMS: u64 = MEMORY.start + PLACES + 1;

/// Of a program, of the next one, of the cache; and how many are left. A new layout has all again but the kernel's.
fn taken(pages: &OnHost, layout: u64, count: u64) -> ([Vec<u64>; 3], u64) {
    let text = pages.run(&format!("{layout} {count}"), &[]);
    let mut lines = text.lines().map(numbers);
    let lists = [0; 3].map(|_| lines.next().unwrap());
    let left: Vec<u64> = lines.next().unwrap();
    assert_eq!(lines.next().unwrap(), [MEMORY.end - PROGRAMS]);
    (lists, left[0])
}

fn numbers(line: &str) -> Vec<u64> {
    line.split_whitespace().map(|page| page.parse().unwrap()).collect()
}

fn pages() -> OnHost {
    OnHost::new("pages.c", &["user/random.c"])
}

#[test]
fn without_a_layout_pages_come_one_after_the_other() {
    let ([first, second, cached], left) = taken(&pages(), 0, 100);
    // One is the kernel's.
    assert_eq!(first, (PROGRAMS..PROGRAMS + 100).collect::<Vec<_>>());
    assert_eq!(second, first);
    assert_eq!(cached, (MEMORY.start..MEMORY.start + PLACES).collect::<Vec<_>>());
    assert_eq!(left, MEMORY.end - PROGRAMS - 100);
}

#[test]
fn a_layout_draws_the_colours_of_pages_and_every_program_gets_the_same() {
    let pages = pages();
    let mut seen = BTreeSet::new();
    let (mut colours, mut distances) = ([(); 2].map(|()| BTreeSet::new()), [(); 2].map(|()| BTreeSet::new()));
    for layout in (1..40).chain([u64::MAX]) {
        let (lists, _) = taken(&pages, layout, 100);
        assert_eq!(lists[0], lists[1], "{layout}");
        assert_eq!(taken(&pages, layout, 100).0, lists, "{layout}");
        for (at, list) in [&lists[0], &lists[2]].into_iter().enumerate() {
            assert_eq!(list.iter().collect::<BTreeSet<_>>().len(), list.len(), "{layout}");
            colours[at].insert(list[50] % 16);
            distances[at].insert(list[99].abs_diff(list[0]) % 16);
        }
        assert!(lists[0].iter().all(|page| (PROGRAMS..MEMORY.end).contains(page)));
        assert!(lists[2].iter().all(|page| (MEMORY.start..MEMORY.start + PLACES).contains(page)));
        assert!(lists[0].is_sorted());
        seen.insert(lists);
    }
    assert_eq!(seen.len(), 40);
    assert!(colours.iter().chain(&distances).all(|colours| colours.len() > 10), "{colours:?} {distances:?}");
}

#[test]
fn a_files_pages_are_where_the_layout_says_whatever_was_read_before() {
    let pages = pages();
    let cached = |layout: u64, order: &[u64]| {
        let order_words: Vec<String> = order.iter().map(u64::to_string).collect();
        let text = pages.run(&format!("{layout} 1 {}", order_words.join(" ")), &[]);
        let physical = numbers(text.lines().last().unwrap());
        assert_eq!(physical.len(), order.len());
        order.iter().copied().zip(physical).collect::<BTreeMap<u64, u64>>()
    };
    let (forwards, mut backwards): (Vec<u64>, Vec<u64>) = ((0..100).collect(), (0..100).rev().collect());
    backwards.swap(3, 77);
    let mut seen = BTreeSet::new();
    for layout in [0, 1, 2, 3, u64::MAX] {
        let found = cached(layout, &forwards);
        assert_eq!(found, cached(layout, &backwards), "{layout}");
        assert_eq!(found[&41], cached(layout, &[41])[&41], "{layout}: the others were never read");
        assert_eq!(found.values().collect::<BTreeSet<_>>().len(), 100, "{layout}: a page each");
        seen.insert(found);
    }
    assert_eq!(seen.len(), 5, "each layout has its own");
}

#[test]
fn memory_ends_without_a_page_that_is_given_twice() {
    let pages = pages();
    for layout in [0, 1, 2, 3, 77] {
        let ([first, second, _], left) = taken(&pages, layout, 10_000);
        assert_eq!(first, second);
        assert!(first.len() > 2500 && first.iter().all(|page| MEMORY.contains(page)), "{layout}");
        assert_eq!(left, 0, "{layout}");
    }
}
