//! The balancer forgets where it brought requests before.
//!
//! It strikes what a balancer remembers: the node of a client (`balancer = "sticky"`), or that of a handle (`"by-handle"`),
//! but not where a handle lives in the memory of a node. The next request goes to any node, and the balancer stays with
//! that. So it is when nodes are added or taken away and clients are spread anew, or when a cookie expires. Nothing that a
//! node remembers goes with a client.

use super::{Fault, Strike, Strikes, one_part};
use crate::action::Target;
use crate::engine::Access;
use crate::handler::Programs;
use crate::world::{Component, Fact, Handle, Request, Setting};

pub static FAULT: Fault = Fault { strikes: Strikes::Routes, targets, parts: one_part, strike };

fn targets(setting: &Setting, _: &Programs, access: &Access<'_, Component>, index: usize) -> Vec<Target> {
    let index = u8::try_from(index).expect("there are few clients, and few resources");
    let handle = |instance: u8| Handle { resource: index, instance };
    if let Some((slot, place)) = setting.route(&Request::read(index, 0, None)) {
        let goes = access.get(slot).route()[place].is_some();
        return goes.then_some(Target::Agent(index)).into_iter().collect();
    }
    let Some((slot, _)) = setting.route(&Request::read(0, index, Some(handle(0)))) else { return Vec::new() };
    let places = (0..).zip(access.get(slot).route());
    places.filter(|(_, node)| node.is_some()).map(|(instance, _)| Target::Handle(handle(instance))).collect()
}

fn strike(strike: &mut Strike<'_, '_>, target: Target, _: usize) -> Vec<Fact> {
    let (request, least) = match target {
        Target::Agent(agent) => (Request::read(agent, 0, None), 1),
        Target::Handle(handle) => (Request::read(0, handle.resource, Some(handle)), 0),
        _ => unreachable!("clients and handles have routes"),
    };
    let (slot, place) = strike.setting.route(&request).expect("the balancer remembers it");
    let mut routes = strike.access.get(slot).route().clone();
    routes[place] = None;
    // As if it had never been.
    while routes.len() > least && routes.last() == Some(&None) {
        routes.pop();
    }
    strike.access.set(slot, Component::Route(routes));
    Vec::new()
}
