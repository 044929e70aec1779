/**
 * The script of the page, which the page can do without: a filter, buttons for copying, folds that open where a link leads and for
 * printing. It writes text and never markup. Its digest stands in the policy of the page, so it is written exactly as it stands here.
 */
export const SCRIPT = String.raw`
'use strict';
(function () {
  var all = function (selector, root) { return Array.prototype.slice.call((root || document).querySelectorAll(selector)); };
  var form = document.getElementById('filter');
  var checks = all('details[data-v]');

  function openAround(element) {
    for (var at = element; at; at = at.parentElement) if (at.tagName === 'DETAILS') at.open = true;
  }

  function copyButton(block) {
    var frame = document.createElement('div');
    var button = document.createElement('button');
    frame.className = 'copied';
    button.type = 'button';
    button.textContent = 'Copy';
    block.parentNode.insertBefore(frame, block);
    frame.append(block, button);
    var say = function (word) {
      button.textContent = word;
      setTimeout(function () { button.textContent = 'Copy'; }, 2000);
    };
    var select = function () {
      var range = document.createRange();
      range.selectNodeContents(block);
      getSelection().removeAllRanges();
      getSelection().addRange(range);
      say(document.execCommand('copy') ? 'Copied' : 'Selected');
    };
    button.addEventListener('click', function () {
      if (!navigator.clipboard) return select();
      navigator.clipboard.writeText(block.textContent).then(function () { say('Copied'); }, select);
    });
  }
  all('.copy').forEach(copyButton);

  function follow() {
    var target = location.hash.length > 1 && document.getElementById(location.hash.slice(1));
    if (!target) return;
    var hidden = target.closest('[hidden]');
    if (hidden && form) { form.reset(); all('[aria-pressed]', form).forEach(function (one) { one.setAttribute('aria-pressed', 'false'); }); filter(); }
    openAround(target);
    target.scrollIntoView();
  }
  addEventListener('hashchange', follow);

  var opened = [];
  addEventListener('beforeprint', function () {
    opened = all('.fold, details[data-v]:not([data-v=pass]):not([data-v=not-applicable])').filter(function (one) { return !one.open; });
    opened.forEach(function (one) { one.open = true; });
  });
  addEventListener('afterprint', function () { opened.forEach(function (one) { one.open = false; }); });

  if (!form) return;
  var suite = document.getElementById('suite');
  var words = document.getElementById('words');
  var found = document.getElementById('found');
  var texts = checks.map(function (check) { return check.firstElementChild.textContent.toLowerCase(); });
  var suites = checks.map(function (check) { return check.closest('.suite').getAttribute('data-s'); });

  function filter() {
    var wanted = all('[aria-pressed=true]', form).map(function (one) { return one.getAttribute('data-v'); });
    var parts = words.value.toLowerCase().split(/\s+/).filter(Boolean);
    var active = wanted.length > 0 || parts.length > 0 || suite.value !== '';
    var count = 0;
    checks.forEach(function (check, at) {
      var shown = (wanted.length === 0 || wanted.indexOf(check.getAttribute('data-v')) >= 0) &&
        (suite.value === '' || suites[at] === suite.value) &&
        parts.every(function (part) { return texts[at].indexOf(part) >= 0; });
      check.hidden = !shown;
      if (shown) count++;
    });
    all('.quiet').forEach(function (fold) {
      fold.hidden = !fold.querySelector('details[data-v]:not([hidden])');
      fold.open = wanted.length > 0 || parts.length > 0;
    });
    all('.suite').forEach(function (section) { section.hidden = !section.querySelector('details[data-v]:not([hidden])'); });
    found.textContent = active ? count + ' of ' + checks.length + ' checks shown' : '';
  }

  form.hidden = false;
  form.addEventListener('submit', function (event) { event.preventDefault(); });
  form.addEventListener('input', filter);
  all('[aria-pressed]', form).forEach(function (button) {
    button.addEventListener('click', function () {
      button.setAttribute('aria-pressed', String(button.getAttribute('aria-pressed') !== 'true'));
      filter();
    });
  });
  var unfold = document.getElementById('unfold');
  unfold.addEventListener('click', function () {
    var open = unfold.textContent === 'Open all shown';
    checks.forEach(function (check) { if (!check.hidden && (!open || !check.closest('.quiet:not([open])'))) check.open = open; });
    unfold.textContent = open ? 'Close all' : 'Open all shown';
  });
  follow();
})();
`;
