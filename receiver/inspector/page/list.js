// The list of deliveries: its rows, newest first, and the filters that select them.
import { bytes, clock, element, find, judgement, look, reasonWord, took, verdict } from './dom.js';

export function createList({ matches, onMove, onOpen }) {
  const list = find('list');
  const newer = find('newer');
  /** Newest first. */
  let entries = [];
  const rows = new Map();
  let chosen;
  let unseen = 0;

  list.addEventListener('click', ({ target }) => {
    const row = target.closest('.row');
    if (row === null) return;
    choose(row.dataset.id);
    onOpen(row.dataset.id);
  });
  list.addEventListener('scroll', () => {
    if (list.scrollTop < 8) seeNewer();
  });
  newer.addEventListener('click', () => {
    list.scrollTop = 0;
    seeNewer();
    focus(visible()[0]);
  });
  function seeNewer() {
    unseen = 0;
    newer.hidden = true;
  }

  function visible() {
    return entries.filter(({ id }) => !rows.get(id).hidden).map(({ id }) => id);
  }

  function choose(id) {
    for (const other of [rows.get(chosen), rows.get(id)]) {
      const isChosen = other?.dataset.id === id;
      other?.setAttribute('aria-selected', String(isChosen));
    }
    chosen = id;
    refreshTabStop();
  }

  /** Makes one row reachable with the Tab key: the selected one, or else the first. */
  function refreshTabStop() {
    const ids = visible();
    const stop = ids.includes(chosen) ? chosen : ids[0];
    for (const [id, row] of rows) row.tabIndex = id === stop ? 0 : -1;
  }

  function focus(id) {
    const row = rows.get(id);
    row?.focus({ preventScroll: true });
    row?.scrollIntoView({ block: 'nearest' });
  }

  return {
    entries: () => entries,
    has: (id) => rows.has(id),
    /** Inserts deliveries at the top in their order, without moving what is being read. */
    add(deliveries) {
      const before = list.scrollHeight;
      const isScrolled = list.scrollTop >= 8;
      for (const delivery of deliveries) {
        const row = rowOf(delivery);
        row.hidden = !matches(delivery);
        rows.set(delivery.id, row);
        entries.unshift(delivery);
        list.prepend(row);
      }
      if (isScrolled) {
        list.scrollTop += list.scrollHeight - before;
        unseen += deliveries.filter(matches).length;
        newer.hidden = unseen === 0;
        newer.textContent = `${unseen} new, show`;
      }
      refreshTabStop();
    },
    removeWhere(isGone) {
      const gone = entries.filter(isGone);
      if (gone.length === 0) return;
      entries = entries.filter((entry) => !isGone(entry));
      for (const { id } of gone) {
        rows.get(id).remove();
        rows.delete(id);
      }
      refreshTabStop();
    },
    /** Marks deliveries of an earlier process. */
    markBefore(isBefore) {
      for (const entry of entries) rows.get(entry.id).classList.toggle('before', isBefore(entry));
    },
    refresh() {
      for (const entry of entries) rows.get(entry.id).hidden = !matches(entry);
      refreshTabStop();
      rows.get(chosen)?.scrollIntoView({ block: 'nearest' });
    },
    visibleCount: () => visible().length,
    choose,
    focusChosen() {
      focus(visible().includes(chosen) ? chosen : visible()[0]);
    },
    /** Moves the selection by a number of rows, or to an end with Infinity. */
    move(step) {
      const ids = visible();
      if (ids.length === 0) return;
      const at = ids.indexOf(chosen);
      const next = at === -1 && Number.isFinite(step) ? 0 : Math.max(0, Math.min(ids.length - 1, at + step));
      choose(ids[next]);
      focus(ids[next]);
      onMove(ids[next]);
    },
    chosen: () => chosen,
  };
}

function rowOf(delivery) {
  const { id, outcome, reason, kind, notificationId, claimed, size, durationMs, at } = delivery;
  // The accessible name of a row is its content, so screen readers also need the names of the columns.
  const unseen = (text) => element('span', { class: 'unseen' }, text);
  const cell = (name, text, { before, after = ',', more = '' } = {}) =>
    element(
      'span',
      { class: `${name}${more}`, title: text || undefined },
      before && text && unseen(`${before} `),
      text,
      text && unseen(`${after} `),
    );
  // Another receiver can accept what it should reject.
  const what = (outcome === 'accepted' || outcome === 'duplicate') && reason === undefined ? kind : reasonWord(reason);
  return element(
    'div',
    { class: 'row', role: 'option', tabindex: '-1', 'aria-selected': 'false', 'data-id': id },
    cell('time', clock(at)),
    element(
      'span',
      { class: 'outcome' },
      element('span', { class: `mark ${look(delivery)} is-${outcome}` }, verdict(delivery)),
      unseen(judgement(delivery) === undefined ? ', ' : `, ${judgement(delivery)}, `),
    ),
    cell('what', what ?? ''),
    cell('id', notificationId ?? '', { before: 'notification', more: claimed ? ' claimed' : '' }),
    cell('size', bytes(size), { after: ' bytes,' }),
    cell('took', took(durationMs), { before: 'took', after: '' }),
  );
}

