//! `KEEL_LOG=error|warn|info|debug|trace` prints the kernel's spans and events to stderr.

use std::sync::Once;

use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::fmt::format::FmtSpan;

/// Reads the variable once per process; without it nothing is installed, and tracing costs a branch.
#[expect(
    clippy::disallowed_methods,
    reason = "the one variable that is read; it decides what is printed and nothing else"
)]
pub fn init() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let Some(level) = std::env::var("KEEL_LOG").ok().and_then(|level| level.parse::<LevelFilter>().ok()) else {
            return;
        };
        let installed = tracing_subscriber::fmt()
            .with_max_level(level)
            .with_span_events(FmtSpan::NEW | FmtSpan::CLOSE)
            .with_writer(std::io::stderr)
            .try_init();
        if let Err(error) = installed {
            tracing::warn!(%error, "KEEL_LOG has no effect: another subscriber is installed");
        }
    });
}
