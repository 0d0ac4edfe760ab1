//! Ids and amounts that look like a shop's, from a seed: the same seed gives the same ones.

use fastrand::Rng;

/// A client's wish to be paid, with the key it keeps for every retry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Purchase {
    /// The key's namespace.
    pub scope: String,
    /// The idempotency key.
    pub key: String,
    /// The order.
    pub order: String,
    /// Who buys.
    pub customer: String,
    /// Minor units.
    pub amount: i64,
    /// ISO 4217.
    pub currency: &'static str,
}

/// A shop: its scope and its currency.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shop {
    Europe,
    Japan,
    Kuwait,
    /// Another European tenant, whose client has a bug.
    Partner,
}

impl Shop {
    fn scope(self) -> &'static str {
        match self {
            Self::Europe => "shop-eu",
            Self::Japan => "shop-jp",
            Self::Kuwait => "shop-kw",
            Self::Partner => "partner-fit",
        }
    }

    fn currency(self) -> &'static str {
        match self {
            Self::Europe | Self::Partner => "EUR",
            Self::Japan => "JPY",
            Self::Kuwait => "KWD",
        }
    }

    /// Minor units of a plausible basket.
    fn amount(self, rng: &mut Rng) -> i64 {
        match self {
            Self::Europe | Self::Partner => rng.i64(19..250) * 100 - 5,
            Self::Japan => rng.i64(12..260) * 100,
            Self::Kuwait => rng.i64(18..160) * 250,
        }
    }
}

/// Orders of the incident begin here, those of the background traffic far above.
const STORY_ORDERS: u64 = 88_213;
const TRAFFIC_ORDERS: u64 = 91_000;

/// The nth purchase of the incident.
pub(super) fn story(seed: u64, nth: u64, shop: Shop) -> Purchase {
    purchase(seed, STORY_ORDERS + nth * 4, shop)
}

/// The nth purchase of the background traffic, and dice for what its client does.
pub(super) fn traffic(seed: u64, nth: u64) -> (Purchase, Rng) {
    let order = TRAFFIC_ORDERS + nth;
    let mut rng = dice(seed, order ^ 0x7aff);
    let shop = match rng.u8(0..100) {
        0..76 => Shop::Europe,
        76..90 => Shop::Japan,
        _ => Shop::Partner,
    };
    (purchase(seed, order, shop), rng)
}

fn purchase(seed: u64, order: u64, shop: Shop) -> Purchase {
    let mut rng = dice(seed, order);
    Purchase {
        scope: shop.scope().to_owned(),
        key: key(&mut rng),
        order: format!("ord_{order}"),
        customer: format!("cus_{}", word(&mut rng, 6).to_ascii_lowercase()),
        amount: shop.amount(&mut rng),
        currency: shop.currency(),
    }
}

fn dice(seed: u64, salt: u64) -> Rng {
    Rng::with_seed(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(salt))
}

/// `7Q4K-91DM-X2PZ`: no letters that look like digits, so that it can be read out on the phone.
fn key(rng: &mut Rng) -> String {
    [word(rng, 4), word(rng, 4), word(rng, 4)].join("-")
}

/// The key of a client that makes a new one for every attempt: the nth after `key`.
pub(super) fn another_key(key: &str, nth: usize) -> String {
    let salt = key.bytes().fold(0_u64, |sum, byte| sum.wrapping_mul(31).wrapping_add(u64::from(byte)));
    self::key(&mut dice(salt, u64::try_from(nth).unwrap_or(u64::MAX)))
}

fn word(rng: &mut Rng, letters: usize) -> String {
    const ALPHABET: [char; 30] = [
        '2', '3', '4', '5', '6', '7', '8', '9', 'A', 'B', 'C', 'D', 'E', 'F', 'G', 'H', 'J', 'K', 'M', 'N', 'P', 'Q',
        'R', 'S', 'T', 'V', 'W', 'X', 'Y', 'Z',
    ];
    std::iter::repeat_with(|| rng.choice(ALPHABET).unwrap_or('X')).take(letters).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_names_the_same_things() {
        assert_eq!(story(7, 0, Shop::Europe), story(7, 0, Shop::Europe));
        assert_ne!(story(7, 0, Shop::Europe).key, story(8, 0, Shop::Europe).key);
        assert_ne!(story(7, 0, Shop::Europe).key, story(7, 1, Shop::Europe).key);
        let first = story(7, 0, Shop::Europe);
        assert_eq!((first.order.as_str(), first.scope.as_str(), first.currency), ("ord_88213", "shop-eu", "EUR"));
        assert_eq!(first.key.len(), 14);
    }
}
