// The page: the event stream fills the list, and the list opens the details.
import { detailView } from './detail.js';
import { backButton, clock, commandLine, copy, counted, detailTitle, element, find, isNarrow } from './dom.js';
import { createFilters, createList } from './list.js';
import { openStream } from './stream.js';

const detail = find('detail-pane');
const announce = find('announce');
/** Opened details, which stay readable after a restart of the receiver. */
const opened = new Map();
const MAX_OPENED = 60;

let hello;
let instance;
let connection = 'connecting';
let paused = false;
let held = [];
let shownId;

const filters = createFilters(() => {
  list?.refresh();
  showWhich();
});
const list = createList({
  matches: (delivery) => filters.matches(delivery),
  onMove: (id) => {
    if (!isNarrow()) void open(id);
  },
  onOpen: (id) => open(id),
});

// Deliveries

/** Deliveries since the last frame, which are added together. */
let arrived = [];
function arrive(delivery) {
  if (list.has(delivery.id) || [...arrived, ...held].some(({ id }) => id === delivery.id)) return;
  if (arrived.length === 0) setTimeout(take, 16);
  arrived.push(delivery);
}

function take() {
  const batch = arrived;
  arrived = [];
  if (paused) {
    held = [...held, ...batch].slice(-hello.maxDeliveries);
    showPause();
    showAlarms();
    return;
  }
  put(batch);
}

function put(batch) {
  if (batch.length === 0) return;
  list.add(batch);
  // The details of a replay are opened before it is in the list.
  if (batch.some(({ id }) => id === shownId)) list.choose(shownId);
  const { oldest } = batch.at(-1);
  const surplus = new Set(list.entries().slice(hello.maxDeliveries));
  list.removeWhere((entry) => surplus.has(entry) || (entry.id.startsWith(`${instance}-`) && entry.number < oldest));
  filters.update(list.entries());
  showWhich();
  announceNew(batch);
}

const ALARMS = ['accepted although invalid', 'refused although valid', 'no answer'];

/** Shows above the list how many deliveries need attention, regardless of filters and scrolling. */
function showAlarms() {
  const found = [...held, ...list.entries()].flatMap(({ alarm }) => alarm ?? []);
  const [title, why] = find('alarms').children;
  find('alarms').hidden = found.length === 0;
  title.textContent = counted(found.length, 'alarm');
  const parts = ALARMS.map((alarm) => [found.filter((one) => one === alarm).length, alarm]);
  why.textContent = parts.flatMap(([number, alarm]) => (number === 0 ? [] : `${number} ${alarm}`)).join(', ');
}
find('alarms').lastElementChild.addEventListener('click', () => {
  filters.reset('alarms');
  list.focusChosen();
});

function showWhich() {
  showAlarms();
  const count = list.entries().length;
  const visible = list.visibleCount();
  find('list').hidden = visible === 0;
  find('nothing').hidden = count === 0 || visible > 0;
  find('empty').hidden = count > 0 || hello === undefined;
}

/** Deliveries that are not announced yet. Screen readers announce their number every few seconds, not each of them. */
let unannounced = [];
function announceNew(batch) {
  unannounced.push(...batch);
  if (unannounced.length > batch.length) return;
  setTimeout(() => {
    const refused = unannounced.filter(({ outcome }) => outcome === 'refused').length;
    const many = unannounced.length === 1 ? '1 new delivery' : `${unannounced.length} new deliveries`;
    const alarms = unannounced.filter(({ answered }) => answered === 'unsafe').length;
    const alarm = alarms === 0 ? '' : `, ${alarms} accepted although invalid`;
    announce.textContent = `${many}${refused === 0 ? '' : `, ${refused} refused`}${alarm}`;
    unannounced = [];
  }, 5000);
}

// Connection

const STATES = {
  connecting: 'Connecting',
  live: 'Live',
  lost: 'Disconnected, reconnecting',
  full: 'Too many viewers, retrying',
};

function showConnection() {
  const isPaused = paused && connection === 'live';
  find('connection').dataset.state = isPaused ? 'paused' : connection === 'full' ? 'lost' : connection;
  const text = isPaused ? 'Paused' : STATES[connection];
  if (find('connection-text').textContent === text) return;
  find('connection-text').textContent = text;
  announce.textContent = text;
}

function notice(text) {
  find('notice').hidden = text === '';
  find('notice').firstElementChild.textContent = text;
}
find('notice').lastElementChild.addEventListener('click', () => notice(''));

