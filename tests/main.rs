#[cfg(test)]
mod age;
#[cfg(test)]
mod audit;
#[cfg(test)]
mod bulk;
#[cfg(test)]
mod cli;
#[cfg(test)]
mod cluster;
#[cfg(test)]
mod docs;
#[cfg(test)]
mod drill;
#[cfg(test)]
mod faults;
#[cfg(test)]
mod flows;
#[cfg(test)]
mod handback;
#[cfg(test)]
mod keys;
#[cfg(test)]
mod lab;
#[cfg(test)]
mod layers;
#[cfg(test)]
mod lookup;
#[cfg(test)]
mod lost;
#[cfg(test)]
mod model;
#[cfg(test)]
mod outage;
#[cfg(test)]
mod postgres;
#[cfg(test)]
mod proof;
#[cfg(test)]
mod pty;
#[cfg(test)]
mod queries;
#[cfg(test)]
mod races;
#[cfg(test)]
mod reconciliation;
#[cfg(test)]
mod recording;
#[cfg(test)]
mod roles;
#[cfg(test)]
mod screens;
#[cfg(test)]
mod second;
#[cfg(test)]
mod story;
#[cfg(test)]
mod support;
#[cfg(test)]
mod tape;
#[cfg(test)]
mod terminal;
#[cfg(test)]
mod ticket;
