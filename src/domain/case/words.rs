//! Words of a case that a later or another system may write differently: kept, and never taken for a known one.

/// A payment's status, in lower case as services write it.
pub(super) mod status {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use crate::domain::payment::PaymentStatus;

    #[expect(clippy::ref_option, reason = "the signature that serde asks for")]
    pub(in crate::domain::case) fn serialize<S: Serializer>(
        status: &Option<PaymentStatus>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        status.as_ref().map(|status| status.to_string().to_ascii_lowercase()).serialize(to)
    }

    pub(in crate::domain::case) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Option<PaymentStatus>, D::Error> {
        let word = Option::<String>::deserialize(from)?;
        Ok(word.map(|word| PaymentStatus::from_word(&word.to_ascii_lowercase())))
    }
}

/// What the state of a charge means for money.
pub(super) mod class {
    use serde::de::IntoDeserializer;
    use serde::de::value::{Error, StrDeserializer};
    use serde::{Deserialize, Deserializer};

    use crate::domain::evidence::Class;

    pub(in crate::domain::case) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Class>, D::Error> {
        let word = Option::<String>::deserialize(from)?;
        Ok(word.map(|word| {
            let word = word.to_ascii_lowercase();
            let word: StrDeserializer<'_, Error> = word.as_str().into_deserializer();
            // A word nobody taught us is never final.
            Class::deserialize(word).unwrap_or(Class::Unrecognised)
        }))
    }
}
