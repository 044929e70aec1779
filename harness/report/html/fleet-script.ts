/** The script of the page about many partners: it filters and sorts, and everything is there without it. Its digest stands in the policy. */
export const FLEET_SCRIPT = `
'use strict';
(function () {
  var all = function (selector, root) { return Array.prototype.slice.call((root || document).querySelectorAll(selector)); };
  var form = document.getElementById('filter');
  var body = document.querySelector('#fleet tbody');
  var rows = all('tr', body);
  var words = document.getElementById('words');
  var change = document.getElementById('change');
  var sort = document.getElementById('sort');
  var found = document.getElementById('found');
  var order = new Map(rows.map(function (row, at) { return [row, at]; }));
  var texts = new Map(rows.map(function (row) { return [row, (row.cells[0].textContent + ' ' + row.cells[1].textContent).toLowerCase()]; }));
  var names = new Map(rows.map(function (row) { return [row, row.querySelector('th b').textContent]; }));

  function filter() {
    var wanted = all('[aria-pressed=true]', form).map(function (one) { return one.getAttribute('data-o'); });
    var parts = words.value.toLowerCase().split(/\\s+/).filter(Boolean);
    var kind = change ? change.value : '';
    var count = 0;
    rows.forEach(function (row) {
      var shown = (wanted.length === 0 || wanted.indexOf(row.getAttribute('data-o')) >= 0) &&
        (kind === '' || row.getAttribute('data-c') === kind) &&
        parts.every(function (part) { return texts.get(row).indexOf(part) >= 0; });
      row.hidden = !shown;
      if (shown) count++;
    });
    found.textContent = count === rows.length ? '' : count + ' of ' + rows.length + ' partners shown';
  }

  function arrange() {
    var key = sort.value;
    var compare = function (a, b) {
      if (key === 'n') return names.get(a) < names.get(b) ? -1 : 1;
      if (key === 't') return Number(b.getAttribute('data-t')) - Number(a.getAttribute('data-t'));
      if (key === 'e') {
        var first = a.getAttribute('data-e');
        var second = b.getAttribute('data-e');
        if (first !== second) return first < second ? -1 : 1;
      }
      return order.get(a) - order.get(b);
    };
    rows.slice().sort(compare).forEach(function (row) { body.append(row); });
  }

  form.hidden = false;
  form.addEventListener('submit', function (event) { event.preventDefault(); });
  form.addEventListener('input', function (event) { if (event.target === sort) arrange(); else filter(); });
  all('[aria-pressed]', form).forEach(function (button) {
    button.addEventListener('click', function () {
      button.setAttribute('aria-pressed', String(button.getAttribute('aria-pressed') !== 'true'));
      filter();
    });
  });
})();
`;
