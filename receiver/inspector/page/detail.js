// The details of one delivery: the verdict and its reasons, the headers, the body, and the difference to what was
// signed.
import { fromBase64, hexDump, hexOf, jsonNodes, layOut, oddities, plainText, textOf } from './bytes.js';
import {
  bytes,
  clock,
  commandLine,
  copyButton,
  counted,
  element,
  isNarrow,
  judgement,
  look,
  took,
  verdict,
} from './dom.js';

export function detailView(view, { back, permalink, actions }) {
  const judged = judgement(view);
  const said = judged === undefined ? verdict(view) : `${verdict(view)}: ${judged}`;
  const mark = element('p', { class: `mark ${look(view)}` }, said);
  return element(
    'article',
    {},
    element('button', { type: 'button', class: 'back', onclick: back }, 'Back to the list'),
    mark,
    element('h2', { id: 'detail-title', tabindex: '-1' }, view.explanation.title),
    actions === undefined ? undefined : actionsView(view, actions),
    facts(view, permalink),
    whySection(view),
    view.body === undefined
      ? element('section', {}, element('h3', {}, 'Body'), element('p', { class: 'note' }, view.noBody))
      : bodyView(view.id, view.body),
    headersSection(view.headers, 'Headers as received'),
    ...(view.answer === undefined ? [] : answerSections(view.answer)),
  );
}

/** What a proxy can do with a delivery. */
function actionsView({ id, replayable, replayOf }, { replay, curl, canSign }) {
  const said = element('p', { class: 'note', role: 'status' });
  const act = (label, work) => {
    const button = element('button', { type: 'button' }, label);
    button.addEventListener('click', async () => {
      button.disabled = true;
      said.textContent = (await work()) ?? '';
      button.disabled = false;
    });
    return button;
  };
  const origin =
    replayOf === undefined
      ? undefined
      : element('p', {}, 'Replay of ', element('a', { href: `#${replayOf}` }, replayOf));
  if (!replayable) return element('div', {}, origin, element('p', { class: 'note' }, 'Its bytes are not kept.'));
  return element(
    'div',
    { class: 'delivery-actions' },
    origin,
    act('Replay', () => replay(id, false)),
    canSign ? act('Replay, newly signed', () => replay(id, true)) : undefined,
    act('Copy as curl', () => curl(id)),
    said,
  );
}

function answerSections({ status, reasonPhrase, headers, body }) {
  return [
    element(
      'h2',
      { class: 'answer' },
      `Answer of the receiver: ${[status === 0 ? 'not HTTP' : status, reasonPhrase].join(' ').trim()}`,
    ),
    headersSection(headers, 'Headers of the answer'),
    answerBody(body),
  ];
}

function answerBody(body) {
  const all = fromBase64(body.base64);
  if (body.size === 0) return element('p', { class: 'note' }, 'The body of the answer is empty.');
  const said = [
    body.cut ? `The first ${bytes(all.length)} of ${bytes(body.size)} bytes are shown.` : undefined,
    body.masked ? 'The answer contains a credential. It is masked here.' : undefined,
  ].filter(Boolean);
  return element(
    'section',
    { 'aria-label': 'Body of the answer' },
    element('div', { class: 'section-head' }, element('h3', {}, `Body of the answer (${counted(body.size, 'byte')})`)),
    ...said.map((text) => element('p', { class: 'warning' }, text)),
    element('pre', { tabindex: '0', 'aria-label': 'Body of the answer as text' }, textOf(all)),
  );
}

function fact(name, value, options = {}) {
  if (value === undefined || value === '') return undefined;
  const dd = element('dd', { class: options.mono ? 'mono' : undefined }, value);
  if (options.copy)
    dd.append(
      ' ',
      copyButton('Copy', () => value, { class: 'quiet', 'aria-label': `Copy the ${name.toLowerCase()}` }),
    );
  if (options.note) dd.append(' ', element('span', { class: 'masked' }, options.note));
  return element('div', {}, element('dt', {}, name), dd);
}