/** The values of the filter by outcome. `alarms` is offered on the page of a proxy. */
const OUTCOMES = ['alarms', 'accepted', 'duplicate', 'refused', 'aborted'];

/**
 * Creates the filters. `matches` decides whether a delivery is shown; `onChange` is called when its results may have
 * changed.
 */
export function createFilters(onChange) {
  const state = { outcome: '', kind: '', reason: '', query: '' };
  /** Ids of deliveries whose body contains the query, and the last id that was searched. */
  let bodies = new Set();
  let searched;
  let asking;
  let timer;

  const buttons = new Map(
    ['', ...OUTCOMES].map((outcome) => {
      const label = outcome === '' ? 'All' : `${outcome.charAt(0).toUpperCase()}${outcome.slice(1)}`;
      const count = element('span', { class: 'n' }, '0');
      const button = element('button', { type: 'button', 'aria-pressed': String(outcome === '') }, `${label} `, count);
      button.addEventListener('click', () => set({ outcome }));
      return [outcome, { button, count }];
    }),
  );
  find('outcomes').append(...Array.from(buttons.values(), ({ button }) => button));
  const search = find('search');
  const selects = { kind: find('kind'), reason: find('reason') };
  for (const [name, select] of Object.entries(selects)) {
    select.append(element('option', { value: '' }, 'any'));
    select.addEventListener('change', () => set({ [name]: select.value }));
  }
  search.addEventListener('input', () => set({ query: search.value.trim() }));

  /** Returns whether a delivery passes the filters other than the outcome. */
  function isFound({ id, kind, reason, notificationId, transactionId }) {
    if (state.kind !== '' && kind !== state.kind) return false;
    if (state.reason !== '' && reasonWord(reason) !== state.reason) return false;
    if (state.query === '') return true;
    const wanted = state.query.toLowerCase();
    return [id, notificationId, transactionId].some((text) => text?.toLowerCase().includes(wanted)) || bodies.has(id);
  }

  function hasOutcome(delivery, outcome) {
    if (outcome === 'alarms') return delivery.alarm !== undefined;
    return outcome === '' || delivery.outcome === outcome;
  }

  function count() {
    const found = all.filter(isFound);
    for (const [outcome, { count }] of buttons) {
      count.textContent = String(found.filter((delivery) => hasOutcome(delivery, outcome)).length);
    }
  }

  function set(changes) {
    Object.assign(state, changes);
    for (const [outcome, { button }] of buttons) button.setAttribute('aria-pressed', String(outcome === state.outcome));
    if (changes.query !== undefined) {
      bodies = new Set();
      searched = undefined;
      searchBodies(150);
    }
    count();
    onChange();
  }

  /** Searches the bodies that arrived after the previous search. */
  function searchBodies(ms) {
    clearTimeout(timer);
    if (ms === 150) asking?.abort();
    if (state.query === '') return;
    timer = setTimeout(async () => {
      const { query } = state;
      asking = new AbortController();
      const after = searched === undefined ? '' : `&after=${searched}`;
      const until = newest;
      try {
        const answer = await fetch(`search?q=${encodeURIComponent(query)}${after}`, { signal: asking.signal });
        const ids = await answer.json();
        if (query !== state.query) return;
        for (const id of ids) bodies.add(id);
        searched = until;
        count();
        onChange();
      } catch {
        // Another search has begun, or the connection is lost. The next delivery starts a new search.
      }
    }, ms);
  }

  let newest;
  let all = [];
  return {
    matches: (delivery) => hasOutcome(delivery, state.outcome) && isFound(delivery),
    /** Shows the filter for alarms, on the page of a proxy. */
    offerAlarms(isProxy) {
      buttons.get('alarms').button.hidden = !isProxy;
    },
    /** Updates the counts and the choices of kind and reason. */
    update(deliveries) {
      newest = deliveries[0]?.id;
      all = deliveries;
      count();
      const [kinds, reasons] = [deliveries.map(({ kind }) => kind), deliveries.map(({ reason }) => reasonWord(reason))];
      offer(selects.kind, state.kind, kinds);
      offer(selects.reason, state.reason, reasons);
      if (state.query !== '' && searched !== newest) searchBodies(250);
    },
    clearSearch() {
      search.value = '';
      set({ query: '' });
    },
    /** Clears all filters, and selects the outcome if one is given. */
    reset(outcome = '') {
      search.value = '';
      for (const select of Object.values(selects)) select.value = '';
      set({ outcome, kind: '', reason: '', query: '' });
    },
  };
}

function offer(select, current, values) {
  const wanted = ['', ...[...new Set([current, ...values])].filter(Boolean).sort()];
  const there = Array.from(select.options, ({ value }) => value);
  if (wanted.join('\n') === there.join('\n')) return;
  select.replaceChildren(...wanted.map((value) => element('option', { value }, value === '' ? 'any' : value)));
  select.value = current;
}
