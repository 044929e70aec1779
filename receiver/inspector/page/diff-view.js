// What was received beside what was signed.
import { fromBase64, hexOf, textOf } from './bytes.js';
import { element } from './dom.js';
import { bytes, counted } from './words.js';

/** Longer equal parts are left out but for their ends. */
const LONG = 240;
const END = 90;
const MOST_RUNS = 3000;
/** How many bytes from the first difference on are shown as hexadecimal. */
const FEW = 8;

export function diffView(body, { signed, runs }) {
  const received = fromBase64(body.base64);
  const other = fromBase64(signed.base64);
  const text = element('pre', { tabindex: '0', class: 'diff', 'aria-label': 'Difference of the bytes' });
  let x = 0;
  let y = 0;
  for (const [side, length] of runs.slice(0, MOST_RUNS)) {
    if (side === 'both') addSame(text, received.subarray(x, x + length));
    if (side === 'received') {
      const part = received.subarray(x, x + length);
      const isBlank = part.every((byte) => byte <= 0x20);
      text.append(element('del', { class: isBlank ? 'blank' : undefined }, textOf(part, { spaces: true })));
    }
    if (side === 'signed') text.append(element('ins', {}, textOf(other.subarray(y, y + length), { spaces: true })));
    if (side !== 'signed') x += length;
    if (side !== 'received') y += length;
  }
  const legend = element(
    'p',
    { class: 'legend' },
    element('span', {}, element('del', {}, 'received'), ', not signed'),
    element('span', {}, element('ins', {}, 'signed'), ', not received'),
    element('span', {}, '\u00b7 is a space, \u21b5 a line end'),
  );
  return element(
    'div',
    {},
    element('p', { class: 'note' }, sizes(body, signed)),
    legend,
    text,
    firstDifference(received, other),
    runs.length > MOST_RUNS ? element('p', { class: 'note' }, 'There are more differences than are shown.') : undefined,
    body.cut || signed.cut
      ? element('p', { class: 'note' }, `Only the first ${bytes(received.length)} bytes are compared here.`)
      : undefined,
  );
}

function sizes(body, signed) {
  const difference = signed.size - body.size;
  const more =
    difference === 0 ? 'as many' : `${counted(Math.abs(difference), 'byte')} ${difference > 0 ? 'more' : 'fewer'}`;
  return `Received ${counted(body.size, 'byte')}, signed ${bytes(signed.size)}: ${more}.`;
}

function addSame(text, part) {
  if (part.length <= LONG) {
    text.append(element('span', { class: 'same' }, textOf(part)));
    return;
  }
  const middle = part.length - 2 * END;
  text.append(
    element('span', { class: 'same' }, textOf(part.subarray(0, END))),
    element('span', { class: 'skipped' }, ` [${counted(middle, 'equal byte')}] `),
    element('span', { class: 'same' }, textOf(part.subarray(-END))),
  );
}

function firstDifference(received, signed) {
  let at = 0;
  while (at < received.length && received[at] === signed[at]) at += 1;
  const few = (all) => (at < all.length ? hexOf(all.subarray(at, at + FEW)) : 'the end');
  return element(
    'dl',
    { class: 'facts first-difference' },
    element(
      'div',
      {},
      element('dt', {}, 'First difference'),
      element('dd', {}, `byte ${bytes(at)} (0x${at.toString(16)})`),
    ),
    element('div', {}, element('dt', {}, 'received'), element('dd', { class: 'mono' }, few(received))),
    element('div', {}, element('dt', {}, 'signed'), element('dd', { class: 'mono' }, few(signed))),
  );
}
