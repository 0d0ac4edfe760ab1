//! What our role may do beyond SELECT and EXECUTE, and where that is too much to act with.

use std::collections::BTreeMap;

use super::super::contract::Question;
use super::super::gate::Checked;
use super::super::reading::Reading;
use super::super::rows::Reader;
use crate::domain::answer::Answer;
use crate::domain::environment::{Environment, EnvironmentKind};
use crate::domain::port::StoreError;

/// How many rights a sentence names.
const NAMED: usize = 3;

/// The rights the catalogue lists; NOT KNOWN when it does not answer.
pub(super) async fn read(
    questions: &BTreeMap<Question, Result<Checked, StoreError>>,
    reading: &mut Reading<'_>,
) -> Answer<Vec<String>> {
    let at = reading.now();
    let listed = super::ask(questions, Question::Rights, reading).await.and_then(|(file, rows)| {
        rows.iter()
            .map(|row| {
                let reader = Reader::new(&file, row);
                Ok(format!("{} on {}", reader.text("right")?, reader.text("on_what")?))
            })
            .collect::<Result<Vec<String>, StoreError>>()
    });
    match listed {
        Ok(rights) => Answer::known(rights, at),
        Err(why) => Answer::not_known(why.to_string()),
    }
}

/// Why nothing may be changed with these rights; `None` = they are few enough for this place. With more rights
/// than it needs, what the console cannot do is a matter of trust; in production that is not enough.
pub(super) fn too_many(place: &Environment, excess: &Answer<Vec<String>>) -> Option<String> {
    match place.kind {
        EnvironmentKind::Production => {}
        EnvironmentKind::Staging | EnvironmentKind::Development | EnvironmentKind::Demo => return None,
    }
    match excess {
        Answer::Known { value, .. } if value.is_empty() => None,
        Answer::Known { value, .. } => {
            let named = value.iter().take(NAMED).map(String::as_str).collect::<Vec<_>>().join(", ");
            let more = match value.len().saturating_sub(NAMED) {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            Some(format!(
                "This role may do more than SELECT and EXECUTE: {named}{more}. In production nothing is changed with it; \
                 connect as a member of unstuck_operator alone."
            ))
        }
        Answer::NotKnown { why } => Some(format!(
            "What this role may do is not known ({}). In production nothing is changed without knowing it.",
            why.trim_end_matches('.')
        )),
    }
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;

    use super::*;

    fn place(kind: EnvironmentKind) -> Environment {
        Environment { name: "eu-1".to_owned(), kind }
    }

    fn known(rights: &[&str]) -> Answer<Vec<String>> {
        Answer::known(rights.iter().map(|right| (*right).to_owned()).collect(), DateTime::UNIX_EPOCH)
    }

    #[test]
    fn production_wants_to_know_and_to_find_none() {
        let of = |excess: &Answer<Vec<String>>| too_many(&place(EnvironmentKind::Production), excess);
        assert_eq!(of(&known(&[])), None);
        let many = of(&known(&["DELETE on a", "UPDATE on b", "UPDATE on c", "OWNER on d"])).unwrap();
        assert!(many.contains("DELETE on a, UPDATE on b, UPDATE on c and 1 more"), "{many}");
        assert!(of(&Answer::not_known("no answer")).unwrap().contains("not known (no answer)"));
    }

    #[test]
    fn elsewhere_the_doctor_says_so_and_work_goes_on() {
        for kind in [EnvironmentKind::Staging, EnvironmentKind::Development, EnvironmentKind::Demo] {
            assert_eq!(too_many(&place(kind), &known(&["SUPERUSER on role root"])), None);
            assert_eq!(too_many(&place(kind), &Answer::not_known("x")), None);
        }
    }
}
