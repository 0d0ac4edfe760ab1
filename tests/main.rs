#[cfg(test)]
mod cluster;
#[cfg(test)]
mod docs;
#[cfg(test)]
mod lab;
#[cfg(test)]
mod layers;
#[cfg(test)]
mod peek;
#[cfg(test)]
mod pty;
#[cfg(test)]
mod story;
#[cfg(test)]
mod support;
#[cfg(test)]
mod tape;
#[cfg(test)]
mod terminal;
