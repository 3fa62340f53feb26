//! Which physical pages programs get (`lab/mm/pages.c`, compiled for the host): one after the other, or as a layout draws them.

use crate::build::OnHost;
use std::collections::BTreeSet;

/// The pages of the driver's memory: 4 MiB, from 4 MiB on.
const MEMORY: std::ops::Range<u64> = 1024..2048;

/// Of a program, of the next one, for good; and how many are left. A new layout has all again but the kernel's.
fn taken(pages: &OnHost, layout: u64, count: u64) -> ([Vec<u64>; 3], u64) {
    let text = pages.run(&format!("{layout} {count}"), &[]);
    let mut lines =
        text.lines().map(|line| line.split_whitespace().map(|page| page.parse().unwrap()).collect());
    let lists = [0; 3].map(|_| lines.next().unwrap());
    let left: Vec<u64> = lines.next().unwrap();
    assert_eq!(lines.next().unwrap(), [MEMORY.end - MEMORY.start - 1]);
    (lists, left[0])
}

fn pages() -> OnHost {
    OnHost::new("pages.c", &["user/random.c"])
}

#[test]
fn without_a_layout_pages_come_one_after_the_other() {
    let ([first, second, for_good], left) = taken(&pages(), 0, 100);
    // One is the kernel's.
    assert_eq!(first, (MEMORY.start + 1..MEMORY.start + 101).collect::<Vec<_>>());
    assert_eq!(second, first);
    assert_eq!(for_good, (MEMORY.end - 100..MEMORY.end).rev().collect::<Vec<_>>());
    assert_eq!(left, 1024 - 1 - 100 - 100);
}

#[test]
fn a_layout_draws_the_colours_of_pages_and_every_program_gets_the_same() {
    let pages = pages();
    let mut seen = BTreeSet::new();
    let (mut colours, mut distances) = ([(); 2].map(|()| BTreeSet::new()), BTreeSet::new());
    for layout in (1..40).chain([u64::MAX]) {
        let (lists, _) = taken(&pages, layout, 100);
        assert_eq!(lists[0], lists[1], "{layout}");
        assert_eq!(lists[0].len() + lists[2].len(), 200);
        assert_eq!(taken(&pages, layout, 100).0, lists, "{layout}");
        for (list, colours) in [&lists[0], &lists[2]].into_iter().zip(&mut colours) {
            assert_eq!(list.iter().collect::<BTreeSet<_>>().len(), list.len(), "{layout}");
            assert!(list.iter().all(|page| MEMORY.contains(page)));
            colours.insert(list[50] % 16);
        }
        assert!(lists[0].is_sorted() && lists[0].last() < lists[2].last());
        distances.insert((lists[0][99] - lists[0][0]) % 16);
        seen.insert(lists);
    }
    assert_eq!(seen.len(), 40);
    assert!(
        colours.iter().chain([&distances]).all(|colours| colours.len() > 10),
        "{colours:?} {distances:?}"
    );
}

#[test]
fn memory_ends_without_a_page_that_is_given_twice() {
    let pages = pages();
    for layout in [0, 1, 2, 3, 77] {
        let ([first, second, for_good], left) = taken(&pages, layout, 10_000);
        assert_eq!(first, second);
        assert!(first.len() > 350 && first.iter().all(|page| MEMORY.contains(page)), "{layout}");
        assert_eq!((for_good.len(), left), (0, 0), "{layout}");
    }
}
