//! A lease shorter than the provider's time-out: two workers on one charge.

use super::{Conduct, Flaw};
use crate::lab::service::ServiceOptions;

/// How long one worker owns a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeaseLength {
    /// Longer than it waits for the provider.
    OutlastsProvider,
    /// Half as long as it waits for the provider.
    HalfTheTimeOut,
}

pub(in crate::lab) static FLAW: Flaw = Flaw {
    name: "short-lease",
    does: "The lease is half as long as the service waits for the provider.",
    harm: "A retry takes the record while its owner still waits; only the provider key keeps that to one charge.",
    put_into: |conduct| Conduct { lease_length: LeaseLength::HalfTheTimeOut, ..conduct },
};

impl ServiceOptions {
    /// How long a lease really lives.
    pub(in crate::lab::service) fn lease_seconds(&self) -> f64 {
        let lease = match self.conduct.lease_length {
            LeaseLength::OutlastsProvider => self.lease,
            LeaseLength::HalfTheTimeOut => self.provider_timeout / 2,
        };
        lease.as_secs_f64()
    }
}
