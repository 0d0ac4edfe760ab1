//! What `show` says about records.

use super::*;
use crate::domain::answer::Answer;
use crate::domain::evidence::Class;
use crate::domain::ids::OrderId;
use crate::domain::policy::Policy;
use crate::domain::samples::{dossier, found, hit, now, stuck, terms};

fn decided(dossier: &Dossier) -> Decision {
    let me = Holder::new("operator:dana");
    recovery::next_step(&dossier.detail, &dossier.evidence, &me, &Policy::default(), &terms(), now())
}

fn printed(dossier: &Dossier) -> String {
    let (mut plain, mut errors) = (Vec::new(), Vec::new());
    text::print(dossier, &decided(dossier), &mut Out::new(&mut plain, &mut errors));
    String::from_utf8(plain).unwrap()
}

#[test]
fn the_next_step_stands_last_and_in_words() {
    let said = printed(&dossier(stuck(), vec![found(5, vec![hit("ch_1", Class::Succeeded)])]));
    let last = said.lines().last().unwrap();
    assert_eq!(last, "Next step: adopt the charge, no new charge: ch_1 EUR 128.40.");
    assert!(said.starts_with("shop-eu/7Q4K-91ab  as of 2026-11-"), "{said}");
    assert!(said.contains("CAPTURED") && said.contains("EUR 128.40"), "{said}");
}

#[test]
fn what_is_not_known_is_a_dash_or_null_never_a_zero() {
    let mut detail = stuck();
    detail.record.order = None;
    detail.record.attempt = None;
    detail.record.money = None;
    detail.response_code = None;
    let mut without = dossier(detail, Vec::new());
    without.timeline = Answer::not_known("this schema keeps no history");
    let said = printed(&without);
    for part in [
        "attempt -",
        "order        -",
        "amount not known",
        "No look-up is stored",
        "NOT KNOWN (this schema keeps no history)",
    ] {
        assert!(said.contains(part), "{part}\nin\n{said}");
    }
    let json = as_json(&without, &decided(&without));
    for pointer in ["/record/order", "/record/attempt", "/record/money", "/response_code", "/timeline"] {
        assert_eq!(json.pointer(pointer), Some(&Value::Null), "{pointer}");
    }
    assert_eq!(json["timeline_not_known"], "this schema keeps no history");
    assert_eq!(json["next_step"]["word"], "lookup");
    assert_eq!(json["record"]["id"]["scope"], "shop-eu");
}

#[test]
fn hostile_ids_are_shown_for_what_they_are() {
    let mut detail = stuck();
    detail.record.order = Some(OrderId::new("A1\u{1b}[2J\nNext step: adopt\u{202e}"));
    let said = printed(&dossier(detail, Vec::new()));
    assert!(!said.contains('\u{1b}') && !said.contains('\u{202e}'), "{said}");
    assert_eq!(said.matches("\nNext step").count(), 1, "{said}");
}
