//! Other checkers, where they are installed.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::measure::Measured;
use crate::promela::{Size, promela};

/// SPIN's verifier of the basket, compiled.
pub struct Spin {
    folder: tempfile::TempDir,
}

impl Spin {
    /// Generates and compiles it; `None` where there is no SPIN or no C compiler. `reduced`: with its partial-order reduction.
    pub fn compile(size: Size, reduced: bool) -> Option<Self> {
        let folder = tempfile::tempdir().expect("a folder can be made");
        std::fs::write(folder.path().join("basket.pml"), promela(size)).expect("a file can be written");
        let done = |program: &str, arguments: &[&str]| {
            let output = Command::new(program).args(arguments).current_dir(folder.path()).output();
            output.is_ok_and(|output| output.status.success())
        };
        let mut compile = vec!["-O2", "-DSAFETY", "-DMEMLIM=16000", "-o", "pan", "pan.c"];
        if !reduced {
            compile.push("-DNOREDUCE");
        }
        (done("spin", &["-a", "-o2", "basket.pml"]) && done("gcc", &compile)).then_some(Self { folder })
    }

    fn verifier(&self) -> Command {
        let mut verifier = Command::new(self.folder.path().join("pan"));
        // A hash table that is large enough from the start, as its manual advises.
        verifier.args(["-m100000", "-w24"]).current_dir(self.folder.path());
        verifier
    }

    /// Runs it once.
    pub fn run(&self) -> Measured {
        let (text, seconds) = timed(&mut self.verifier());
        let value = |behind: &str| {
            let line = text.lines().find(|line| line.contains(behind)).unwrap_or_default();
            line.split_whitespace().next().and_then(|word| word.parse::<f64>().ok()).unwrap_or(0.0)
        };
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "counts and megabytes")]
        let (states, bytes) =
            (value("states, stored") as usize, (value("actual memory usage for states") * 1_048_576.0) as usize);
        Measured { states, complete: true, seconds, bytes }
    }

    /// Whether it ends within this time. It is stopped then.
    pub fn ends_within(&self, most: Duration) -> bool {
        let mut running = self.verifier().stdout(Stdio::null()).spawn().expect("the verifier can be run");
        #[expect(clippy::disallowed_methods, reason = "time is what is measured")]
        let start = std::time::Instant::now();
        while start.elapsed() < most {
            if running.try_wait().expect("it can be waited for").is_some() {
                return true;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        running.kill().expect("it can be stopped");
        running.wait().expect("it can be waited for");
        false
    }
}

/// TLC, with the basket in a folder of its own.
pub struct Tlc {
    folder: tempfile::TempDir,
    jar: PathBuf,
}

impl Tlc {
    /// `None` where `TLC_JAR` does not name its jar, or there is no Java.
    pub fn prepare(size: Size) -> Option<Self> {
        #[expect(clippy::disallowed_methods, reason = "where the jar is differs from machine to machine")]
        let jar = std::env::var_os("TLC_JAR")?;
        let jar = Path::new(&jar).canonicalize().ok()?;
        let java = Command::new("java").arg("-version").output();
        java.ok().filter(|output| output.status.success())?;
        let folder = tempfile::tempdir().expect("a folder can be made");
        let Size { agents, nodes, drops, restarts } = size;
        let bounds = format!(
            "SPECIFICATION Spec\nCONSTANTS\nAgents = {agents}\nNodes = {nodes}\nDrops = {drops}\nRestarts = {restarts}\n\
             INVARIANTS NoLostUpdate NoDoubleWrite\n"
        );
        for (name, text) in [("Basket.tla", include_str!("Basket.tla")), ("Basket.cfg", &bounds)] {
            std::fs::write(folder.path().join(name), text).expect("a file can be written");
        }
        Some(Self { folder, jar })
    }

    /// Runs it once, with so many workers. What it takes is not measured: Java takes what it is given.
    pub fn run(&self, workers: usize) -> Measured {
        let mut checker = Command::new("java");
        checker.args(["-XX:+UseParallelGC", "-cp"]).arg(&self.jar).args(["tlc2.TLC", "-deadlock", "-workers"]);
        let (text, seconds) = timed(checker.arg(workers.to_string()).arg("Basket").current_dir(self.folder.path()));
        let states = text
            .lines()
            .rev()
            .find_map(|line| line.split(", ").find_map(|part| part.strip_suffix(" distinct states found")));
        let states = states.and_then(|states| states.parse().ok());
        Measured { states: states.expect("it says how many states it found"), complete: true, seconds, bytes: 0 }
    }
}

/// What a program prints, and the seconds that it takes.
fn timed(program: &mut Command) -> (String, f64) {
    #[expect(clippy::disallowed_methods, reason = "time is what is measured")]
    let start = std::time::Instant::now();
    let output = program.output().expect("the program can be run");
    (String::from_utf8_lossy(&output.stdout).into_owned(), start.elapsed().as_secs_f64())
}