openStream({
  onState(state) {
    connection = state;
    showConnection();
  },
  onHello(data) {
    const isOther = instance !== undefined && instance !== data.instance;
    const isFirst = hello === undefined;
    hello = data;
    instance = data.instance;
    filters.offerAlarms(data.upstream !== undefined);
    if (data.storedIn !== undefined) find('help-note').textContent = storeNote(data.storedIn);
    find('empty').replaceChildren(...emptyView(data));
    if (isOther && list.entries().length > 0) {
      const now = clock(new Date().toISOString()).slice(0, 8);
      notice(`The receiver was restarted at ${now}. Earlier deliveries are grey.`);
      list.markBefore(({ id }) => !id.startsWith(`${instance}-`));
    }
    showWhich();
    // A delivery that the address names may be open before its actions are known.
    if (isFirst && opened.has(shownId)) void open(shownId);
  },
  onDelivery: arrive,
  onGap({ lost }) {
    notice(`${lost} more arrived too quickly to be shown, and ${lost === 1 ? 'is' : 'are'} no longer stored.`);
  },
});

function storeNote(folder) {
  return (
    `The proxy keeps the last complete requests of the sender as files in ${folder}, even after it ends. They ` +
    'contain the requests as received, with their signatures and API keys, and have mode 0600. `--no-store` keeps ' +
    'them in memory only. This page never shows secrets or API keys, and a received signature only if it is invalid.'
  );
}

// Details

/** Opens the details of a delivery. On a phone they replace the list, and the browser's back button returns to it. */
async function open(id, { focus = false } = {}) {
  const hash = `#${id}`;
  if (location.hash !== hash) {
    if (isNarrow()) history.pushState({ pushed: true }, '', hash);
    else history.replaceState(null, '', hash);
  }
  list.choose(id);
  shownId = id;
  document.body.classList.add('showing');
  if (!opened.has(id)) {
    // On a phone nothing else is visible: show neither the previous details nor an empty page while loading.
    if (isNarrow()) detail.replaceChildren(noDetailView('Loading the details'));
    const view = await load(id);
    if (view !== undefined) {
      opened.set(id, view);
      if (opened.size > MAX_OPENED) opened.delete(opened.keys().next().value);
    }
  }
  if (shownId !== id) return;
  const permalink = new URL(hash, location.href).href;
  const view = opened.get(id);
  detail.replaceChildren(
    view === undefined ? goneView(id) : detailView(view, { back: close, permalink, actions: actions() }),
  );
  detail.scrollTop = 0;
  if (focus || isNarrow()) find('detail-title').focus();
}

