(function () {
  'use strict';
  var root = document.documentElement;
  var steps = Array.prototype.slice.call(document.querySelectorAll('section[data-step]'));
  var links = Array.prototype.slice.call(document.querySelectorAll('.steps a'));
  var rows = steps.map(function (step) { return document.getElementById(step.dataset.row); });
  var back = document.getElementById('back');
  var on = document.getElementById('on');
  var place = document.getElementById('place');
  var heard = document.getElementById('heard');
  var at = 0;
  root.classList.add('scripted');

  function show(index) {
    at = Math.max(0, Math.min(steps.length - 1, index));
    steps.forEach(function (step, number) { step.classList.toggle('now', number === at); });
    links.forEach(function (link, number) {
      if (number === at) { link.setAttribute('aria-current', 'step'); } else { link.removeAttribute('aria-current'); }
    });
    rows.forEach(function (row, number) {
      if (row) { row.classList.toggle('ahead', number > at && row !== rows[at]); }
    });
    back.disabled = at === 0;
    on.disabled = at === steps.length - 1;
    place.textContent = steps[at].dataset.step + ' / ' + (steps.length - 1);
  }

  function go(index) {
    show(index);
    history.replaceState(null, '', '#' + steps[at].id);
    heard.textContent = steps[at].querySelector('h2').textContent + ': ' + steps[at].querySelector('p').textContent;
  }

  function named() {
    var index = steps.findIndex(function (step) { return '#' + step.id === location.hash; });
    return index < 0 ? steps.length - 1 : index;
  }

  back.addEventListener('click', function () { go(at - 1); });
  on.addEventListener('click', function () { go(at + 1); });
  document.addEventListener('keydown', function (event) {
    if (event.altKey || event.ctrlKey || event.metaKey) { return; }
    var to = { ArrowRight: at + 1, ArrowLeft: at - 1, j: at + 1, k: at - 1, Home: 0, End: steps.length - 1 }[event.key];
    if (to !== undefined) { event.preventDefault(); go(to); }
  });
  window.addEventListener('hashchange', function () { show(named()); });
  show(named());
})();
