//! Tests of the kernel, below Node.

mod normalize;
mod schema;
