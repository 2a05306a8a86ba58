//! Prepares the linker for an addon when the bridge to Node is built; the kernel alone needs nothing.

fn main() {
    #[cfg(feature = "node")]
    napi_build::setup();
}