async function load(id) {
  try {
    const answer = await fetch(`deliveries/${encodeURIComponent(id)}`);
    return answer.ok ? await answer.json() : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the actions that the page of a proxy offers for a delivery; undefined on the page of a receiver. */
function actions() {
  if (hello?.actionToken === undefined) return undefined;
  return {
    canSign: hello.signature !== undefined,
    /** Each action returns a text when it failed, or when its result is not visible otherwise. */
    async replay(id, sign, edit) {
      const answer = await fetch(`deliveries/${encodeURIComponent(id)}/replay${sign ? '?sign=1' : ''}`, {
        method: 'POST',
        headers: { 'X-Hookproof-Action': hello.actionToken },
        body: edit === undefined ? undefined : JSON.stringify(edit),
      }).catch(() => undefined);
      if (answer?.ok !== true) return answer === undefined ? 'The proxy is unreachable.' : answer.text();
      void open((await answer.json()).id, { focus: true });
    },
    async curl(id) {
      const answer = await fetch(`deliveries/${encodeURIComponent(id)}/curl`).catch(() => undefined);
      if (answer === undefined) return 'The proxy is unreachable.';
      const text = await answer.text();
      if (!answer.ok) return text;
      return (await copy(text)) ? 'Copied. Credentials in it are variables.' : 'Not copied.';
    },
  };
}

function goneView(id) {
  const isBefore = instance !== undefined && !id.startsWith(`${instance}-`);
  const why =
    connection !== 'live'
      ? 'The receiver is unreachable, so the details cannot be loaded.'
      : isBefore
        ? 'It arrived before the receiver was restarted, and its details were lost with that process.'
        : 'It is no longer stored: the inspector keeps only the last deliveries.';
  return noDetailView('The details of this delivery are not available', why);
}

function noDetailView(title, ...why) {
  return element('article', {}, backButton(close), detailTitle(title), ...why.map((text) => element('p', {}, text)));
}

/** Returns to the list. */
function close() {
  if (history.state?.pushed && isNarrow()) {
    history.back();
    return;
  }
  history.replaceState(null, '', location.pathname + location.search);
  leave();
}

function leave() {
  document.body.classList.remove('showing');
  shownId = undefined;
  list.focusChosen();
}

function followAddress() {
  const id = location.hash.slice(1);
  if (/^[\w-]{1,40}$/.test(id)) void open(id);
  else if (shownId !== undefined && isNarrow()) leave();
}
addEventListener('popstate', followAddress);
addEventListener('hashchange', followAddress);
followAddress();

// Buttons and keys

function showPause() {
  const button = find('pause');
  button.setAttribute('aria-pressed', String(paused));
  button.textContent = paused ? `Resume${held.length === 0 ? '' : ` (${held.length})`}` : 'Pause';
  showConnection();
}

function togglePause() {
  paused = !paused;
  const batch = held;
  held = [];
  showPause();
  if (!paused) put(batch);
}

find('pause').addEventListener('click', togglePause);
find('clear').addEventListener('click', () => {
  list.removeWhere(() => true);
  filters.update([]);
  notice('The view was cleared. Reload the page to see the deliveries that are still stored.');
  showWhich();
});
find('reset').addEventListener('click', () => {
  filters.reset();
  list.focusChosen();
});
find('show-help').addEventListener('click', () => find('help').showModal());
setUpTheme(find('theme'));

const KEYS = {
  j: () => list.move(1),
  k: () => list.move(-1),
  '/': () => {
    if (isNarrow() && shownId !== undefined) close();
    find('search').focus();
    find('search').select();
  },
  p: togglePause,
  '?': () => find('help').showModal(),
};
const LIST_KEYS = {
  ArrowDown: () => list.move(1),
  ArrowUp: () => list.move(-1),
  PageDown: () => list.move(10),
  PageUp: () => list.move(-10),
  Home: () => list.move(-Infinity),
  End: () => list.move(Infinity),
  Enter: () => open(list.chosen() ?? document.activeElement.dataset.id, { focus: true }),
};

addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || find('help').open) return;
  const { key, target } = event;
  const inList = find('list').contains(target);
  if (key === 'Escape') {
    // Text that was typed into an edit is kept.
    if (target.closest('textarea')) target.blur();
    else if (target === find('search')) {
      filters.clearSearch();
      list.focusChosen();
    } else if (detail.contains(target) || (isNarrow() && shownId !== undefined)) close();
    else return;
    event.preventDefault();
    return;
  }
  if (target === find('search')) {
    if (key !== 'ArrowDown' && key !== 'Enter') return;
    event.preventDefault();
    list.focusChosen();
    return;
  }
  if (target.closest('select, textarea, input')) return;
  const use = KEYS[key] ?? (inList || target === document.body ? LIST_KEYS[key] : undefined);
  if (use === undefined) return;
  if (key === 'Enter' && !inList) return;
  event.preventDefault();
  use();
});

function emptyView({ receiver, upstream, signature, apiKey }) {
  const url = receiver ?? 'URL';
  const ca = url.startsWith('https:') ? ' --ca ca.pem' : '';
  const needs = [
    signature !== undefined && 'HOOKPROOF_SECRET (or --secret-file)',
    apiKey !== undefined && 'HOOKPROOF_API_KEY (or --api-key-file)',
  ].filter(Boolean);
  const appears =
    upstream === undefined
      ? 'to the receiver appears here when it arrives'
      : `appears here, with the answer of ${upstream}`;
  const p = (...texts) => element('p', {}, ...texts);
  return [
    element('h2', {}, 'No deliveries yet'),
    p(`Each delivery ${appears}. Send the first one from another terminal:`),
    commandLine(`hookproof trigger buy ${url}${ca}`),
    needs.length > 0 && p(`The command needs ${needs.join(' and ')}, with the same values as the receiver.`),
    p('List all samples and flows:'),
    commandLine('hookproof trigger list'),
    receiver && p('Or point your own sender to ', element('span', { class: 'mono' }, receiver), '.'),
  ].filter(Boolean);
}

const THEMES = ['system', 'light', 'dark'];

function setUpTheme(button) {
  const root = document.documentElement;
  const show = () => {
    button.textContent = `Theme: ${root.dataset.theme ?? 'system'}`;
  };
  button.addEventListener('click', () => {
    const next = THEMES[(THEMES.indexOf(root.dataset.theme ?? 'system') + 1) % THEMES.length];
    if (next === 'system') delete root.dataset.theme;
    else root.dataset.theme = next;
    try {
      localStorage.setItem('hookproof-theme', next);
    } catch {
      // Without storage, the choice lasts until the page is closed.
    }
    show();
  });
  show();
}
