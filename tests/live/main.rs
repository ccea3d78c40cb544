//! Real servers: what `serve` promises, and that a driver finds on it what the model knows.

mod agreement;
mod besides;
mod door;
mod kill;
mod process;
mod refused;
mod streams;
mod taken_back;
mod urls;
