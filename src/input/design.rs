//! Design files: `[server]`, its handlers, `[server.keys]`, `[client]`.

use std::collections::BTreeMap;

use crate::model::design::{AfterStoreError, ClaimAfterError, OnStoreError, Place, ReadsFrom};
use crate::model::{Design, Keys, Server, Tool};

use super::client::client;
use super::diagnostic::InputError;
use super::expect::expectations;
use super::handler::handler;
use super::protocol::heading;
use super::reader::{Item, Table, read};
use super::report::Spot;
use super::words::Word;
use super::{Input, Source};
use crate::suggest::one_of;

/// Reads a design.
///
/// # Errors
///
/// Everything that is wrong with the text, each with its place.
pub fn read_design(source: &Source) -> Result<Input<Design>, InputError> {
    read(source, |table| {
        let (title, about) = heading(table, &source.name);
        let server_table = table.require("server").and_then(Item::table);
        let server = server_table.as_ref().map(|server_table| {
            let keys = server_table.table("keys").map(|keys_table| keys(&keys_table)).unwrap_or_default();
            let server = server(server_table);
            server_table.finish();
            (server, keys)
        });
        let (client, client_tools) = client(table);
        let expect = expectations(table, "scenario", None);
        table.finish();

        let (server, keys) = server?;
        let mut design = Design { name: source.name.clone(), title, about, server, keys, client, client_tools, expect };
        if let Some(table) = &server_table {
            cache_by_itself(table, &mut design);
        }
        Some(design)
    })
}

fn server(table: &Table<'_>) -> Server {
    let default = Server::default();
    Server {
        state: table.word("state").unwrap_or(default.state),
        balancer: table.word("balancer").unwrap_or(default.balancer),
        queue: table.word("queue").unwrap_or(default.queue),
        calls: table.word("calls").unwrap_or(default.calls),
        handles: table.word("handles").unwrap_or(default.handles),
        owner_is: table.get("owner-is").and_then(|item| {
            item.nonempty_list("part of a principal")?;
            item.words("`owner-is` can't have")
        }),
        foreign: table.word("foreign").unwrap_or(default.foreign),
        identity: table.word("identity").unwrap_or(default.identity),
        replies: table.word("replies").unwrap_or(default.replies),
        lost_reply: table.word("lost-reply").unwrap_or(default.lost_reply),
        taken_name: table.word("taken-name").unwrap_or(default.taken_name),
        name_scope: table.words("name-scope").unwrap_or(default.name_scope),
        versions: table.word("versions").unwrap_or(default.versions),
        version_required: table.get("version-required").and_then(Item::boolean).unwrap_or(default.version_required),
        reads_from: table.word("reads-from").unwrap_or(default.reads_from),
        cache_place: table.word("cache-place").unwrap_or(default.cache_place),
        cache_scope: table.words("cache-scope").unwrap_or(default.cache_scope),
        lease_place: table.word("lease-place").unwrap_or(default.lease_place),
        fence_seen: table.word("fence-seen").unwrap_or(default.fence_seen),
        lease_names: table.word("lease-names").unwrap_or(default.lease_names),
        on_cancel: table.word("on-cancel").unwrap_or(default.on_cancel),
        new_fields: table.word("new-fields").unwrap_or(default.new_fields),
        on_store_error: table.get("on-store-error").and_then(on_store_error).unwrap_or(default.on_store_error),
        tools: handlers(table),
    }
}

/// With `reads-from = "node-cache"`, `read` is a whole cache by itself, and at the node.
fn cache_by_itself(table: &Table<'_>, design: &mut Design) {
    let Some(reads_from) = table.get("reads-from").filter(|_| design.server.reads_from == ReadsFrom::NodeCache) else {
        return;
    };
    let help = || Some(BY_STEPS.to_owned());
    if let Some(place) = table.get("cache-place").filter(|_| design.server.cache_place == Place::Store) {
        place.complain("the cache is in two places", "`reads-from = \"node-cache\"` puts it at the node", help());
    }
    if design.has_cache_steps() {
        let label = "with this, `read` works with the cache by itself";
        reads_from.complain("a handler works with the cache, too", label, help());
    }
    design.server.cache_place = Place::Node;
}

/// What to write where `reads-from = "node-cache"` does not say enough.
const BY_STEPS: &str = "leave `reads-from` out, and put `find-cached` before `read` and `fill-cache` behind it";

fn handlers(table: &Table<'_>) -> BTreeMap<Tool, crate::model::Handler> {
    let mut handlers = BTreeMap::new();
    let mut any = false;
    for &tool in Tool::ALL {
        let Some(item) = table.get(tool.name()) else { continue };
        any = true;
        if let Some(handler) = item.table().and_then(|table| handler(&table, tool)) {
            handlers.insert(tool, handler);
        }
    }
    if !any {
        let help = "a handler is a table `[server.TOOL]` with `transactions`".to_owned();
        let label = format!("expected a table for {}", one_of(Tool::words()));
        table.complain("this server has no handler", label, Some(help));
    }
    handlers
}

/// One word says what the handler does; a list says besides what becomes of the claim.
fn on_store_error(item: Item<'_>) -> Option<OnStoreError> {
    let default = Server::default().on_store_error;
    if item.value().is_str() {
        let then = item.word("`on-store-error` can't be")?;
        return Some(OnStoreError { then, ..default });
    }
    if !item.value().is_array() {
        return item.wrong_kind("a word, or a list of two");
    }
    let (mut then, mut claim) = (None, None);
    let words: Vec<&str> = [AfterStoreError::words(), ClaimAfterError::words()].concat();
    item.each(|element, _: &[()]| {
        let text = element.string()?;
        let twice = if let Some(word) = AfterStoreError::named(text) {
            then.replace(word).is_some()
        } else if let Some(word) = ClaimAfterError::named(text) {
            claim.replace(word).is_some()
        } else {
            return element.not_among(format!("`on-store-error` can't have `{text}`"), text, &words);
        };
        if twice {
            let label = "the list already says this otherwise";
            return element.refuse_in_place("one of two that exclude each other", label, None);
        }
        Some(())
    })?;
    Some(OnStoreError { then: then.unwrap_or(default.then), claim: claim.unwrap_or(default.claim) })
}

fn keys(table: &Table<'_>) -> Keys {
    let default = Keys::default();
    let keys = Keys {
        place: table.word("place").unwrap_or(default.place),
        scope: table.words("scope").unwrap_or(default.scope),
        fingerprint: table.words("fingerprint").unwrap_or(default.fingerprint),
        other_payload: table.word("other-payload").unwrap_or(default.other_payload),
        record: table.word("record").unwrap_or(default.record),
        taken: table.word("taken").unwrap_or(default.taken),
        claim_names: table.word("claim-names").unwrap_or(default.claim_names),
        expire: table.get("expire").and_then(Item::boolean).unwrap_or(default.expire),
        claims_expire: table.get("claims-expire").and_then(Item::boolean).unwrap_or(default.claims_expire),
    };
    table.finish();
    keys
}
