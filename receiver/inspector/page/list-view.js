// The rows of the list: newest first, each made once.
import { element, find } from './dom.js';
import { bytes, clock, reasonWord, took, verdict } from './words.js';

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

  /** One row can be reached with the Tab key: the chosen one, or else the first. */
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
    /** Puts deliveries on top, in the order in which they came. What is being read does not move. */
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
    /** Those of a process before this one. */
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
    /** Goes to another row: by steps, or to an end with Infinity. */
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
  // The name of a row is what stands in it: whoever has it read aloud also hears what the columns are.
  const unseen = (text) => element('span', { class: 'unseen' }, text);
  const cell = (name, text, { before, after = ',', more = '' } = {}) =>
    element(
      'span',
      { class: `${name}${more}`, title: text || undefined },
      before && text ? unseen(`${before} `) : undefined,
      text,
      text ? unseen(`${after} `) : undefined,
    );
  const what = outcome === 'accepted' || outcome === 'duplicate' ? kind : reasonWord(reason);
  return element(
    'div',
    { class: 'row', role: 'option', tabindex: '-1', 'aria-selected': 'false', 'data-id': id },
    cell('time', clock(at)),
    element(
      'span',
      { class: 'outcome' },
      element('span', { class: `mark ${outcome}` }, verdict(delivery)),
      unseen(', '),
    ),
    cell('what', what ?? ''),
    cell('id', notificationId ?? '', { before: 'notification', more: claimed ? ' claimed' : '' }),
    cell('size', bytes(size), { after: ' bytes,' }),
    cell('took', took(durationMs), { before: 'took', after: '' }),
  );
}
