//! Where a test may stop the console: before an await of an action, while it is under way, and after it.
//!
//! Every await between an armed plan and its answer goes through [`step`]. A debug build can be given a hook
//! ([`watch`]), which is told of each moment and decides when it goes on; `src/shell/fault.rs` gives it one that
//! asks a test. Without a hook nothing happens. A release has no hook: [`step`] hands back what it was given.

#[cfg(debug_assertions)]
pub use watched::{Hook, Moment, step, watch};

/// The await itself: a release has no faults.
#[cfg(not(debug_assertions))]
#[inline]
pub fn step<F: Future>(_what: &'static str, _about: &str, work: F) -> F {
    work
}

#[cfg(debug_assertions)]
mod watched {
    use std::future::poll_fn;
    use std::pin::pin;
    use std::sync::OnceLock;
    use std::task::Poll;

    use crate::domain::port::BoxFuture;

    /// When, as seen from one await.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum Moment {
        /// Nothing of it was begun.
        Before,
        /// It was begun and has not answered: a statement was sent and its answer not read.
        UnderWay,
        /// Its answer was read; nothing was made of it yet.
        After,
    }

    impl Moment {
        /// One word for it.
        pub fn word(self) -> &'static str {
            match self {
                Self::Before => "before",
                Self::UnderWay => "under-way",
                Self::After => "after",
            }
        }
    }

    /// Told of every moment; the console goes on when its future ends. `None`: nobody wants to know of this one.
    pub type Hook = fn(Moment, &str, &str) -> Option<BoxFuture<'static, ()>>;

    static HOOK: OnceLock<Hook> = OnceLock::new();

    /// Gives this process a hook. The first one stays.
    pub fn watch(hook: Hook) {
        HOOK.get_or_init(|| hook);
    }

    async fn pass(moment: Moment, what: &str, about: &str) {
        if let Some(pause) = HOOK.get().and_then(|hook| hook(moment, what, about)) {
            pause.await;
        }
    }

    /// Awaits `work`, and lets a test stop it on the way. `what` it is, and `about` which file or call.
    pub async fn step<F: Future>(what: &'static str, about: &str, work: F) -> F::Output {
        if HOOK.get().is_none() {
            return work.await;
        }
        pass(Moment::Before, what, about).await;
        let mut work = pin!(work);
        let begun = poll_fn(|context| Poll::Ready(work.as_mut().poll(context))).await;
        let answer = match begun {
            Poll::Ready(answer) => answer,
            Poll::Pending => {
                pass(Moment::UnderWay, what, about).await;
                work.await
            }
        };
        pass(Moment::After, what, about).await;
        answer
    }
}
