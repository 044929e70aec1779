// Creates elements from data, and formats numbers and times. Text is only ever set as text, because every part of a
// delivery is untrusted.

/**
 * Creates an element with attributes and children (elements or text). Undefined attributes and falsy children are
 * omitted.
 */
export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === undefined) continue;
    if (key.startsWith('on')) made.addEventListener(key.slice(2), value);
    else made.setAttribute(key, value);
  }
  made.append(...children.filter(Boolean));
  return made;
}

export function note(text) {
  return element('p', { class: 'note' }, text);
}

export function find(id) {
  return document.getElementById(id);
}

export function isNarrow() {
  return matchMedia('(max-width: 820px)').matches;
}

/** Creates a button that copies a text and confirms it briefly. */
export function copyButton(label, text, attributes = {}) {
  const button = element('button', { type: 'button', ...attributes }, label);
  button.addEventListener('click', async () => {
    const copied = await copy(text());
    button.textContent = copied ? 'Copied' : 'Not copied';
    find('announce').textContent = button.textContent;
    setTimeout(() => {
      button.textContent = label;
    }, 1500);
  });
  return button;
}

export async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // Without HTTPS there is no clipboard API, except on this machine.
    const area = element('textarea', { 'aria-hidden': 'true', class: 'unseen' });
    area.value = text;
    const focused = document.activeElement;
    document.body.append(area);
    area.select();
    const copied = document.execCommand('copy');
    area.remove();
    focused?.focus();
    return copied;
  }
}

export function backButton(onclick) {
  return element('button', { type: 'button', class: 'back', onclick }, 'Back to the list');
}

export function detailTitle(text) {
  return element('h2', { id: 'detail-title', tabindex: '-1' }, text);
}

/** Creates a line with a command to copy. */
export function commandLine(text) {
  const copying = copyButton('Copy', () => text);
  return element('div', { class: 'command' }, element('pre', { tabindex: '0' }, text), copying);
}

const pad = (value, length = 2) => String(value).padStart(length, '0');

/** Formats a time as 14:02:11.482, in the reader's time zone. */
export function clock(iso) {
  const at = new Date(iso);
  return `${pad(at.getHours())}:${pad(at.getMinutes())}:${pad(at.getSeconds())}.${pad(at.getMilliseconds(), 3)}`;
}

export function bytes(count) {
  return count === undefined ? '' : count.toLocaleString('en');
}

export function counted(count, noun) {
  return `${bytes(count)} ${noun}${count === 1 ? '' : 's'}`;
}

export function took(ms) {
  if (ms >= 10_000) return `${(ms / 1000).toFixed(0)} s`;
  if (ms >= 1000) return `${(ms / 1000).toFixed(1)} s`;
  return `${ms >= 10 ? ms.toFixed(0) : ms.toFixed(1)} ms`;
}

/**
 * Returns a verdict such as "401 refused", "accepted", "duplicate" or "aborted"; for another receiver "200 accepted".
 */
export function verdict({ answered, outcome, status }) {
  const code = outcome === 'refused' || answered !== undefined ? `${status} ` : '';
  return `${code}${answered === 'unsafe' ? 'accepted' : outcome}`;
}

/** Returns the class of the mark. Another receiver is judged by whether it answered correctly. */
export function look({ answered, outcome }) {
  return answered === undefined ? outcome : `answered-${answered}`;
}

/** Returns the meaning of the mark, for screen readers. */
export function judgement({ answered }) {
  return { correct: 'correct answer', incorrect: 'incorrect answer', unsafe: 'alarm' }[answered];
}

/** Returns the fixed word of a reason, without details in parentheses or after a colon. */
export function reasonWord(reason) {
  return reason?.replace(/(?: \(.*\)|: .*)$/s, '');
}
