// Shows the details of one delivery: the verdict and its reasons, the headers, the body, and the difference from the
// signed bytes.
import { fromBase64, hexDump, hexOf, jsonNodes, layOut, oddities, plainText, textOf } from './bytes.js';
import * as dom from './dom.js';

const { bytes, clock, copyButton, counted, element, note } = dom;

export function detailView(view, { back, permalink, actions }) {
  const said = [dom.verdict(view), dom.judgement(view)].filter(Boolean).join(': ');
  return element(
    'article',
    {},
    dom.backButton(back),
    element('p', { class: `mark ${dom.look(view)}` }, said),
    dom.detailTitle(view.explanation.title),
    actions && actionsView(view, actions),
    facts(view, permalink),
    whySection(view),
    view.body === undefined
      ? element('section', {}, element('h3', {}, 'Body'), note(view.noBody))
      : bodyView(view.id, view.body),
    headersSection(view.headers, 'Headers as received'),
    ...(view.answer === undefined ? [] : answerSections(view.answer)),
  );
}

/** Returns the actions of a proxy for a delivery. */
function actionsView({ id, replayable, replayOf, body }, { replay, curl, canSign }) {
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
  const origin = replayOf && element('p', {}, 'Replay of ', element('a', { href: `#${replayOf}` }, replayOf));
  if (!replayable) return element('div', {}, origin, note('The bytes of this delivery are not kept.'));
  return element(
    'div',
    { class: 'delivery-actions' },
    origin,
    act('Replay', () => replay(id, false)),
    canSign && act('Replay, newly signed', () => replay(id, true)),
    act('Copy as curl', () => curl(id)),
    body !== undefined && !body.cut && !body.masked && editView(id, body, { act, replay, canSign }),
    said,
  );
}

/** Returns a form that changes the body and sets headers. Headers with credentials are never in it. */
function editView(id, body, { act, replay, canSign }) {
  const text = element('textarea', { rows: '8', spellcheck: 'false', 'aria-label': 'Body' });
  const received = fromBase64(body.base64);
  text.value = plainText(received);
  const before = text.value;
  // A text field changes carriage returns, and has no bytes that are not UTF-8.
  text.readOnly = before !== plainText(received) || oddities(received).invalid > 0;
  const lines = element('textarea', { rows: '2', spellcheck: 'false', placeholder: 'X-Tenant: acme' });
  const edit = () => ({
    headers: lines.value
      .split('\n')
      .filter((line) => line.trim() !== '')
      .map((line) => /^([^:]*):(.*)$/.exec(line) ?? ['', '', line])
      .map(([, name, value]) => [name.trim(), value.trim()]),
    body: text.value === before ? undefined : text.value,
  });
  return element(
    'details',
    { class: 'edit' },
    element('summary', {}, 'Edit and send again'),
    element('label', {}, 'Body', text),
    text.readOnly &&
      note('This page would change bytes of the body that you do not edit. Use `hookproof replay --body` instead.'),
    element('label', {}, 'Headers to set, one on each line', lines),
    canSign && act('Send, newly signed', () => replay(id, true, edit())),
    act('Send with the old signature', () => replay(id, false, edit())),
  );
}

function answerSections({ status, reasonPhrase, headers, body }) {
  const line = [status === 0 ? 'not HTTP' : status, reasonPhrase].join(' ').trim();
  return [
    element('h2', { class: 'answer' }, `Answer of the receiver: ${line}`),
    headersSection(headers, 'Headers of the answer'),
    answerBody(body),
  ];
}

function answerBody(body) {
  const all = fromBase64(body.base64);
  if (body.size === 0) return note('The body of the answer is empty.');
  return section(
    'Body of the answer',
    sectionHead(`Body of the answer (${counted(body.size, 'byte')})`),
    ...warnings(
      body.cut && `The first ${bytes(all.length)} of ${bytes(body.size)} bytes are shown.`,
      body.masked && 'The answer contains a credential. It is masked here.',
    ),
    element('pre', { tabindex: '0', 'aria-label': 'Body of the answer as text' }, textOf(all)),
  );
}

function section(label, ...children) {
  return element('section', { 'aria-label': label }, ...children);
}

function sectionHead(title, ...children) {
  return element('div', { class: 'section-head' }, element('h3', {}, title), ...children);
}

function warnings(...texts) {
  return texts.filter(Boolean).map((text) => element('p', { class: 'warning' }, text));
}

/** Returns a fact of a list. `copy` is the text that its button copies; `remark` follows the value. */
function fact(name, value, { mono, copy, remark } = {}) {
  if (!value) return undefined;
  const dd = element('dd', { class: mono ? 'mono' : undefined }, value);
  const label = `Copy the ${name.toLowerCase()}`;
  if (copy)
    dd.append(
      ' ',
      copyButton('Copy', () => copy, { class: 'quiet', 'aria-label': label }),
    );
  if (remark) dd.append(' ', element('span', { class: 'masked' }, remark));
  return element('div', {}, element('dt', {}, name), dd);
}

function facts(view, permalink) {
  const { notificationId, transactionId, request } = view;
  const remark = view.claimed && 'not verified';
  return element(
    'dl',
    { class: 'facts' },
    fact('Time', `${clock(view.at)}, took ${dom.took(view.durationMs)}`),
    fact('Request', `${request.method} ${request.target} HTTP/${request.httpVersion}`, { mono: true }),
    fact('From', view.remoteAddress, { mono: true }),
    fact('Kind', view.kind),
    fact('Notification', notificationId, { mono: true, copy: notificationId, remark }),
    fact('Transaction', transactionId, { mono: true, copy: transactionId, remark }),
    fact('Reason', view.reason, { mono: true }),
    fact('Link', `#${view.id}`, { mono: true, copy: permalink }),
  );
}

