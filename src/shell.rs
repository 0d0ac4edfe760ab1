//! The impure edge of the console: terminal, input, the loop, polling, acting.
