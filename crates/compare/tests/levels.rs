//! Comparisons where a CPU's state moves over time: levels of 2 % that hold for 0.3 to 2 s, on each CPU by itself, and shifts of 3 %
//! that hold for minutes. The intervals of runs tell of levels what a run can see of them. Stores are empty.
#![allow(clippy::unwrap_used)] // a failing unwrap is a failing test

mod world;

use world::state::State;
use world::{
    Moves, Order, SEEN, World, at_most, between, count, fewer, nothing_changed, system_calls_cost,
    tells_a_change, the_system_call,
};

/// Runs of so many seconds, with levels that hold so long.
const fn moves(seconds: f64, hold: f64, are_together: bool) -> Moves {
    let state = State { levels: 0.02, seconds: hold, are_together, are_told: true, shifts: 0.03 };
    Moves { seconds, state, ..SEEN }
}

const WORLDS: [(&str, Moves); 5] = [
    ("2 s, levels of 2 s", moves(2.0, 2.0, true)),
    ("5 s, levels of 0.3 s", moves(5.0, 0.3, true)),
    ("5 s, levels of 2 s", moves(5.0, 2.0, true)),
    ("5 s, levels of 2 s, each entry its own", moves(5.0, 2.0, false)),
    ("12 s, levels of 2 s", moves(12.0, 2.0, true)),
];

/// With 1, 2, 3 and 5 runs a side, taken in turns, one side after the other, and an hour later, at most 5 % of whole comparisons
/// contain any false verdict.
#[test]
fn what_a_cpus_state_does_is_no_change() {
    let only = std::env::var("CASE").unwrap_or_default();
    let (mut all, mut wrong) = (0, 0);
    for (name, moves) in WORLDS.into_iter().filter(|(name, _)| name.contains(&only)) {
        for order in [Order::Turns, Order::OneAfterTheOther, Order::AnHourLater] {
            for runs in [1, 2, 3, 5] {
                let found = count(fewer(), |seed| {
                    let [base, new] = World::new(seed, moves).sides(order, runs, nothing_changed);
                    between(&base, &new, &[]).rows.iter().any(tells_a_change)
                });
                println!("{name}, {order:?}, {runs} a side: {found} of {} with a false verdict", fewer());
                assert!(found <= at_most(fewer()), "{name}, {order:?}, {runs} a side: {found}");
                (all, wrong) = (all + fewer(), wrong + found);
            }
        }
    }
    println!("{wrong} of {all} with a false verdict");
    assert!(wrong <= at_most(all), "{wrong} of {all}");
}

/// How often a change of the plainest system call, or of everything, is found in so many comparisons in this world, in percent.
fn found(comparisons: u64, moves: Moves, runs: usize, factor: f64, is_of_all: bool) -> u64 {
    let change = |entry: &str, operation: &str| {
        if is_of_all { factor } else { system_calls_cost(factor)(entry, operation) }
    };
    let found = count(comparisons, |seed| {
        let [base, new] = World::new(seed, moves).sides(Order::Turns, runs, change);
        tells_a_change(the_system_call(&between(&base, &new, &[])))
    });
    100 * found / comparisons
}

/// What is near its bound, 78 % where 75 are claimed, is told from it by so many comparisons. Of 125, one draw in five has less, and any
/// new row of the table draws anew.
const NEAR_ITS_BOUND: u64 = 2000;

/// Runs in turns find a change of 20 % in one row nearly always, and one of 5 % where levels are short, or all rows have it.
#[test]
fn a_real_change_is_found_all_the_same() {
    let (short, long) = (moves(5.0, 0.3, true), moves(5.0, 2.0, true));
    let cases = [
        ("20 %, levels of 2 s, 3 a side", found(fewer(), long, 3, 1.2, false), 95),
        ("5 %, levels of 0.3 s, 3 a side", found(simulator::runs(NEAR_ITS_BOUND), short, 3, 1.05, false), 75),
        ("5 %, levels of 0.3 s, 5 a side", found(fewer(), short, 5, 1.05, false), 90),
        ("5 % of all rows, levels of 2 s, 3 a side", found(fewer(), long, 3, 1.05, true), 60),
        ("5 % of all rows, levels of 2 s, 5 a side", found(fewer(), long, 5, 1.05, true), 90),
        ("5 %, without levels, 2 a side", found(fewer(), SEEN, 2, 1.05, false), 95),
    ];
    cases.iter().for_each(|(what, found, _)| println!("{what}: found in {found} %"));
    cases.iter().for_each(|(what, found, least)| assert!(found >= least, "{what}: {found} %"));
}
