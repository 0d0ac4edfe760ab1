//! What changed between two pictures: a JSON merge patch (RFC 7396), with lists of the same length merged item by
//! item, under [`ITEMS`]. An absent value and null are the same here.

use serde_json::{Map, Value};

/// Stands for "these items of the list", by their places. No field of ours has this name.
const ITEMS: &str = "@";

/// What has to be merged into `before` to get `after`; `None` when they are the same.
pub fn between(before: &Value, after: &Value) -> Option<Value> {
    if let (Value::Array(old), Value::Array(new)) = (before, after)
        && old.len() == new.len()
        && old.iter().chain(new).all(Value::is_object)
    {
        let items = old.iter().zip(new).enumerate();
        let changed: Map<String, Value> =
            items.filter_map(|(place, (old, new))| Some((place.to_string(), between(old, new)?))).collect();
        return (!changed.is_empty()).then(|| serde_json::json!({ ITEMS: changed }));
    }
    let (Value::Object(old), Value::Object(new)) = (before, after) else {
        return (before != after).then(|| after.clone());
    };
    let mut changed = Map::new();
    for (name, value) in new {
        match old.get(name) {
            Some(known) => changed.extend(between(known, value).map(|patch| (name.clone(), patch))),
            None if value.is_null() => {}
            None => {
                changed.insert(name.clone(), value.clone());
            }
        }
    }
    changed.extend(old.keys().filter(|name| !new.contains_key(*name)).map(|name| (name.clone(), Value::Null)));
    (!changed.is_empty()).then_some(Value::Object(changed))
}

/// Merges a patch into a value.
pub fn merge(into: &mut Value, patch: Value) {
    let Value::Object(mut changed) = patch else {
        *into = patch;
        return;
    };
    if let (Value::Array(known), Some(Value::Object(items))) = (&mut *into, changed.get_mut(ITEMS)) {
        for (place, item) in std::mem::take(items) {
            // A place that is not there is nobody's: the file is damaged, and the picture says so when it is read.
            if let Some(old) = place.parse().ok().and_then(|place: usize| known.get_mut(place)) {
                merge(old, item);
            }
        }
        return;
    }
    if !into.is_object() {
        *into = Value::Object(Map::new());
    }
    let Value::Object(known) = into else { return };
    for (name, value) in changed {
        if value.is_null() {
            known.remove(&name);
        } else {
            merge(known.entry(name).or_insert(Value::Null), value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn merged(before: &Value, after: &Value) -> Value {
        let mut value = before.clone();
        if let Some(patch) = between(before, after) {
            merge(&mut value, patch);
        }
        value
    }

    #[test]
    fn only_what_changed_is_in_a_patch() {
        let before = json!({"a": {"b": 1, "c": [1, 2]}, "d": 3, "gone": 4});
        let after = json!({"a": {"b": 2, "c": [1, 2]}, "d": 3, "new": {"e": 5}});
        let patch = between(&before, &after).unwrap();
        assert_eq!(patch, json!({"a": {"b": 2}, "gone": null, "new": {"e": 5}}));
        assert_eq!(merged(&before, &after), after);
        assert_eq!(between(&before, &before), None);
    }

    #[test]
    fn items_of_a_list_of_the_same_length_are_merged_one_by_one() {
        let before = json!({"l": [{"a": 1, "b": 2}, {"a": 3}]});
        let after = json!({"l": [{"a": 1, "b": 2}, {"a": 4}]});
        assert_eq!(between(&before, &after), Some(json!({"l": {"@": {"1": {"a": 4}}}})));
        assert_eq!(merged(&before, &after), after);
        let longer = json!({"l": [{"a": 1, "b": 2}, {"a": 3}, {"a": 5}]});
        assert_eq!(merged(&before, &longer), longer);
        let mut damaged = before.clone();
        merge(&mut damaged, json!({"l": {"@": {"7": {"a": 4}, "x": {}}}}));
        assert_eq!(damaged, before);
    }

    fn value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![any::<i64>().prop_map(Value::from), "[a-c]{0,2}".prop_map(Value::from)];
        leaf.prop_recursive(3, 24, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
                prop::collection::btree_map("[a-c]", inner, 0..4).prop_map(|m| m.into_iter().collect()),
            ]
        })
    }

    proptest! {
        #[test]
        fn a_merged_patch_is_what_it_was_made_for(before in value(), after in value()) {
            prop_assert_eq!(merged(&before, &after), after);
        }
    }
}
