//! Auditing a log of calls: what it shows, what it can't show, and what follows.
//!
//! A history is judged as Elle does it (Kingsbury and Alvaro, *Elle: Inferring Isolation Anomalies from Experimental
//! Observations*, VLDB 2020): the order of versions is *recovered* from what clients saw, never guessed; a call whose
//! answer was lost may have happened or not, until a later view decides it. Anomalies have the names of Adya (*Weak
//! Consistency: A Generalized Theory and Optimistic Implementations for Distributed Transactions*, MIT 1999) and of
//! Berenson et al. (*A Critique of ANSI SQL Isolation Levels*, SIGMOD 1995).

pub mod case;
pub mod checks;
pub mod conditions;
pub mod cycles;
pub mod effects;
pub mod evidence;
pub mod gone;
pub mod graph;
pub mod history;
pub mod mapping;
pub mod of_trace;
pub mod picture;
pub mod report;

pub use case::{Case, Finding, Judged};
pub use checks::{CHECKS, Check};
