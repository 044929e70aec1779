// The body: as text, as JSON, and as hexadecimal.
import { fromBase64, hexDump, oddities, plainText, textOf } from './bytes.js';
import { copyButton, element, isNarrow } from './dom.js';
import { jsonNodes, layOut } from './json-view.js';
import { bytes, counted } from './words.js';

const VIEWS = ['Text', 'JSON', 'Hex'];
const encoder = new TextEncoder();

/** Stays as it was chosen from one delivery to the next. */
let chosen = 'Text';

export function bodyView(id, body) {
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
  if (body.masked)
    said.push('A credential of this receiver stands in the body. It is masked here, in the download too.');
  if (invalid > 0)
    said.push(`${counted(invalid, 'byte')} that ${invalid === 1 ? 'is' : 'are'} no UTF-8: marked as \\x..`);
  if (special > 0)
    said.push(`${counted(special, 'invisible character')}: named where ${special === 1 ? 'it stands' : 'they stand'}.`);
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
      ? { problem: 'It is too long to be laid out as JSON here.' }
      : layOut(text.replace(/^\ufeff/, ''));
    if (laidOut.problem !== undefined)
      return { nodes: [element('p', { class: 'note' }, laidOut.problem)], copied: text };
    const nodes = jsonNodes(laidOut, (part) => textOf(encoder.encode(part)));
    return { nodes: [element('pre', { tabindex: '0', 'aria-label': 'JSON' }, nodes)], copied: laidOut.text };
  }
  return { nodes: [element('pre', { tabindex: '0', 'aria-label': 'Text' }, textOf(all))], copied: text };
}
