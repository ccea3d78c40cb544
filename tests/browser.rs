//! The page is tried in a browser: every control, the keyboard alone, and no word on the console.
//!
//! Where there is no Chromium, the test says so and passes.

mod common;

use std::fs;
use std::process::Command;

use common::read;
use handlecheck::diagrams::FORMATS;
use handlecheck::trace::Trace;

/// The names under which Chromium may be there.
const BROWSERS: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];

/// Appended to the page: does what a reader does, and writes down what it finds.
const READER: &str = r##"<script>
(function () {
  var found = [];
  var steps = document.querySelectorAll('section[data-step]');
  function now() {
    var shown = Array.prototype.filter.call(steps, function (it) { return getComputedStyle(it).display !== 'none'; });
    return shown.length === 1 ? Number(shown[0].dataset.step) : -1;
  }
  function key(name) { document.dispatchEvent(new KeyboardEvent('keydown', { key: name, bubbles: true, cancelable: true })); }
  function expect(what, wanted) {
    var is = now();
    if (is !== wanted) { found.push(what + ': step ' + is + ' rather than ' + wanted); }
  }
  var last = steps.length - 1;
  expect('at the beginning', last);
  key('Home'); expect('Home', 0);
  if (!document.getElementById('back').disabled) { found.push('back is not disabled at the start'); }
  key('ArrowRight'); expect('right', 1);
  key('j'); expect('j', 2);
  key('ArrowLeft'); expect('left', 1);
  key('k'); expect('k', 0);
  key('ArrowLeft'); expect('left of the start', 0);
  key('End'); expect('End', last);
  if (!document.getElementById('on').disabled) { found.push('next is not disabled at the end'); }
  document.getElementById('back').click(); expect('back', last - 1);
  document.getElementById('on').click(); expect('next', last);
  if (location.hash !== '#step-' + last) { found.push('the address names the step: ' + location.hash); }
  Array.prototype.forEach.call(document.querySelectorAll('.steps a'), function (link) {
    var target = document.querySelector(link.getAttribute('href'));
    if (!target) { found.push(link.href + ' leads nowhere'); }
    // What the guidelines for accessibility (WCAG 2.2, 2.5.8) ask of what is pointed at.
    if (link.getBoundingClientRect().height < 24) { found.push(link.href + ' is hard to hit'); }
  });
  Array.prototype.forEach.call(steps, function (step) {
    if (Number(step.dataset.step) > 0 && !document.getElementById(step.dataset.row)) {
      found.push('step ' + step.dataset.step + ' is not in the picture');
    }
    if (Number(step.dataset.step) > 0 && !step.querySelector('tr.changed')) {
      found.push('step ' + step.dataset.step + ' marks no change');
    }
  });
  var ahead = document.querySelectorAll('g.ahead').length;
  key('Home');
  if (ahead !== 0 || document.querySelectorAll('g.ahead').length === 0) { found.push('what is ahead is not dimmed'); }
  Array.prototype.forEach.call(document.querySelectorAll('button'), function (button) {
    button.disabled = false; button.focus();
    if (document.activeElement !== button) { found.push('a button takes no focus'); }
  });
  window.addEventListener('hashchange', function () {
    expect('a link', 3);
    document.body.dataset.found = 'done: ' + found.concat(window.complaints).join('; ');
  });
  document.querySelectorAll('.steps a')[3].click();
})();
</script>"##;

/// Put before everything else on the page: notes whatever the console hears.
const LISTENER: &str = "<script>window.complaints = []; window.onerror = function (text) { complaints.push(text); }; \
    ['error', 'warn'].forEach(function (kind) { console[kind] = function (text) { complaints.push(String(text)); }; });\
    </script>";

#[test]
fn a_reader_steps_through_the_page_by_keys_and_buttons() {
    let format = FORMATS.iter().find(|row| row.name == "html").expect("there is the format");
    let folder = tempfile::tempdir().expect("a folder can be made");
    for path in [
        "traces/laptop-basket.naive.no-lost-update.json",
        "traces/two-agents-restart.three-transactions.no-double-write.json",
    ] {
        let trace = Trace::from_json(&read(path)).expect("it is a trace");
        let page = format.text(&trace).expect("it is text");
        assert!(!page.contains("http:") || page.matches("http:").count() == page.matches("http://www.w3.org/").count());
        assert!(!page.contains("https:"), "the page needs nothing from elsewhere");
        let page = page.replacen("<head>", &format!("<head>{LISTENER}"), 1);
        let page = page.replacen("</body>", &format!("{READER}</body>"), 1);
        let file = folder.path().join("page.html");
        fs::write(&file, page).expect("a file can be written");
        let flags = ["--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=4000", "--dump-dom"];
        let profile = format!("--user-data-dir={}", folder.path().join("profile").display());
        let start = |browser: &str| {
            let address = format!("file://{}", file.display());
            Command::new(browser).args(flags).args([&profile, &address]).output().ok()
        };
        let Some(output) = BROWSERS.iter().find_map(|browser| start(browser)) else {
            #[expect(clippy::print_stderr, reason = "a test that was skipped says so")]
            {
                eprintln!("skipped: there is no Chromium to try the page in");
            }
            return;
        };
        let dom = String::from_utf8_lossy(&output.stdout);
        let found = dom.split("data-found=\"").nth(1).and_then(|rest| rest.split('"').next());
        assert_eq!(found, Some("done: "), "{path}: {}", String::from_utf8_lossy(&output.stderr));
    }
}
