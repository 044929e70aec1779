/*
 * The report's script: a filter, copy buttons, and folds that open for links and for printing. The report is readable
 * without it. It inserts text, never markup.
 */

(() => {
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const form = document.getElementById('filter');
  const checks = all('details[data-v]');

  function openAround(element) {
    for (let at = element; at; at = at.parentElement) if (at.tagName === 'DETAILS') at.open = true;
  }

  function addCopyButton(block) {
    const frame = document.createElement('div');
    const button = document.createElement('button');
    frame.className = 'copied';
    button.type = 'button';
    button.textContent = 'Copy';
    block.parentNode.insertBefore(frame, block);
    frame.append(block, button);
    const show = (word) => {
      button.textContent = word;
      setTimeout(() => {
        button.textContent = 'Copy';
      }, 2000);
    };
    const copySelection = () => {
      const range = document.createRange();
      range.selectNodeContents(block);
      getSelection().removeAllRanges();
      getSelection().addRange(range);
      show(document.execCommand('copy') ? 'Copied' : 'Selected');
    };
    button.addEventListener('click', () => {
      if (!navigator.clipboard) return copySelection();
      navigator.clipboard.writeText(block.textContent).then(() => show('Copied'), copySelection);
    });
  }
  for (const block of all('.copy')) addCopyButton(block);

  /** Returns the target of a fragment: an element's id or the id of a check. */
  function linked(hash) {
    const element = document.getElementById(hash);
    if (element) return element;
    const isNamed = (name) => (check) => check.querySelector('summary code')?.textContent === name;
    try {
      return checks.find(isNamed(decodeURIComponent(hash)));
    } catch {
      return undefined;
    }
  }

  function followLink() {
    const target = location.hash.length > 1 && linked(location.hash.slice(1));
    if (!target) return;
    if (target.closest('[hidden]') && form) {
      form.reset();
      for (const button of all('[aria-pressed]', form)) button.setAttribute('aria-pressed', 'false');
      filter();
    }
    openAround(target);
    target.scrollIntoView();
  }
  addEventListener('hashchange', followLink);

  let openedForPrint = [];
  addEventListener('beforeprint', () => {
    const folds = all('.fold, details[data-v]:not([data-v=pass]):not([data-v=not-applicable])');
    openedForPrint = folds.filter(({ open }) => !open);
    for (const fold of openedForPrint) fold.open = true;
  });
  addEventListener('afterprint', () => {
    for (const fold of openedForPrint) fold.open = false;
  });

  if (!form) return;
  const suite = document.getElementById('suite');
  const words = document.getElementById('words');
  const found = document.getElementById('found');
  const unfold = document.getElementById('unfold');
  const texts = checks.map((check) => check.firstElementChild.textContent.toLowerCase());
  const suites = checks.map((check) => check.closest('.suite').getAttribute('data-s'));

  function filter() {
    const verdicts = all('[aria-pressed=true]', form).map((button) => button.getAttribute('data-v'));
    const parts = words.value.toLowerCase().split(/\s+/).filter(Boolean);
    const isActive = verdicts.length > 0 || parts.length > 0 || suite.value !== '';
    let count = 0;
    for (const [at, check] of checks.entries()) {
      const isShown =
        (verdicts.length === 0 || verdicts.includes(check.getAttribute('data-v'))) &&
        (suite.value === '' || suites[at] === suite.value) &&
        parts.every((part) => texts[at].includes(part));
      check.hidden = !isShown;
      if (isShown) count++;
    }
    for (const fold of all('.quiet')) {
      fold.hidden = !fold.querySelector('details[data-v]:not([hidden])');
      fold.open = verdicts.length > 0 || parts.length > 0;
    }
    for (const section of all('.suite')) section.hidden = !section.querySelector('details[data-v]:not([hidden])');
    found.textContent = isActive ? `${count} of ${checks.length} checks shown` : '';
  }

  form.hidden = false;
  form.addEventListener('submit', (event) => event.preventDefault());
  form.addEventListener('input', filter);
  for (const button of all('[aria-pressed]', form)) {
    button.addEventListener('click', () => {
      button.setAttribute('aria-pressed', String(button.getAttribute('aria-pressed') !== 'true'));
      filter();
    });
  }
  unfold.addEventListener('click', () => {
    const open = unfold.textContent === 'Open all shown';
    for (const check of checks) {
      if (!check.hidden && (!open || !check.closest('.quiet:not([open])'))) check.open = open;
    }
    unfold.textContent = open ? 'Close all' : 'Open all shown';
  });
  followLink();
})();
