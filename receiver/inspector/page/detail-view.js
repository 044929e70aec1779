// The details of one delivery.
import { bodyView } from './body-view.js';
import { diffView } from './diff-view.js';
import { commandLine, copyButton, element } from './dom.js';
import { clock, counted, took, verdict } from './words.js';

export function detailView(view, { back, permalink }) {
  const mark = element('p', { class: `mark ${view.outcome}` }, verdict(view));
  return element(
    'article',
    {},
    element('button', { type: 'button', class: 'back', onclick: back }, 'Back to the list'),
    mark,
    element('h2', { id: 'detail-title', tabindex: '-1' }, view.explanation.title),
    facts(view, permalink),
    whySection(view),
    view.body === undefined
      ? element('section', {}, element('h3', {}, 'Body'), element('p', { class: 'note' }, view.noBody))
      : bodyView(view.id, view.body),
    headersSection(view.headers),
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
      fact('From', view.remoteAddress, { mono: true }),
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
  const look = { accepted: ' fine', duplicate: ' fine', aborted: ' aborted-why' }[view.outcome] ?? '';
  return element(
    'section',
    { 'aria-label': 'Why' },
    element('div', { class: `why${look}` }, ...said),
    diff === undefined || body === undefined
      ? undefined
      : element(
          'section',
          { 'aria-label': 'Difference' },
          element('h3', {}, 'The difference of what was received and what was signed'),
          diffView(body, diff),
        ),
  );
}

function noMistake(view) {
  return element(
    'div',
    { class: 'mistake' },
    element('strong', {}, 'No known signing mistake gives this signature.'),
    element(
      'p',
      {},
      'Most often the secret is another one, or the body was changed on the way (a proxy, a gateway). With the downloaded body, this tries more:',
    ),
    commandLine(`hookproof verify delivery-${view.id}.bin --signature "$HEADER" --secret-file secret.txt`),
  );
}

function headersSection(headers) {
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
    { 'aria-label': 'Headers' },
    element(
      'div',
      { class: 'section-head' },
      element('h3', {}, `Headers, as they came (${counted(headers.length, 'line')})`),
    ),
    element('table', { class: 'headers' }, element('tbody', {}, ...rows)),
  );
}
