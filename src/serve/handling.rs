//! What a step sees: one call, and the databases that its transaction works on.

use std::collections::BTreeSet;

use rusqlite::{OptionalExtension, params};
use serde::{Deserialize, Serialize};

use super::answer::Answer;
use super::caller::Caller;
use super::changing::changed;
use super::places::{self, Instance, Places, Superseded, from_json, json, stored};
use super::progress::{Order, Passed, Progress, Stop};
use super::request::{Also, CONTENT_BYTES, Fields, Operation, Payload, Request, Stamp};
use super::signed::Carried;
use crate::model::design::{
    ClaimNames, FingerprintPart, Identity, NewFields, Place, ReadsFrom, ScopePart, State, Versions,
};
use crate::model::{Design, Outcome, Tool};

/// One call while one of its transactions runs.
pub struct Handling<'h> {
    /// How it is handled.
    pub design: &'h Design,
    /// The databases.
    pub places: &'h Places,
    /// What was asked.
    pub request: &'h Request,
    /// Who asked, by the request's own token.
    pub own: &'h Caller,
    /// The name of this call, unlike that of any other: what a claim names.
    pub attempt: &'h str,
    /// Its name in the journal, where calls are resumed: that of its caller, or else the same.
    pub name: &'h str,
    /// The name of the process.
    pub node: &'h str,
    /// What the handler has done so far.
    pub progress: Progress,
    /// The fields that a program of an older schema does not know.
    pub new_fields: &'h BTreeSet<String>,
    /// What a driver asked for.
    pub order: Order,
    /// It is at the other resource of the call.
    pub at_other: bool,
}

/// What stands under a key.
pub struct Record {
    /// What a claim names; none where the call is done.
    pub claim: Option<String>,
    /// What "the same arguments" was compared by.
    pub fingerprint: String,
    /// Its answer.
    pub answer: Option<Answer>,
}

/// The lease on a handle.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lease {
    /// The agent that holds it.
    pub holder: Option<String>,
    /// The newest fence number that was given out.
    pub given: Option<i64>,
    /// The newest fence number that was presented to a check.
    pub presented: Option<i64>,
}

/// What calls must have in common to share a key table or a cache entry. Parts that the design leaves out are `None`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scope {
    /// The subject of the caller.
    pub subject: Option<String>,
    /// Its client.
    pub client: Option<String>,
    /// Its tenant.
    pub tenant: Option<String>,
    /// The name of its credential.
    pub credential: Option<String>,
    /// The handle that the call names; it may name none.
    pub handle: Option<String>,
    /// The tool that is called.
    pub tool: Option<String>,
}

/// Under which name the memory of the process keeps whoever called last.
const LAST_CALLER: &str = "caller";

/// A call arrives: what the process remembers of it, where handlers look up the caller late.
pub(super) fn arrive(design: &Design, places: &Places, caller: &Caller) -> rusqlite::Result<()> {
    match design.server.identity {
        Identity::PerRequest => Ok(()),
        Identity::NodeMemory => places::put_note(&places.memory, LAST_CALLER, &json(caller)),
    }
}

/// Where resources live. Where handles carry the state, the store has whose they are, what ended them, and what was written
/// last, for whoever looks.
#[must_use]
pub const fn place_of_state(design: &Design) -> Place {
    match design.server.state {
        State::Store | State::Handle => Place::Store,
        State::Node | State::Session => Place::Node,
    }
}

