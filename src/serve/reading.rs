//! Reads, of the store, of a copy that lags behind it, and of a cache.

use rusqlite::{OptionalExtension, params};

use super::answer::View;
use super::handling::Handling;
use super::places::{Instance, Superseded, from_json, json};
use super::progress::{Passed, Stop};
use crate::model::design::ReadsFrom;
use crate::model::{Outcome, Tool};

pub(super) fn read(handling: &mut Handling<'_>) -> Passed {
    let instance = handling.existing()?;
    let old = lagging(handling, &instance)?;
    let in_cache = handling.design.server.reads_from == ReadsFrom::NodeCache;
    if in_cache && let Some((handle, view)) = cached(handling)? {
        handling.progress.answer.handle = Some(handle);
        show(handling, view);
        return Ok(());
    }
    let mut view = View { version: instance.version, content: instance.content, fence: handling.progress.grant };
    if in_cache {
        fill(handling, &view)?;
    }
    match old {
        Some(Superseded { content: None, .. }) if handling.request.operation.tool == Tool::Read => {
            return Err(handling.refuse(Outcome::NotFound));
        }
        Some(Superseded { version, content: Some(content), .. }) => view = View { version, content, ..view },
        Some(_) | None => {}
    }
    show(handling, view);
    Ok(())
}

/// What the copy that is read from has of a resource, where it lags behind.
pub(super) fn lagging(handling: &Handling<'_>, instance: &Instance) -> Result<Option<Superseded>, Stop> {
    let replica = handling.design.server.reads_from == ReadsFrom::Replica;
    let Some(old) = instance.superseded.clone().filter(|_| replica) else { return Ok(None) };
    let lags = handling.order.lags.map_or_else(|| Ok(handling.now()? - old.at < LAG_SECONDS), Ok::<_, Stop>)?;
    Ok(Some(old).filter(|_| lags))
}

/// What the program does not know is not in its answer.
fn show(handling: &mut Handling<'_>, mut view: View) {
    handling.drop_new_fields(&mut view.content);
    handling.progress.answer.view = Some(view);
}

pub(super) fn find_cached(handling: &mut Handling<'_>) -> Passed {
    let Some((handle, view)) = cached(handling)? else { return Ok(()) };
    handling.progress.answer.handle = Some(handle);
    show(handling, view);
    Err(Stop::Answer(Box::new(handling.progress.answer.clone())))
}

/// What the cache holds where this call looks: of what, and the copy.
fn cached(handling: &Handling<'_>) -> Result<Option<(String, View)>, Stop> {
    let scope = handling.cache_scope()?;
    let cache = handling.places.at(handling.design.server.cache_place);
    let mut find = cache.prepare_cached("SELECT handle, view FROM cache WHERE scope = ?")?;
    let copy = |row: &rusqlite::Row<'_>| Ok((row.get::<_, String>(0)?, from_json::<View>(&row.get::<_, String>(1)?)?));
    Ok(find.query_row(params![scope], copy).optional()?)
}

pub(super) fn fill_cache(handling: &mut Handling<'_>) -> Passed {
    handling.progress.answer.view.as_ref().map_or(Ok(()), |view| fill(handling, view))
}

fn fill(handling: &Handling<'_>, view: &View) -> Passed {
    let (scope, handle) = (handling.cache_scope()?, handling.handle().unwrap_or_default());
    let cache = handling.places.at(handling.design.server.cache_place);
    let mut fill = cache.prepare_cached("INSERT OR REPLACE INTO cache VALUES (?, ?, ?)")?;
    fill.execute(params![scope, handle, json(view)])?;
    Ok(())
}

pub(super) fn fill_cache_if_newer(handling: &mut Handling<'_>) -> Passed {
    let Some(view) = &handling.progress.answer.view else { return Ok(()) };
    let as_new = |(handle, copy): (String, View)| Some(&*handle) == handling.handle() && copy.version >= view.version;
    if cached(handling)?.is_some_and(as_new) { Ok(()) } else { fill_cache(handling) }
}

pub(super) fn drop_cached(handling: &mut Handling<'_>) -> Passed {
    let scope = handling.cache_scope()?;
    let cache = handling.places.at(handling.design.server.cache_place);
    cache.prepare_cached("DELETE FROM cache WHERE scope = ?")?.execute(params![scope])?;
    Ok(())
}

/// How long the copy that is read from lags behind the store, where no driver says otherwise.
const LAG_SECONDS: f64 = 0.2;
