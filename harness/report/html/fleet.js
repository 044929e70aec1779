/* Filters and sorts the table of partners. The page is readable without this script. */

(() => {
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const form = document.getElementById('filter');
  const body = document.querySelector('#fleet tbody');
  const rows = all('tr', body);
  const words = document.getElementById('words');
  const change = document.getElementById('change');
  const sort = document.getElementById('sort');
  const found = document.getElementById('found');
  const textOf = (row) =>
    `${row.cells[0].textContent} ${row.cells[1].textContent} ${row.getAttribute('data-f')}`.toLowerCase();
  const texts = new Map(rows.map((row) => [row, textOf(row)]));
  const order = new Map(rows.map((row, at) => [row, at]));

  function filter() {
    const outcomes = all('[aria-pressed=true]', form).map((button) => button.getAttribute('data-o'));
    const parts = words.value.toLowerCase().split(/\s+/).filter(Boolean);
    const wanted = change ? change.value : '';
    let count = 0;
    for (const row of rows) {
      const isShown =
        (outcomes.length === 0 || outcomes.includes(row.getAttribute('data-o'))) &&
        (wanted === '' || row.getAttribute('data-c') === wanted) &&
        parts.every((part) => texts.get(row).includes(part));
      row.hidden = !isShown;
      if (isShown) count++;
    }
    found.textContent = count === rows.length ? '' : `${count} of ${rows.length} partners shown`;
  }

  const byText = (one, other) => (one < other ? -1 : one > other ? 1 : 0);
  const nameOf = (row) => row.querySelector('th b').textContent;
  const compare = {
    o: () => 0,
    n: (one, other) => byText(nameOf(one), nameOf(other)),
    e: (one, other) => byText(one.getAttribute('data-e'), other.getAttribute('data-e')),
  };

  form.hidden = false;
  form.addEventListener('submit', (event) => event.preventDefault());
  form.addEventListener('input', ({ target }) => {
    if (target !== sort) return filter();
    const key = compare[sort.value];
    body.append(...[...rows].sort((one, other) => key(one, other) || order.get(one) - order.get(other)));
  });
  for (const button of all('[aria-pressed]', form)) {
    button.addEventListener('click', () => {
      button.setAttribute('aria-pressed', String(button.getAttribute('aria-pressed') !== 'true'));
      filter();
    });
  }
})();
