//! What `serve` does, where the feature `live` is built in.

use std::io::Write;
use std::path::Path;

use tokio_util::sync::CancellationToken;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use super::super::{Failure, Terminal, exit};
use super::{Arguments, Level};
use crate::input::{self, Kind};
use crate::model::design::State;
use crate::model::{Design, Scenario};
use crate::run::invariant_names;
use crate::serve::{self, Door, Tokens};

pub(in crate::cli) fn run(arguments: &Arguments, _: Terminal, _: &mut String) -> Result<u8, Failure> {
    let usage = Failure::Usage;
    if !arguments.listen.ip().is_loopback() && arguments.hosts.is_empty() {
        return Err(usage(format!(
            "to listen on {} say with --allow-host under which name it is reached",
            arguments.listen
        )));
    }
    if let Some(hook) = arguments.hook.filter(|hook| !hook.ip().is_loopback()) {
        return Err(usage(format!("the hook listens on this machine only, and {hook} is not")));
    }
    let scenario = match &arguments.scenario {
        None => None,
        Some(name) => {
            let source = input::resolve(Kind::Scenario, name, None)?;
            Some(input::read_scenario(&source, &invariant_names())?.value)
        }
    };
    let design = served(&arguments.design, scenario.as_ref())?;
    let deployed = arguments.deploy.as_deref().map(|name| served(name, scenario.as_ref())).transpose()?;
    let tokens = tokens(&arguments.tokens, scenario.as_ref())?;
    let lines = tracing_subscriber::fmt::layer()
        .json()
        .flatten_event(true)
        .with_target(false)
        .with_current_span(false)
        .with_span_list(false)
        .with_writer(std::io::stderr);
    let level = match arguments.log {
        Level::Error => tracing::Level::ERROR,
        Level::Warn => tracing::Level::WARN,
        Level::Info => tracing::Level::INFO,
        Level::Debug => tracing::Level::DEBUG,
    };
    // Of the SDK, what it warns of.
    let of_whom = Targets::new().with_default(tracing::Level::WARN.min(level)).with_target("handlecheck", level);
    tracing_subscriber::registry().with(lines).with(of_whom).init();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(serve_until_told(arguments, (design, deployed), scenario.as_ref(), tokens))?;
    Ok(exit::HOLDS)
}

/// A design that can be served.
fn served(name: &str, scenario: Option<&Scenario>) -> Result<Design, Failure> {
    let design = input::read_design(&input::resolve(Kind::Design, name, None)?)?.value;
    let refusals = serve::refusals(&design, scenario);
    if !refusals.is_empty() {
        let refusals: Vec<String> = refusals.iter().map(|why| format!("\n  {why}")).collect();
        return Err(Failure::Usage(format!("the design `{}` can't be served:{}", design.name, refusals.concat())));
    }
    Ok(design)
}

async fn serve_until_told(
    arguments: &Arguments,
    designs: (Design, Option<Design>),
    scenario: Option<&Scenario>,
    tokens: Tokens,
) -> Result<(), Failure> {
    let wrong = |error: serve::ServeError| Failure::Usage(error.to_string());
    let node = serve::node(designs, arguments.node.clone(), &arguments.store, scenario, arguments.hook.is_some());
    let node = node.map_err(wrong)?;
    let stop = CancellationToken::new();
    tokio::spawn(told_to_stop(stop.clone()));
    if arguments.stdio {
        #[expect(clippy::disallowed_methods, reason = "over standard input and output a token has no other way in")]
        let token = std::env::var("HANDLECHECK_TOKEN").unwrap_or_default();
        let caller = tokens.caller(&token).cloned();
        let caller = caller
            .ok_or_else(|| Failure::Usage("HANDLECHECK_TOKEN holds no token that the tokens file has".to_owned()))?;
        return serve::over_stdio(node, caller, stop).await.map_err(wrong);
    }
    let (listener, at) = serve::listen(arguments.listen).await.map_err(wrong)?;
    let hook = match arguments.hook {
        None => None,
        Some(hook) => Some(serve::listen(hook).await.map_err(wrong)?),
    };
    let (hook, hook_at) = hook.unzip();
    let url = format!("http://{at}{}", serve::PATH);
    tracing::info!(url, node = arguments.node, design = node.design().name, "listening");
    let mut line = serde_json::json!({ "url": url, "hook": hook_at.map(|at| format!("http://{at}")) });
    if node.design().server.state == State::Handle {
        let initial = scenario.iter().flat_map(|scenario| &scenario.resources);
        let signed = initial.filter_map(|resource| {
            let name = resource.handle.as_ref()?;
            Some((name.clone(), node.sign(name, &serve::at_start(resource)).into()))
        });
        line["handles"] = serde_json::Value::Object(signed.collect());
    }
    writeln!(std::io::stdout(), "{line}")?;
    let door = Door {
        tokens,
        hosts: arguments.hosts.clone(),
        origins: arguments.origins.clone(),
        bounds: serve::Bounds::default(),
    };
    serve::over_http(node, listener, door, hook, stop).await;
    Ok(())
}

/// Stops on an interrupt, and where there is such a thing on SIGTERM.
async fn told_to_stop(stop: CancellationToken) {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        if let Ok(mut terminate) = signal(SignalKind::terminate()) {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = tokio::signal::ctrl_c() => {}
            }
            return stop.cancel();
        }
    }
    let _ = tokio::signal::ctrl_c().await;
    stop.cancel();
}

/// Reads the tokens file; makes one for the agents of a scenario where there is none.
fn tokens(path: &Path, scenario: Option<&Scenario>) -> Result<Tokens, Failure> {
    if let Some(scenario) = scenario.filter(|_| !path.exists()) {
        make_tokens(path, scenario)?;
    }
    Tokens::read(path).map_err(|why| Failure::Usage(format!("{}: {why}", path.display())))
}

/// Writes a tokens file for the agents of a scenario. Of several processes that do so at a time one wins.
fn make_tokens(path: &Path, scenario: &Scenario) -> Result<(), Failure> {
    let text = serve::tokens_of(scenario).map_err(|error| Failure::Usage(error.to_string()))?;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(text.as_bytes())?;
    match file.persist_noclobber(path) {
        Ok(_) => Ok(()),
        Err(_) if path.exists() => Ok(()),
        Err(error) => Err(error.error.into()),
    }
}
