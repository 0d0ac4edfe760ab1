//! The product's own `next_step`, asked once for every situation the model can be in.

use chrono::DateTime;
use unstuck::domain::evidence::{self, Absence, LookupOutcome, Observed, ObservedMoney};
use unstuck::domain::ids::{
    Attempt, EvidenceId, Holder, Operator, OrderId, PaymentId, ProviderKey, ProviderName, ProviderRef, RecordId,
    Version,
};
use unstuck::domain::money::Money;
use unstuck::domain::payment::PaymentStatus;
use unstuck::domain::policy::{Policy, ProviderTerms};
use unstuck::domain::record::{self, RecordDetail, RecordStatus, RecoveryPoint};
use unstuck::domain::recovery::{Step, next_step};
use unstuck::domain::time::{Instant, Seconds};

use super::state::{KeyAge, Point, Seen};

/// The model's tick: longer than settle time, skew and gap, so that one of it is "long enough" for each.
const TICK: u64 = 100;
const OWN: [&str; 2] = ["ch_1", "ch_2"];

/// A step, without its words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    LookUp,
    Wait,
    /// `own`: the charge is one made for this payment.
    Adopt {
        own: bool,
    },
    Fail,
    HandBack,
    NotCharged,
    Nothing,
    Refuse(u8),
}

/// The lease, seen by the one who decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Held {
    Over,
    ByMe,
    ByAnother,
}

/// Everything `next_step` is told.
#[derive(Debug, Clone, Copy)]
pub struct Situation {
    pub point: Point,
    pub held: Held,
    pub quiet: u8,
    pub latest: Seen,
    pub before: Seen,
    pub key: KeyAge,
}

const POINTS: [Point; 5] = [Point::Created, Point::Called, Point::Charged, Point::Succeeded, Point::Failed];
const HELD: [Held; 3] = [Held::Over, Held::ByMe, Held::ByAnother];
const KEYS: [KeyAge; 4] = [KeyAge::Fresh, KeyAge::Closing, KeyAge::Forgotten, KeyAge::LongForgotten];
const BEFORE: [Seen; 3] = [Seen::None, Seen::Nothing, Seen::MaybeNothing];
const SEEN: [Seen; 11] = [
    Seen::None,
    Seen::Silence,
    Seen::Nothing,
    Seen::MaybeNothing,
    Seen::Yes,
    Seen::No,
    Seen::Pending,
    Seen::YesAndPending,
    Seen::TwoYes,
    Seen::OthersOnly,
    Seen::YesAndOthers,
];

/// Every answer, by situation.
#[derive(Debug)]
pub struct Table(Vec<Next>);

impl Table {
    pub fn ask() -> Self {
        let mut answers = Vec::new();
        for point in POINTS {
            for held in HELD {
                for quiet in 0..3 {
                    for latest in SEEN {
                        for before in BEFORE {
                            for key in KEYS {
                                let situation = Situation { point, held, quiet, latest, before, key };
                                assert_eq!(index(situation), answers.len());
                                answers.push(ask(situation));
                            }
                        }
                    }
                }
            }
        }
        Self(answers)
    }

    pub fn next(&self, situation: Situation) -> Next {
        self.0[index(situation)]
    }
}

fn place<T: PartialEq>(list: &[T], one: &T) -> usize {
    list.iter().position(|listed| listed == one).expect("listed above")
}

fn index(s: Situation) -> usize {
    let mut index = place(&POINTS, &s.point);
    index = index * HELD.len() + place(&HELD, &s.held);
    index = index * 3 + usize::from(s.quiet);
    index = index * SEEN.len() + place(&SEEN, &s.latest);
    index = index * BEFORE.len() + place(&BEFORE, &s.before);
    index * KEYS.len() + place(&KEYS, &s.key)
}

fn now() -> Instant {
    DateTime::from_timestamp(1_796_000_000, 0).expect("a moment")
}

fn ago(seconds: u64) -> Instant {
    Seconds(seconds).before(now())
}

fn ask(situation: Situation) -> Next {
    let policy = Policy {
        evidence_freshness: Seconds(50),
        not_found_gap: Seconds(80),
        not_found_gap_max: Seconds(150),
        key_margin: Seconds(3_000),
        skew: Seconds(20),
        ..Policy::default()
    };
    let terms = ProviderTerms { key_retention: Some(Seconds(10_000)), settle: Seconds(50) };
    let me = Holder::new("operator:dana");
    match next_step(&detail(situation), &stored(situation), &me, &policy, &terms, now()).step {
        Step::Adopt { charge } => Next::Adopt { own: OWN.contains(&charge.provider_ref.as_str()) },
        Step::FinishAsFailed { .. } => Next::Fail,
        Step::HandBack => Next::HandBack,
        Step::FinishAsNotCharged => Next::NotCharged,
        Step::NothingToDo => Next::Nothing,
        Step::LookUpFirst { .. } => Next::LookUp,
        Step::Wait { .. } => Next::Wait,
        Step::Refuse(_) | Step::FinishAsReversed { .. } => {
            Next::Refuse(next_step(&detail(situation), &stored(situation), &me, &policy, &terms, now()).row)
        }
    }
}