function whySection(view) {
  const { explanation, mistakes, diff, verifyCommand, rotation, body } = view;
  const { expected, received, fix, points = [] } = explanation;
  const said = [
    ...mistakes.map(({ title, fix: howToFix }) =>
      element('div', { class: 'mistake' }, element('strong', {}, title), element('p', {}, howToFix)),
    ),
    verifyCommand && noMistake(verifyCommand),
    (expected !== undefined || received !== undefined) &&
      element(
        'dl',
        { class: 'facts' },
        fact('Expected', expected),
        fact('Received', mistakes.length === 0 ? received : undefined),
      ),
    points.length > 0 && element('ul', {}, ...points.map((point) => element('li', { class: 'mono' }, point))),
    fix !== undefined && note(fix),
    ...rotation.map(note),
  ].filter(Boolean);
  if (said.length === 0) return undefined;
  const looks = { accepted: ' fine', duplicate: ' fine', aborted: ' aborted-why', 'answered-correct': ' fine' };
  const difference = 'Difference between the received and the signed bytes';
  return section(
    'Why',
    element('div', { class: `why${looks[dom.look(view)] ?? ''}` }, ...said),
    diff && body && section('Difference', element('h3', {}, difference), diffView(body, diff)),
  );
}

const MORE =
  'Usually the secret differs, or a proxy or gateway changed the body. With the downloaded body, this command tries ' +
  'more:';

function noMistake(command) {
  return element(
    'div',
    { class: 'mistake' },
    element('strong', {}, 'No known signing mistake produces this signature.'),
    element('p', {}, MORE),
    dom.commandLine(command),
  );
}

function headersSection(headers, title) {
  const rows = headers.map(({ name, value, note: why }) => {
    const shown = value ?? element('span', { class: 'masked' }, `masked: ${why}`);
    return element('tr', {}, element('th', { scope: 'row' }, name), element('td', {}, shown));
  });
  return section(
    title,
    sectionHead(`${title} (${counted(headers.length, 'line')})`),
    element('table', { class: 'headers' }, element('tbody', {}, ...rows)),
  );
}

const VIEWS = ['Text', 'JSON', 'Hex'];
const encoder = new TextEncoder();

/** The selected view, which is kept from one delivery to the next. */
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
  const copying = copyButton('Copy', () => copied);
  const download = element('a', { class: 'button', href: `deliveries/${id}/body`, download: '' }, 'Download');
  const tablist = element('div', { role: 'tablist', 'aria-label': 'Show the body as' }, ...tabs);
  return section(
    'Body',
    sectionHead('Body', tablist, element('span', { class: 'end' }, copying, download)),
    ...notes(all, body),
    panel,
  );
}

function notes(all, body) {
  const { invalid, special } = oddities(all);
  return warnings(
    body.cut && `The first ${bytes(all.length)} of ${bytes(body.size)} bytes are shown. The download contains all.`,
    body.masked && 'The body contains a credential of this receiver. It is masked here and in the download.',
    invalid > 0 && `${counted(invalid, 'byte')} that ${invalid === 1 ? 'is' : 'are'} not UTF-8, shown as \\x..`,
    special > 0 && `${counted(special, 'invisible character')}, shown by name.`,
  );
}

function content(name, all, body) {
  if (all.length === 0) return { nodes: [note('The body is empty.')], copied: '' };
  const text = plainText(all);
  if (name === 'Hex') {
    const dump = hexDump(all, dom.isNarrow() ? 8 : 16);
    return { nodes: [element('pre', { class: 'hex', tabindex: '0', 'aria-label': 'Bytes' }, dump)], copied: dump };
  }
  if (name === 'JSON') {
    const laidOut = body.cut
      ? { problem: 'It is too long to be formatted as JSON.' }
      : layOut(text.replace(/^\ufeff/, ''));
    if (laidOut.problem !== undefined) return { nodes: [note(laidOut.problem)], copied: text };
    const nodes = jsonNodes(laidOut, (part) => textOf(encoder.encode(part)));
    return { nodes: [element('pre', { tabindex: '0', 'aria-label': 'JSON' }, nodes)], copied: laidOut.text };
  }
  return { nodes: [element('pre', { tabindex: '0', 'aria-label': 'Text' }, textOf(all))], copied: text };
}

/** Equal parts longer than this many bytes are shortened to their ends. */
const LONG = 240;
const END = 90;
const MAX_RUNS = 3000;
/** Number of bytes after the first difference that are shown as hexadecimal. */
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
    note(sizes(body, signed)),
    legend,
    text,
    firstDifference(received, other),
    runs.length > MAX_RUNS && note('Not all differences are shown.'),
    (body.cut || signed.cut) && note(`Only the first ${bytes(received.length)} bytes are compared here.`),
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
  const same = (bytesOf) => element('span', { class: 'same' }, textOf(bytesOf));
  if (part.length <= LONG) {
    text.append(same(part));
    return;
  }
  const skipped = ` [${counted(part.length - 2 * END, 'equal byte')}] `;
  text.append(same(part.subarray(0, END)), element('span', { class: 'skipped' }, skipped), same(part.subarray(-END)));
}

function firstDifference(received, signed) {
  let at = 0;
  while (at < received.length && received[at] === signed[at]) at += 1;
  const few = (all) => (at < all.length ? hexOf(all.subarray(at, at + FEW)) : 'the end');
  return element(
    'dl',
    { class: 'facts first-difference' },
    fact('First difference', `at offset ${bytes(at)} (hex ${at.toString(16)})`),
    fact('received', few(received), { mono: true }),
    fact('signed', few(signed), { mono: true }),
  );
}