function facts(view, permalink) {
  const { method, target, httpVersion } = view.request;
  const note = view.claimed ? 'not verified' : undefined;
  return element(
    'dl',
    { class: 'facts' },
    ...[
      fact('Time', `${clock(view.at)}, took ${took(view.durationMs)}`),
      fact('Request', `${method} ${target} HTTP/${httpVersion}`, { mono: true }),
      fact('From', view.remoteAddress === '' ? undefined : view.remoteAddress, { mono: true }),
      fact('Kind', view.kind),
      fact('Notification', view.notificationId, { mono: true, copy: true, note }),
      fact('Transaction', view.transactionId, { mono: true, copy: true, note }),
      fact('Reason', view.reason, { mono: true }),
      element(
        'div',
        {},
        element('dt', {}, 'Link'),
        element(
          'dd',
          {},
          element('span', { class: 'mono' }, `#${view.id}`),
          ' ',
          copyButton('Copy', () => permalink, { class: 'quiet', 'aria-label': 'Copy the link' }),
        ),
      ),
    ],
  );
}

function whySection(view) {
  const { explanation, mistakes, diff, unexplained, rotation, body } = view;
  const { expected, received, fix, points = [] } = explanation;
  const said = [
    ...mistakes.map(({ title, fix: howToFix }) =>
      element('div', { class: 'mistake' }, element('strong', {}, title), element('p', {}, howToFix)),
    ),
    unexplained ? noMistake(view) : undefined,
    expected === undefined && received === undefined
      ? undefined
      : element('dl', { class: 'facts' }, ...[fact('Expected', expected), fact('Received', received)].filter(Boolean)),
    points.length === 0
      ? undefined
      : element('ul', {}, ...points.map((point) => element('li', { class: 'mono' }, point))),
    fix === undefined ? undefined : element('p', { class: 'note' }, fix),
    ...rotation.map((text) => element('p', { class: 'note' }, text)),
  ].filter((part) => part !== undefined);
  if (said.length === 0) return undefined;
  const looks = { accepted: ' fine', duplicate: ' fine', aborted: ' aborted-why', 'answered-correct': ' fine' };
  return element(
    'section',
    { 'aria-label': 'Why' },
    element('div', { class: `why${looks[look(view)] ?? ''}` }, ...said),
    diff === undefined || body === undefined
      ? undefined
      : element(
          'section',
          { 'aria-label': 'Difference' },
          element('h3', {}, 'Difference between the received and the signed bytes'),
          diffView(body, diff),
        ),
  );
}

function noMistake(view) {
  return element(
    'div',
    { class: 'mistake' },
    element('strong', {}, 'No known signing mistake produces this signature.'),
    element(
      'p',
      {},
      'Usually the secret differs, or a proxy or gateway changed the body. ',
      'With the downloaded body, this command tries more:',
    ),
    commandLine(`hookproof verify delivery-${view.id}.bin --signature "$HEADER" --secret-file secret.txt`),
  );
}

function headersSection(headers, title) {
  const rows = headers.map(({ name, value, note }) =>
    element(
      'tr',
      {},
      element('th', { scope: 'row' }, name),
      value === null
        ? element('td', {}, element('span', { class: 'masked' }, `masked: ${note}`))
        : element('td', {}, value),
    ),
  );
  return element(
    'section',
    { 'aria-label': title },
    element('div', { class: 'section-head' }, element('h3', {}, `${title} (${counted(headers.length, 'line')})`)),
    element('table', { class: 'headers' }, element('tbody', {}, ...rows)),
  );
}

const VIEWS = ['Text', 'JSON', 'Hex'];
const encoder = new TextEncoder();

/** The chosen view, kept from one delivery to the next. */
let chosen = 'Text';

