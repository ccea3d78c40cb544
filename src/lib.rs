//! handlecheck.
pub mod faults;
pub mod handler;
pub mod model;
pub mod table;
