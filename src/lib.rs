//! handlecheck.
pub mod assertion;
pub mod faults;
pub mod handler;
pub mod input;
pub mod model;
pub mod suggest;
pub mod table;
