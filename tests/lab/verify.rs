//! The seeds' measured table holds here, cell by cell, and a cell of another service does not.

use std::net::TcpListener;

use unstuck::lab::service::Conduct;
use unstuck::lab::verify::{ALL, Bench, Ended, Row, Side, Which};

use crate::cli::Place;
use crate::support::cluster::shared;

fn row(name: &str) -> &'static Row {
    ALL.iter().copied().find(|row| row.name.starts_with(name)).unwrap_or_else(|| panic!("there is no row {name}"))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_cell_of_the_table_is_as_the_seeds_measured_it() {
    let bench = Bench::open(shared().await).await.unwrap();
    let mut seen = Vec::new();
    for row in ALL {
        for which in [Which::Naive, Which::Correct] {
            match bench.run(row, which).await {
                Ended::NotInTable => {}
                Ended::AsExpected(facts) => seen.push((row.name, which, facts)),
                other @ (Ended::Differs(_) | Ended::NotRun(_)) => panic!("{} {which:?}: {other:?}", row.name),
            }
        }
    }
    assert_eq!(seen.len(), 11, "{seen:#?}");
    bench.close().await.unwrap();
}

/// A table that is always "as expected" measures nothing.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_service_of_another_conduct_is_found_out() {
    let bench = Bench::open(shared().await).await.unwrap();
    for (name, conduct) in [
        ("20 concurrent", Conduct::naive()),
        ("same key", Conduct::naive()),
        ("provider slower", Conduct::naive()),
        ("stuck record", Conduct::naive_with_cron()),
        ("two pods", Conduct::naive()),
        ("pod killed", Conduct::naive()),
    ] {
        let seen = bench.see(row(name), conduct).await.unwrap();
        let expected = row(name).side(Which::Correct).expect("has a correct column").expected;
        assert!(!seen.0.iter().eq(expected), "{name}: {seen:?}");
    }
    // And the other way round: the naive column is not what every service does.
    for name in ["20 concurrent", "same key", "provider slower", "stuck record"] {
        let seen = bench.see(row(name), Conduct::CORRECT).await.unwrap();
        let expected = row(name).side(Which::Naive).expect("has a naive column").expected;
        assert!(!seen.0.iter().eq(expected), "{name}: {seen:?}");
    }
    bench.close().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cell_that_differs_says_what_was_seen() {
    let bench = Bench::open(shared().await).await.unwrap();
    let measured = row("same key");
    let hoped = Row {
        name: measured.name,
        what: measured.what,
        provider_timeout: measured.provider_timeout,
        naive: Some(Side { conduct: Conduct::naive, expected: &["200, then 422", "1 charge"] }),
        correct: None,
        script: measured.script,
    };
    let Ended::Differs(seen) = bench.run(&hoped, Which::Naive).await else { panic!("it is not so") };
    assert_eq!(seen.0, ["200, then 200 with amount 100", "1 charge"]);
    assert_eq!(bench.run(&hoped, Which::Correct).await, Ended::NotInTable);
    bench.close().await.unwrap();
}

/// A place from which a server can be started.
fn place() -> Place {
    ["PATH", "TMPDIR", "UNSTUCK_LAB_SERVER_URL", "UNSTUCK_POSTGRES_BIN"].iter().fold(Place::new(), |place, name| {
        match std::env::var(name) {
            Ok(value) => place.with(name, &value),
            Err(_) => place,
        }
    })
}

#[test]
fn the_command_prints_both_columns_and_leaves_the_consoles_database_alone() {
    let canary = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    canary.set_nonblocking(true).unwrap();
    let port = canary.local_addr().unwrap().port();
    let production = format!("postgres://somebody@127.0.0.1:{port}/production");
    let ran = place().with("UNSTUCK_DATABASE_URL", &production).run(&["lab", "verify"]);
    assert_eq!((ran.code, ran.complained.as_str()), (0, ""), "{ran:?}");
    let lines: Vec<&str> = ran.said.lines().collect();
    assert!(lines[0].starts_with("The table this product rests on"), "what runs is said first");
    assert_eq!(lines.last(), Some(&"11 runs, all as expected."));
    for row in ALL {
        assert_eq!(lines.iter().filter(|line| **line == row.name).count(), 1, "{}", row.name);
    }
    assert!(lines.iter().all(|line| line.chars().count() <= 80 && line.is_ascii()), "{}", ran.said);
    assert_eq!(canary.accept().unwrap_err().kind(), std::io::ErrorKind::WouldBlock, "somebody connected");
}

#[test]
fn without_a_server_the_command_does_not_know() {
    for words in [vec!["lab", "verify"], vec!["lab", "verify", "--json"]] {
        let nowhere = Place::new().with("UNSTUCK_LAB_SERVER_URL", "postgres://lab@127.0.0.1:1/postgres");
        let ran = nowhere.run(&words);
        assert_eq!(ran.code, 3, "{ran:?}");
        assert!(ran.complained.starts_with("NOT KNOWN: "), "{ran:?}");
    }
    assert_eq!(Place::new().run(&["lab"]).code, 3);
}
