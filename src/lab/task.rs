//! A background task that ends with its owner.

use tokio::task::JoinHandle;

/// Dropping it stops the task at whatever it waits for.
#[derive(Debug)]
pub(super) struct Task(JoinHandle<()>);

impl Task {
    pub(super) fn spawn(work: impl Future<Output = ()> + Send + 'static) -> Self {
        Self(tokio::spawn(work))
    }

    /// Stops it and waits until it is gone.
    pub(super) async fn end(mut self) {
        self.0.abort();
        (&mut self.0).await.ok();
    }
}

impl Drop for Task {
    fn drop(&mut self) {
        self.0.abort();
    }
}