fn detail(s: Situation) -> RecordDetail {
    // Look-ups are made a second ago and a tick before that; whatever they follow is a second older.
    let last_sent = ago(u64::from(s.quiet) * TICK + 2);
    let (until, holder) = match s.held {
        Held::Over => (last_sent, "pod-a"),
        Held::ByMe => (Seconds(60).after(now()), "operator:dana"),
        Held::ByAnother => (Seconds(60).after(now()), "pod-a"),
    };
    let first_use = match s.key {
        KeyAge::Fresh => 1_000,
        KeyAge::Closing => 8_000,
        KeyAge::Forgotten => 10_010,
        KeyAge::LongForgotten => 10_200,
    };
    let (status, payment, point) = match s.point {
        Point::Created => (RecordStatus::Processing, PaymentStatus::Created, RecoveryPoint::Created),
        Point::Called => (RecordStatus::Processing, PaymentStatus::Unknown, RecoveryPoint::ProviderCalled),
        Point::Charged => (RecordStatus::Processing, PaymentStatus::Pending, RecoveryPoint::Charged),
        Point::Succeeded => (RecordStatus::Done, PaymentStatus::Succeeded, RecoveryPoint::Done),
        Point::Failed => (RecordStatus::Done, PaymentStatus::Failed, RecoveryPoint::Done),
    };
    let knows_ref = matches!(s.point, Point::Charged | Point::Succeeded);
    RecordDetail {
        record: record::Record {
            id: RecordId::new("shop-eu", "7Q4K-91ab"),
            order: Some(OrderId::new("ord_88213")),
            payment: Some(PaymentId::new("pay_5521")),
            status,
            payment_status: Some(payment),
            recovery_point: Some(point),
            lease: record::Lease { until: Some(until), holder: Some(Holder::new(holder)) },
            attempt: Some(Attempt(2)),
            provider: Some(ProviderName::new("acme")),
            provider_ref: knows_ref.then(|| ProviderRef::new(OWN[0])),
            money: Some(Money::new(12_840, "EUR")),
            first_key_use: Some(ago(first_use)),
            created_at: ago(first_use),
            changed_at: last_sent,
            owner: None,
            version: Version::new("9f".repeat(32)),
        },
        fingerprint: None,
        response_code: None,
        provider_key: Some(ProviderKey::new("pay:shop-eu:7Q4K-91ab")),
        last_attempt_at: Some(last_sent),
        siblings: Vec::new(),
        ref_owner: None,
    }
}

fn stored(s: Situation) -> Vec<evidence::Evidence> {
    let nothing = |absence| LookupOutcome::NotFound { absence, why: "no such charge".to_owned() };
    let found = |observed| LookupOutcome::Found { observed };
    let outcome = |seen| match seen {
        Seen::None => None,
        Seen::Silence => Some(LookupOutcome::Unreachable { why: "time-out".to_owned(), retry_after_s: None }),
        Seen::Nothing => Some(nothing(Absence::Consistent)),
        Seen::MaybeNothing => Some(nothing(Absence::MayHaveMissed)),
        Seen::Yes => Some(found(vec![own(0, evidence::Class::Succeeded)])),
        Seen::No => Some(found(vec![own(0, evidence::Class::Failed)])),
        Seen::Pending => Some(found(vec![own(0, evidence::Class::Pending)])),
        Seen::YesAndPending => Some(found(vec![own(0, evidence::Class::Succeeded), own(1, evidence::Class::Pending)])),
        Seen::TwoYes => Some(found(vec![own(0, evidence::Class::Succeeded), own(1, evidence::Class::Succeeded)])),
        Seen::OthersOnly => Some(found(vec![others()])),
        Seen::YesAndOthers => Some(found(vec![own(0, evidence::Class::Succeeded), others()])),
    };
    let before = outcome(s.before).map(|outcome| asked(TICK + 1, outcome));
    before.into_iter().chain(outcome(s.latest).map(|outcome| asked(1, outcome))).collect()
}

fn asked(seconds: u64, outcome: LookupOutcome) -> evidence::Evidence {
    evidence::Evidence {
        id: Some(EvidenceId(i64::try_from(1_000 - seconds).expect("small"))),
        operator: Operator::new("dana"),
        provider: ProviderName::new("acme"),
        started_at: ago(seconds),
        outcome,
        steps: Vec::new(),
    }
}

fn own(number: usize, class: evidence::Class) -> Observed {
    Observed {
        provider_ref: ProviderRef::new(OWN[number]),
        reference: Some(PaymentId::new("pay_5521")),
        order: Some(OrderId::new("ord_88213")),
        provider_key: Some(ProviderKey::new("pay:shop-eu:7Q4K-91ab")),
        class,
        raw: class.word().to_lowercase(),
        money: ObservedMoney {
            amount: 12_840,
            captured: Some(if class == evidence::Class::Succeeded { 12_840 } else { 0 }),
            refunded: Some(0),
            currency: "EUR".to_owned(),
        },
        created_at: None,
        mode: None,
    }
}

/// A charge of the same order, of the same amount, for another payment.
fn others() -> Observed {
    Observed {
        provider_ref: ProviderRef::new("ch_other"),
        reference: Some(PaymentId::new("pay_other")),
        provider_key: Some(ProviderKey::new("pay:shop-eu:other")),
        ..own(0, evidence::Class::Succeeded)
    }
}