impl Handling<'_> {
    /// Where resources live.
    #[must_use]
    pub fn state(&self) -> Place {
        place_of_state(self.design)
    }

    /// What the request says of the other resource, while the handler is at that.
    #[must_use]
    pub fn other(&self) -> Option<&Also> {
        self.request.also.as_ref().filter(|_| self.at_other)
    }

    /// The handle of what the handler is at: that of the request, or of what it minted; or the request's other one.
    #[must_use]
    pub fn handle(&self) -> Option<&str> {
        self.other().map_or_else(|| self.own_handle(), |other| Some(&other.handle))
    }

    /// The handle that the call is about: that of the request, or of what it minted.
    #[must_use]
    pub fn own_handle(&self) -> Option<&str> {
        self.progress.answer.handle.as_deref().or(self.request.handle.as_deref())
    }

    /// As whom the call runs: as whoever asked, or as whoever asked this process last.
    ///
    /// # Errors
    ///
    /// When the memory fails.
    pub fn caller(&self) -> Result<Caller, Stop> {
        if self.design.server.identity == Identity::PerRequest {
            return Ok(self.own.clone());
        }
        let last = places::note(&self.places.memory, LAST_CALLER)?;
        Ok(last.map(|last| from_json(&last)).transpose()?.unwrap_or_else(|| self.own.clone()))
    }

    /// What a handle names here.
    ///
    /// # Errors
    ///
    /// When the store fails.
    pub fn instance_of(&self, handle: &str) -> Result<Option<Instance>, Stop> {
        let found = places::instance(self.places.at(self.state()), handle)?;
        // Without a session there is nothing of a session's.
        Ok(found.filter(|found| found.session.is_none() || found.session == self.own.session))
    }

    /// What the call's handle names, as it carries it where it does.
    ///
    /// # Errors
    ///
    /// The end of the call with `not-found`, when it names nothing here.
    pub fn existing(&self) -> Result<Instance, Stop> {
        let mut instance = self.there()?;
        if let Some(carried) = self.carried() {
            instance.version = carried.version;
            instance.content.clone_from(&carried.content);
        }
        Ok(instance)
    }

    /// The state that the call's handle carries, where it carries any.
    fn carried(&self) -> Option<&Carried> {
        self.request.carried.as_ref().filter(|_| self.design.server.state == State::Handle)
    }

    /// What is stored of what the call's handle names.
    fn there(&self) -> Result<Instance, Stop> {
        let found = match self.handle() {
            Some(handle) => self.instance_of(handle)?,
            None => None,
        };
        found.ok_or_else(|| self.refuse(Outcome::NotFound))
    }

    /// Ends the call with a refusal.
    #[must_use]
    pub fn refuse(&self, outcome: Outcome) -> Stop {
        Stop::Answer(Box::new(Answer { outcome, ..Answer::about(self.request.handle.clone()) }))
    }

    /// Writes what the call's handle names.
    ///
    /// # Errors
    ///
    /// When the store fails, or the content is too large.
    pub fn put(&self, instance: &Instance) -> Passed {
        if json(&instance.content).len() > CONTENT_BYTES {
            return Err(Stop::Invalid(format!("a resource holds at most {CONTENT_BYTES} bytes")));
        }
        let handle = self.handle().ok_or_else(|| self.refuse(Outcome::NotFound))?;
        self.put_at(handle, instance)
    }

    /// Writes what a handle names.
    ///
    /// # Errors
    ///
    /// When the store fails.
    pub fn put_at(&self, handle: &str, instance: &Instance) -> Passed {
        Ok(places::put_instance(self.places.at(self.state()), handle, instance)?)
    }

    /// Writes the operation over this content, or the content that was sent; or ends the resource.
    ///
    /// # Errors
    ///
    /// `not-found` when there is no such resource; when the store fails, or the change does not fit.
    pub fn write(&mut self, base: Fields) -> Passed {
        let (operation, payload) = self.asked();
        self.write_payload(base, operation, &payload)
    }

    /// The same with one change of those that were sent, if there are several.
    ///
    /// # Errors
    ///
    /// As [`Handling::write`].
    pub fn write_part(&mut self, base: Fields, part: usize) -> Passed {
        let (operation, payload) = self.asked();
        let part = match &*payload {
            Payload::Change(change) => {
                let one = change.iter().nth(part).map(|(name, value)| (name.clone(), value.clone()));
                Payload::Change(one.into_iter().collect())
            }
            whole => whole.clone(),
        };
        self.write_payload(base, operation, &part)
    }

    fn write_payload(&mut self, base: Fields, operation: &Operation, payload: &Payload) -> Passed {
        let mut instance = self.existing()?;
        self.note_before(&instance);
        if self.design.server.reads_from == ReadsFrom::Replica {
            let Instance { version, content, .. } = self.there()?;
            instance.superseded = Some(Superseded { version, content: Some(content), at: self.now()? });
        }
        instance.content = match payload {
            Payload::Content(content) if operation.changes_fields() => content.clone(),
            Payload::Change(change) => changed(base, operation.name, change).map_err(Stop::Invalid)?,
            Payload::Content(_) | Payload::Nothing => base,
        };
        if operation.changes_fields() {
            self.drop_new_fields(&mut instance.content);
        }
        let ended = match operation.tool {
            Tool::Close => Some("closed"),
            Tool::Execute => Some("executed"),
            Tool::Delete => Some("deleted"),
            Tool::Mint | Tool::Read | Tool::Write | Tool::Approve => None,
        };
        if let Some(ended) = ended {
            instance.lifecycle = ended.to_owned();
        }
        if let (Tool::Approve, Payload::Content(viewed)) = (operation.tool, payload) {
            instance.approved = Some(viewed.clone());
        }
        self.put(&instance)?;
        self.carry(&instance);
        Ok(())
    }

    /// Where handles carry the state, the answer's carries this.
    pub fn carry(&mut self, instance: &Instance) {
        if self.design.server.state == State::Handle {
            let (version, content) = (instance.version, instance.content.clone());
            self.progress.answer.carried = Some(Carried { version, content });
        }
    }

    /// Leaves out the fields that this program does not know, where it knows an older schema.
    pub fn drop_new_fields(&self, content: &mut Fields) {
        if self.design.server.new_fields == NewFields::Dropped {
            content.retain(|name, _| !self.new_fields.contains(name));
        }
    }

    /// The machine's clock, in seconds.
    ///
    /// # Errors
    ///
    /// When the memory fails.
    pub fn now(&self) -> Result<f64, Stop> {
        Ok(self.places.memory.query_row("SELECT unixepoch('subsec')", [], |row| row.get(0))?)
    }

    /// Advances the version, and puts it into the answer.
    ///
    /// # Errors
    ///
    /// `not-found` when there is no such resource; when the store fails.
    pub fn advance(&mut self) -> Passed {
        let (mut instance, version) = (self.there()?, self.existing()?.version);
        instance.version = self.next_version(version)?;
        self.put(&instance)?;
        if let Some(Also { handle, .. }) = self.other() {
            self.progress.answer.also = Some(Stamp { handle: handle.clone(), version: instance.version });
            return Ok(());
        }
        self.carry(&instance);
        self.progress.answer.version = Some(instance.version);
        Ok(())
    }

    /// The version behind this one.
    ///
    /// # Errors
    ///
    /// When the memory fails.
    pub fn next_version(&self, version: i64) -> Result<i64, Stop> {
        Ok(match (self.design.server.versions, self.order.clock_ticks) {
            (Versions::Counter | Versions::PerIncarnation, _) | (Versions::CoarseClock, Some(true)) => version + 1,
            (Versions::CoarseClock, Some(false)) => version,
            (Versions::CoarseClock, None) => {
                let now = self.places.memory.query_row("SELECT unixepoch()", [], |row| row.get::<_, i64>(0))?;
                version.max(now)
            }
        })
    }

    /// Where the call looks in the read cache, and what else would look there: reads of the same handle. (Where `read` itself
    /// looks in the cache, it may do so for another tool.)
    ///
    /// # Errors
    ///
    /// When the memory fails.
    pub fn cache_scope(&self) -> Result<String, Stop> {
        let parts = &self.design.server.cache_scope;
        let handle = self.handle().filter(|_| parts.contains(&ScopePart::Handle)).map(str::to_owned);
        let by_tool = self.design.server.reads_from == ReadsFrom::NodeCache;
        let tool = if by_tool { self.request.operation.tool } else { Tool::Read };
        let read = parts.contains(&ScopePart::Tool).then(|| tool.name().to_owned());
        Ok(json(&Scope { handle, tool: read, ..self.shared(parts)? }))
    }

    /// Which calls share a key table with this one.
    ///
    /// # Errors
    ///
    /// When the memory fails.
    pub fn scope(&self, parts: &[ScopePart]) -> Result<String, Stop> {
        Ok(json(&self.shared(parts)?))
    }

    fn shared(&self, parts: &[ScopePart]) -> Result<Scope, Stop> {
        let caller = self.caller()?;
        let has = |part: ScopePart| parts.contains(&part);
        // A credential belongs to one principal.
        let whole = has(ScopePart::Principal) || has(ScopePart::Credential);
        Ok(Scope {
            subject: Some(caller.subject).filter(|_| whole || has(ScopePart::Subject)),
            client: caller.client.filter(|_| whole || has(ScopePart::Client)),
            tenant: caller.tenant.filter(|_| whole || has(ScopePart::Tenant)),
            credential: Some(caller.credential).filter(|_| has(ScopePart::Credential)),
            handle: self.request.handle.clone().filter(|_| has(ScopePart::Handle)),
            tool: has(ScopePart::Tool).then(|| self.request.operation.tool.name().to_owned()),
        })
    }

    /// The scope and the key of the call; none for a request without a key.
    ///
    /// # Errors
    ///
    /// When the memory fails.
    pub fn key(&self) -> Result<Option<(String, &str)>, Stop> {
        match self.request.key.as_deref() {
            None => Ok(None),
            Some(key) => Ok(Some((self.scope(&self.design.keys.scope)?, key))),
        }
    }

    /// What stands under the call's key.
    ///
    /// # Errors
    ///
    /// When the store fails.
    pub fn record(&self, scope: &str, key: &str) -> Result<Option<Record>, Stop> {
        let connection = self.places.at(self.design.keys.place);
        let mut statement =
            connection.prepare_cached("SELECT claim, fingerprint, answer FROM keys WHERE scope = ? AND key = ?")?;
        let row = statement.query_row(params![scope, key], |row| {
            let answer: Option<String> = row.get(2)?;
            Ok(Record {
                claim: row.get(0)?,
                fingerprint: row.get::<_, Option<String>>(1)?.unwrap_or_default(),
                answer: answer.as_deref().map(from_json).transpose()?,
            })
        });
        Ok(row.optional()?)
    }

    /// Writes a claim, or else the answer, under the call's key.
    ///
    /// # Errors
    ///
    /// When the store fails.
    pub fn put_record(&self, scope: &str, key: &str, claim: Option<&str>, answer: Option<&Answer>) -> Passed {
        let connection = self.places.at(self.design.keys.place);
        let fingerprint = answer.map(|_| self.fingerprint());
        connection.prepare_cached("INSERT OR REPLACE INTO keys VALUES (?, ?, ?, ?, ?)")?.execute(params![
            scope,
            key,
            claim,
            fingerprint,
            answer.map(json)
        ])?;
        Ok(())
    }

    /// Removes what stands under the call's key.
    ///
    /// # Errors
    ///
    /// When the store fails.
    pub fn remove_record(&self, scope: &str, key: &str) -> Passed {
        let connection = self.places.at(self.design.keys.place);
        connection.prepare_cached("DELETE FROM keys WHERE scope = ? AND key = ?")?.execute(params![scope, key])?;
        Ok(())
    }

    /// What a claim of this call names.
    #[must_use]
    pub fn claim(&self) -> String {
        match self.design.keys.claim_names {
            ClaimNames::Attempt => self.attempt.to_owned(),
            ClaimNames::Nothing => String::new(),
        }
    }

    /// What the arguments of the call are compared by.
    #[must_use]
    pub fn fingerprint(&self) -> String {
        let has = |part: FingerprintPart| self.design.keys.fingerprint.contains(&part);
        let request = self.request;
        // How a change is to be taken belongs to it; a whole content says all.
        let change = matches!(request.payload, Payload::Change(_)).then_some(request.operation.name);
        let own = json(&(
            has(FingerprintPart::Operation).then(|| (request.operation.tool.name(), change, &request.payload)),
            has(FingerprintPart::Handle).then_some(&request.handle),
            has(FingerprintPart::ExpectedVersion).then_some(&request.expected),
        ));
        let other = request.also.as_ref().filter(|_| has(FingerprintPart::Operation));
        other.map_or(own.clone(), |also| json(&(own, also.operation.name, &also.handle, &also.change)))
    }

    /// The lease on the call's handle.
    ///
    /// # Errors
    ///
    /// When the store fails.
    pub fn lease(&self) -> Result<Lease, Stop> {
        let Some(handle) = self.handle() else { return Ok(Lease::default()) };
        let connection = self.places.at(self.design.server.lease_place);
        let mut statement =
            connection.prepare_cached("SELECT holder, given, presented FROM leases WHERE handle = ?")?;
        let row = statement.query_row(params![handle], |row| {
            Ok(Lease { holder: row.get(0)?, given: row.get(1)?, presented: row.get(2)? })
        });
        Ok(row.optional()?.unwrap_or_default())
    }

    /// Replaces the lease on the call's handle.
    ///
    /// # Errors
    ///
    /// When the store fails.
    pub fn put_lease(&self, lease: &Lease) -> Passed {
        let Some(handle) = self.handle() else { return Ok(()) };
        let connection = self.places.at(self.design.server.lease_place);
        let Lease { holder, given, presented } = lease;
        let mut statement = connection.prepare_cached("INSERT OR REPLACE INTO leases VALUES (?, ?, ?, ?)")?;
        statement.execute(params![handle, holder, given, presented])?;
        Ok(())
    }

    /// Causes the external effect, whatever becomes of the transaction.
    ///
    /// # Errors
    ///
    /// When the upstream fails.
    pub fn call_upstream(&self) -> Passed {
        let request = self.request;
        let principal = json(&stored(&self.own.principal()));
        self.places.upstream.execute(
            "INSERT INTO effects (principal, operation, handle, payload, key) VALUES (?, ?, ?, ?, ?)",
            params![principal, request.operation.name, request.handle, json(&request.payload), request.key],
        )?;
        Ok(())
    }
}