function bodyView(id, body) {
  const all = fromBase64(body.base64);
  const panel = element('div', { role: 'tabpanel', id: 'body-panel' });
  const tabs = VIEWS.map((name) =>
    element('button', { type: 'button', role: 'tab', id: `tab-${name}`, 'aria-controls': 'body-panel' }, name),
  );
  let copied = '';
  const show = (name, focus = false) => {
    chosen = name;
    for (const tab of tabs) {
      const isChosen = tab.textContent === name;
      tab.setAttribute('aria-selected', String(isChosen));
      tab.tabIndex = isChosen ? 0 : -1;
      if (isChosen && focus) tab.focus();
    }
    panel.setAttribute('aria-labelledby', `tab-${name}`);
    const view = content(name, all, body);
    copied = view.copied;
    panel.replaceChildren(...view.nodes);
  };
  for (const [index, tab] of tabs.entries()) {
    tab.addEventListener('click', () => show(tab.textContent));
    tab.addEventListener('keydown', ({ key }) => {
      const step = key === 'ArrowRight' ? 1 : key === 'ArrowLeft' ? VIEWS.length - 1 : 0;
      if (step > 0) show(VIEWS[(index + step) % VIEWS.length], true);
    });
  }
  show(chosen);
  return element(
    'section',
    { 'aria-label': 'Body' },
    element(
      'div',
      { class: 'section-head' },
      element('h3', {}, 'Body'),
      element('div', { role: 'tablist', 'aria-label': 'Show the body as' }, ...tabs),
      element(
        'span',
        { class: 'end' },
        copyButton('Copy', () => copied),
        element('a', { class: 'button', href: `deliveries/${id}/body`, download: '' }, 'Download'),
      ),
    ),
    ...notes(all, body),
    panel,
  );
}

function notes(all, body) {
  const { invalid, special } = oddities(all);
  const said = [];
  if (body.cut)
    said.push(`The first ${bytes(all.length)} of ${bytes(body.size)} bytes are shown. The download has all of them.`);
  if (body.masked) said.push('The body contains a credential of this receiver. It is masked here and in the download.');
  if (invalid > 0)
    said.push(`${counted(invalid, 'byte')} that ${invalid === 1 ? 'is' : 'are'} not UTF-8, shown as \\x..`);
  if (special > 0) said.push(`${counted(special, 'invisible character')}, shown by name.`);
  return said.map((text) => element('p', { class: 'warning' }, text));
}

function content(name, all, body) {
  if (all.length === 0) return { nodes: [element('p', { class: 'note' }, 'The body is empty.')], copied: '' };
  const text = plainText(all);
  if (name === 'Hex') {
    const dump = hexDump(all, isNarrow() ? 8 : 16);
    return { nodes: [element('pre', { class: 'hex', tabindex: '0', 'aria-label': 'Bytes' }, dump)], copied: dump };
  }
  if (name === 'JSON') {
    const laidOut = body.cut
      ? { problem: 'It is too long to be formatted as JSON.' }
      : layOut(text.replace(/^\ufeff/, ''));
    if (laidOut.problem !== undefined)
      return { nodes: [element('p', { class: 'note' }, laidOut.problem)], copied: text };
    const nodes = jsonNodes(laidOut, (part) => textOf(encoder.encode(part)));
    return { nodes: [element('pre', { tabindex: '0', 'aria-label': 'JSON' }, nodes)], copied: laidOut.text };
  }
  return { nodes: [element('pre', { tabindex: '0', 'aria-label': 'Text' }, textOf(all))], copied: text };
}

/** Equal parts longer than this are shortened to their ends. */
const LONG = 240;
const END = 90;
const MAX_RUNS = 3000;
/** How many bytes after the first difference are shown as hexadecimal. */
const FEW = 8;

function diffView(body, { signed, runs }) {
  const received = fromBase64(body.base64);
  const other = fromBase64(signed.base64);
  const text = element('pre', { tabindex: '0', class: 'diff', 'aria-label': 'Difference of the bytes' });
  let x = 0;
  let y = 0;
  for (const [side, length] of runs.slice(0, MAX_RUNS)) {
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
    runs.length > MAX_RUNS ? element('p', { class: 'note' }, 'Not all differences are shown.') : undefined,
    body.cut || signed.cut
      ? element('p', { class: 'note' }, `Only the first ${bytes(received.length)} bytes are compared here.`)
      : undefined,
  );
}

function sizes(body, signed) {
  const difference = signed.size - body.size;
  const more =
    difference === 0
      ? 'the same number'
      : `${counted(Math.abs(difference), 'byte')} ${difference > 0 ? 'more' : 'fewer'}`;
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
