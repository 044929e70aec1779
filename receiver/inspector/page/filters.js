// Which deliveries are shown: by outcome, kind, reason, and by what is searched for.
import { element, find } from './dom.js';
import { reasonWord } from './words.js';

const OUTCOMES = ['accepted', 'duplicate', 'refused', 'aborted'];

/** `matches` says whether a delivery is to be shown; `onChange` is called when that may be otherwise. */
export function createFilters(onChange) {
  const state = { outcome: '', kind: '', reason: '', query: '' };
  /** The ids of those whose body holds the query, and up to which id bodies were searched. */
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

  function set(changes) {
    Object.assign(state, changes);
    for (const [outcome, { button }] of buttons) button.setAttribute('aria-pressed', String(outcome === state.outcome));
    if (changes.query !== undefined) {
      bodies = new Set();
      searched = undefined;
      searchBodies(150);
    }
    onChange();
  }

  /** Asks for the bodies that hold the query, from where the last answer ended. */
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
        onChange();
      } catch {
        // Another search has begun, or there is no connection; the next delivery asks again.
      }
    }, ms);
  }

  let newest;
  return {
    matches(delivery) {
      const { outcome, kind, reason, query } = state;
      if (outcome !== '' && delivery.outcome !== outcome) return false;
      if (kind !== '' && delivery.kind !== kind) return false;
      if (reason !== '' && reasonWord(delivery.reason) !== reason) return false;
      if (query === '') return true;
      const { id, notificationId, transactionId } = delivery;
      const wanted = query.toLowerCase();
      return [id, notificationId, transactionId].some((text) => text?.toLowerCase().includes(wanted)) || bodies.has(id);
    },
    /** Learns which kinds and reasons there are, and counts. */
    update(deliveries) {
      newest = deliveries[0]?.id;
      for (const [outcome, { count }] of buttons) {
        const those = outcome === '' ? deliveries : deliveries.filter((delivery) => delivery.outcome === outcome);
        count.textContent = String(those.length);
      }
      offer(
        selects.kind,
        state.kind,
        deliveries.map(({ kind }) => kind),
      );
      offer(
        selects.reason,
        state.reason,
        deliveries.map(({ reason }) => reasonWord(reason)),
      );
      if (state.query !== '' && searched !== newest) searchBodies(250);
    },
    clearSearch() {
      search.value = '';
      set({ query: '' });
    },
    reset() {
      search.value = '';
      for (const select of Object.values(selects)) select.value = '';
      set({ outcome: '', kind: '', reason: '', query: '' });
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
