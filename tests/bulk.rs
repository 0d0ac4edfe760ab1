//! Marks, and actions on the marked records: what an on-call engineer does when there are twenty of them.

use unstuck::app::Msg;
use unstuck::app::dialog::Dialog;
use unstuck::app::dialog::bulk::{Bulk, Phase};
use unstuck::domain::answer::Answer;
use unstuck::domain::evidence::{Class, LookupOutcome, Observed};
use unstuck::domain::ids::{ProviderRef, Version};
use unstuck::domain::money::Money;
use unstuck::domain::record::Record;
use unstuck::domain::snapshot::Snapshot;

use crate::support::console::Console;
use crate::support::picture::{draw, words};
use crate::support::scenario::{charge, incident};

/// A charge of its own for each record, captured.
pub fn captured(record: &Record) -> LookupOutcome {
    let mut found: Observed = charge(record, Class::Succeeded);
    found.provider_ref = ProviderRef::new(format!("ch_{}", record.id.key.tail().unwrap_or_default()));
    if let Some(money) = &record.money {
        money.currency.code().clone_into(&mut found.money.currency);
    }
    LookupOutcome::Found { observed: vec![found] }
}

fn picture(console: &Console) -> String {
    words(&draw(&console.model, 120, 60, console.now))
}

#[track_caller]
fn shows(console: &Console, text: &str) {
    let picture = picture(console);
    assert!(picture.contains(text), "not on screen: {text:?}\n{picture}");
}

#[track_caller]
fn flow(console: &Console) -> &Bulk {
    match &console.model.dialog {
        Some(Dialog::Bulk(bulk)) => bulk,
        other => panic!("no bulk: {other:?}"),
    }
}

#[test]
fn look() {
    let mut console = Console::on(incident());
    console.each = Some(captured);
    console.keys("2 jj jj ");
    println!("{}", words(&draw(&console.model, 80, 24, console.now)));
    console.keys("a");
    println!("{}", words(&draw(&console.model, 80, 24, console.now)));
    console.keys("l");
    println!("{}", words(&draw(&console.model, 80, 24, console.now)));
    console.keys("<Enter>3<Enter>");
    println!("{}", words(&draw(&console.model, 80, 24, console.now)));
    console.run_for(3);
    println!("{}", words(&draw(&console.model, 80, 24, console.now)));
    console.keys("nr");
    println!("{}", words(&draw(&console.model, 80, 24, console.now)));
    console.keys("<Esc><Esc>ar");
    println!("{}", words(&draw(&console.model, 80, 24, console.now)));
    console.keys("<Enter>").write("look-ups show them captured").keys("<Tab>").write("INC-2291").keys("<Enter>");
    println!("{}", words(&draw(&console.model, 80, 24, console.now)));
    let phrase = flow(&console).plan.as_ref().unwrap().phrase().shown().to_owned();
    console.write(&phrase).keys("<Enter>");
    println!("{}", words(&draw(&console.model, 80, 24, console.now)));
    console.read_rules();
    console.wait(1);
    console.settle();
    println!("{}", words(&draw(&console.model, 80, 24, console.now)));
    console.run_for(4);
    println!("{}", words(&draw(&console.model, 80, 24, console.now)));
    println!("{:?}", console.effects);
}
