//! Being told to end.

use std::io;

/// SIGTERM, SIGINT (Ctrl-C) and SIGHUP (the terminal is gone), from the moment that this exists:
/// one that comes while the tools are being opened is not lost, and what they laid out is removed.
#[derive(Debug)]
pub struct Signals {
    #[cfg(unix)]
    kinds: [tokio::signal::unix::Signal; 3],
}

impl Signals {
    /// From now on.
    ///
    /// # Errors
    ///
    /// If the system gives no way to learn of them.
    pub fn listen() -> io::Result<Self> {
        #[cfg(unix)]
        {
            use tokio::signal::unix::{SignalKind, signal};
            let kinds = [SignalKind::terminate(), SignalKind::interrupt(), SignalKind::hangup()];
            let [terminate, interrupt, hangup] = kinds.map(signal);
            Ok(Self { kinds: [terminate?, interrupt?, hangup?] })
        }
        #[cfg(not(unix))]
        Ok(Self {})
    }

    /// Resolves when one came since the last time.
    pub(crate) async fn next(&mut self) {
        #[cfg(unix)]
        {
            let [terminate, interrupt, hangup] = &mut self.kinds;
            tokio::select! {
                _ = terminate.recv() => {}
                _ = interrupt.recv() => {}
                _ = hangup.recv() => {}
            }
        }
        #[cfg(not(unix))]
        let _ = tokio::signal::ctrl_c().await;
    }
}
