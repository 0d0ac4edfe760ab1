//! What can go wrong in the lab, for the person who started it.

use super::cluster::ClusterError;

/// A part of the throw-away world is not there or did not do its part.
#[derive(Debug, thiserror::Error)]
pub enum LabError {
    /// No server, or not ours.
    #[error(transparent)]
    Cluster(#[from] ClusterError),
    /// The lab's database said no.
    #[error("the lab's database: {0}")]
    Database(#[from] sqlx::Error),
    /// A request between the lab's own parts failed.
    #[error("a request inside the lab: {0}")]
    Http(#[from] reqwest::Error),
    /// A listener or a runtime could not be had.
    #[error("the lab cannot listen on loopback: {0}")]
    Listen(#[from] std::io::Error),
    /// An incident did not come about as written.
    #[error("the incident did not come about: {0}")]
    Story(String),
    /// There is no incident of that name.
    #[error("there is no incident \"{0}\"; there are: {1}")]
    NoSuchIncident(String, String),
}
