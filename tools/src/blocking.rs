//! Blocking work off the async threads that notices when nobody waits for it any more.

use std::sync::{Arc, Weak};

use crate::ToolError;

/// Whoever waits for a piece of blocking work. The gate cancels a call by dropping its future.
pub(crate) struct Caller(Weak<()>);

impl Caller {
    /// Go on only if somebody still waits. Asked before the point of no return, so a cancelled
    /// call changes nothing.
    pub(crate) fn still_waits(&self) -> Result<(), ToolError> {
        if self.0.strong_count() > 0 {
            return Ok(());
        }
        Err(ToolError::refused("the call was cancelled; nothing was changed"))
    }
}

/// Run `work` on a thread where it may block. `hold` (a permit, a lock) is released when the work
/// has ended, not when the caller stops waiting.
pub(crate) async fn run<T: Send + 'static>(
    hold: impl Send + 'static,
    work: impl FnOnce(&Caller) -> Result<T, ToolError> + Send + 'static,
) -> Result<T, ToolError> {
    let waiting = Arc::new(());
    let caller = Caller(Arc::downgrade(&waiting));
    let thread = tokio::task::spawn_blocking(move || {
        let _hold = hold;
        caller.still_waits()?;
        work(&caller)
    });
    let result = thread.await;
    drop(waiting);
    result.unwrap_or_else(|panic| Err(ToolError::internal(panic)))
}
