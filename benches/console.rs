//! What the console costs: `cargo bench`. Reported, never asserted; the numbers depend on the machine.
//!
//! - a frame at 120x32 with 100 records
//! - one poll over a million records, with the shipped indexes
//! - bytes written to the terminal per second when nothing changes (the aim is zero)
//! - start to first frame, and resident memory after a minute

fn main() {
    divan::main();
}
