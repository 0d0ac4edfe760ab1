//! What a world can be asked for.

use std::time::Duration;

use crate::lab::cluster::ClusterOptions;
use crate::lab::incident::Incident;
use crate::lab::provider::Habits;
use crate::lab::system::System;
use crate::lab::traffic::TrafficRate;

/// What the lab's databases call themselves; a phrase begins with it.
pub const ENVIRONMENT: &str = "demo";
/// The kind of environment that is.
pub const ENVIRONMENT_KIND: &str = "demo";

/// How to start a world.
#[derive(Debug, Clone)]
pub struct WorldOptions {
    /// The story that is told; none: an ordinary day.
    pub incident: Option<&'static Incident>,
    /// The same seed tells the same story.
    pub seed: u64,
    /// How many pods. A story needs two.
    pub pods: usize,
    /// Background traffic.
    pub traffic: TrafficRate,
    /// What kind of provider it has; the service knows.
    pub provider: Habits,
    /// What there is beside payments; an incident adds what it needs.
    pub systems: Vec<System>,
    /// How long all is well before the story begins.
    pub calm: Duration,
    /// How long a lease lives: what "stuck" counts from.
    pub lease: Duration,
    /// How long a pod waits for the provider.
    pub provider_timeout: Duration,
    /// The server.
    pub cluster: ClusterOptions,
}

impl WorldOptions {
    /// The demo's world: the server the environment allows, traffic, and a moment of calm before the story.
    pub fn demo(incident: &'static Incident) -> Self {
        Self { incident: Some(incident), cluster: ClusterOptions::from_env(), ..Self::default() }
    }

    /// A world for a test: the story at once, no traffic beside it.
    pub fn quiet(incident: Option<&'static Incident>) -> Self {
        Self { incident, traffic: TrafficRate::Off, calm: Duration::ZERO, ..Self::default() }
    }
}

impl Default for WorldOptions {
    fn default() -> Self {
        Self {
            incident: None,
            seed: 7,
            pods: 2,
            traffic: TrafficRate::PerSecond(6),
            provider: Habits::default(),
            systems: Vec::new(),
            calm: Duration::from_secs(2),
            lease: Duration::from_secs(10),
            provider_timeout: Duration::from_secs(2),
            cluster: ClusterOptions::default(),
        }
    }
}
