/** What was sent and what came back: the probe in full, marked against the plain delivery before it, which stands behind a fold. */

import { causeOf, groupBy } from '../causes.ts';
import type { Bytes, Exchange, ScenarioResult } from '../result-document.ts';
import { bodyHex, bodyText, bytesOf, type ChangedBytes, changedBytes } from './bodies.ts';
import { html, type Markup, sizeOf } from './markup.ts';

/** Of a flow with more deliveries, the one that decided and the first others are shown. */
const MOST_PROBES = 3;

/** The plain deliveries that a probe is compared with. */
interface Controls {
  readonly before: Exchange | null;
  readonly after: Exchange | null;
}

function sizeOfBody({ length, truncated }: Bytes): string {
  const size = length === 1 ? '1 byte' : `${length} bytes`;
  return truncated ? `${size}, of which the beginning was kept` : size;
}

/** Hex is for what does not show as text: changed bytes, and bytes that are no text. */
function body(body: Bytes, changes: readonly ChangedBytes[]): Markup {
  if (body.length === 0) return html`<p class="none">no body</p>`;
  const bytes = bytesOf(body);
  const isText = body.text !== null;
  const hex = html`<pre class="hex">${bodyHex(bytes, changes)}</pre>`;
  const size = html`<p class="size">${sizeOfBody(body)}${!isText && ', not text'}</p>`;
  if (!isText) return html`${size}${hex}`;
  const folded =
    changes.length > 0 && html`<details class="fold"><summary>Changed bytes in hex</summary>${hex}</details>`;
  return html`${size}<pre>${bodyText(bytes, changes)}</pre>${folded}`;
}

function request(exchange: Exchange, { before, after }: Controls): Markup {
  const sent = exchange.request.body;
  const compared =
    before === null
      ? []
      : changedBytes(bytesOf(sent), bytesOf(before.request.body), after === null ? null : bytesOf(after.request.body));
  return html`<section><h4>Request</h4><pre>${requestHead(exchange, before?.request ?? null)}</pre>${body(sent, compared ?? [])}${
    compared === null && html`<p class="size">another notification than the plain delivery: nothing is marked</p>`
  }</section>`;
}

function response({ response, error }: Exchange): Markup {
  if (response !== null) {
    return html`<section><h4>Response</h4><pre>${responseHead(response)}</pre>${body(response.body, [])}</section>`;
  }
  const what = error === null ? 'no answer' : `${error.message} (${error.code}, while: ${error.phase})`;
  return html`<section><h4>Response</h4><p class="none">${what}</p></section>`;
}

function changesOf({ changes }: Exchange): string {
  return changes.map(({ stage, label }) => `${stage}: ${label}`).join('; ');
}

function probe(exchange: Exchange, controls: Controls): Markup {
  const changed = changesOf(exchange);
  return html`<article class="exchange"><p class="label"><b>${exchange.label}</b>${changed !== '' && html` changed ${changed}`}</p><div class="pair">${request(exchange, controls)}${response(exchange)}</div></article>`;
}

function answerOf({ response, error }: Exchange): string {
  if (response !== null) return `${response.status}`;
  return error === null ? 'no answer' : error.code;
}

const NOTHING: Controls = { before: null, after: null };

function control(exchange: Exchange): Markup {
  return html`<details class="fold"><summary>${exchange.label}: ${answerOf(exchange)}, with nothing changed</summary><div class="pair">${request(exchange, NOTHING)}${response(exchange)}</div></details>`;
}

/** The probe that decided first, then the others in their order. */
function probesOf({ exchanges, delivery }: ScenarioResult): Exchange[] {
  const probes = exchanges.filter(({ role }) => role === 'probe');
  const decided = probes.find(({ label }) => label === delivery);
  return decided === undefined ? probes : [decided, ...probes.filter((one) => one !== decided)];
}

/** A control that was accepted is one line of the times, but for the first, which the marks refer to. */
function controlsOf(exchanges: readonly Exchange[]): { shown: Exchange[]; compared: Controls } {
  const controls = exchanges.filter(({ role }) => role === 'control');
  const [before = null, after = null] = controls;
  const shown = controls.filter((exchange, at) => at === 0 || exchange.response?.status !== 200);
  return { shown: shown.slice(0, MOST_PROBES), compared: { before, after } };
}

/** The exchanges of a check. Empty when none were kept. */
function exchangesOf(result: ScenarioResult): Markup | '' {
  if (result.exchanges.length === 0) return '';
  const probes = probesOf(result);
  const { shown, compared } = controlsOf(result.exchanges);
  const left = probes.length - MOST_PROBES;
  return html`<h3>Exchanges</h3>${timingsOf(result.exchanges)}${probes.slice(0, MOST_PROBES).map((exchange) => probe(exchange, compared))}${
    left > 0 && html`<p class="size">and ${left} more deliveries: the JSON report has them</p>`
  }${shown.map(control)}`;
}

/** The answers alone, for a page that would grow too large. */
function answersOf(result: ScenarioResult): Markup | '' {
  if (result.exchanges.length === 0) return '';
  const answers = result.exchanges.slice(0, MOST_PROBES + 1).map((one) => `${one.label}: ${answerOf(one)}`);
  return html`<p class="size">${answers.join(', ')}. To keep this page small, the exchanges of this check are in the JSON report only; one of the same cause is shown in full.</p>`;
}

/** The head of a request or a response, with the lines marked that the plain delivery beside it does not have. */

type Lines = Exchange['request']['headers'];

const MOST_LINES = 16;
const LONGEST_VALUE = 160;

const NEW_LINE = html`
`;

function short(text: string): string {
  return text.length <= LONGEST_VALUE ? text : `${text.slice(0, LONGEST_VALUE)}… [${text.length} characters]`;
}

function headerText([name, value]: Lines[number]): string {
  return `${short(name)}: ${short(value)}`;
}

function listed(lines: readonly Markup[], left: number): Markup {
  const more = left > 0 ? html`<i>and ${left} more header lines</i>` : '';
  return html`${lines.map((line) => html`${line}${NEW_LINE}`)}${more}`;
}

const keyOf = ([name, value]: Lines[number]): string => JSON.stringify([name, value]);
const nameOf = ([name]: Lines[number]): string => name.toLowerCase();

/** A length that only follows from the body says nothing about the change. */
const follows = (line: Lines[number]): boolean => nameOf(line) === 'content-length';

function marked(text: string, isNew: boolean): Markup {
  return isNew ? html`<mark>${text}</mark>` : html`${text}`;
}

/** `control` is null where there is nothing to compare with. */
function requestHead({ request }: Exchange, control: Exchange['request'] | null): Markup {
  const first = `${request.method} ${short(request.target)}`;
  const had = new Set(control?.headers.map(keyOf));
  const names = new Set(request.headers.map(nameOf));
  const lines = request.headers
    .slice(0, MOST_LINES)
    .map((line) => marked(headerText(line), control !== null && !had.has(keyOf(line)) && !follows(line)));
  const gone = (control?.headers ?? [])
    .filter((line) => !names.has(nameOf(line)))
    .slice(0, MOST_LINES)
    .map((line) => html`<del>${headerText(line)}</del>`);
  const isOther = control !== null && (control.method !== request.method || control.target !== request.target);
  return listed([marked(first, isOther), ...lines, ...gone], request.headers.length - MOST_LINES);
}

function responseHead({ status, headers }: NonNullable<Exchange['response']>): Markup {
  const lines = headers.slice(0, MOST_LINES).map((line) => html`${headerText(line)}`);
  return listed([html`<b>${status}</b>`, ...lines], headers.length - MOST_LINES);
}

/** The times of the exchanges of one check, drawn to one scale. */

const MOST_ROWS = 12;

type Timings = Exchange['timings'];

/** "0.4 ms", "31 ms", "2.5 s". */
export function milliseconds(value: number): string {
  if (value >= 1000) return `${(value / 1000).toFixed(1)} s`;
  return `${value < 10 ? value.toFixed(1) : Math.round(value)} ms`;
}

interface Phase {
  readonly word: string;
  /** Class of the bar, which is also told by its height: a connection is thin, an answer is thick. */
  readonly kind: 'c' | 't' | 'w' | 'r';
  readonly height: number;
  readonly until: number;
}

/** What happened, each with the millisecond at which it was done. */
function phasesOf({ connectMs, tlsMs, firstByteMs, totalMs }: Timings): Phase[] {
  const phases: (Phase | false)[] = [
    connectMs !== null && { word: 'connected', kind: 'c', height: 2, until: connectMs },
    tlsMs !== null && { word: 'TLS', kind: 't', height: 4, until: tlsMs },
    firstByteMs !== null && { word: 'first byte', kind: 'w', height: 6, until: firstByteMs },
    { word: firstByteMs === null ? 'given up' : 'whole answer', kind: 'r', height: 8, until: totalMs },
  ];
  return phases.filter((phase) => phase !== false);
}

/** At least wide enough to be seen. */
const NARROWEST = 0.8;

function bars(phases: readonly Phase[], longest: number): Markup[] {
  let from = 0;
  return phases.map(({ kind, height, until }) => {
    const x = (from / longest) * 100;
    const width = Math.max(NARROWEST, ((until - from) / longest) * 100);
    from = Math.max(from, until);
    const left = Math.min(x, 100 - NARROWEST);
    return html`<rect class="${kind}" x="${left.toFixed(1)}" y="${(8 - height) / 2}" width="${width.toFixed(1)}" height="${height}"/>`;
  });
}

function row({ label, timings }: Exchange, longest: number): Markup {
  const phases = phasesOf(timings);
  const words = phases.map(({ word, until }) => `${word} ${milliseconds(until)}`).join(', ');
  return html`<li><span>${label}</span><svg viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">${bars(phases, longest)}</svg><span>${timings.reused && 'kept connection, '}${words}</span></li>`;
}

/** Milliseconds from the start of each attempt. */
function timingsOf(exchanges: readonly Exchange[]): Markup {
  const shown = exchanges.slice(0, MOST_ROWS);
  const longest = Math.max(0.001, ...shown.map(({ timings }) => timings.totalMs));
  const left = exchanges.length - shown.length;
  return html`<ul class="times">${shown.map((exchange) => row(exchange, longest))}${left > 0 && html`<li><span>and ${left} more</span></li>`}</ul>`;
}

/** Which exchanges a page shows: it has to stay small however much went wrong. */

/** Characters for all exchanges together. What is beyond gets the answers in one line. */
const ALLOWED = 1_400_000;

/** What a check has to show. */
export interface Evidence {
  readonly exchanges: Markup | '';
  /** Whether an earlier check with the same cause shows the same: on paper, where nothing unfolds, once is enough. */
  readonly again: boolean;
}

/** The first of each cause before the second of any, so that no cause goes without. */
function inOrder(results: readonly ScenarioResult[]): { result: ScenarioResult; again: boolean }[] {
  const groups = groupBy(results, causeOf).map(([, members]) => members);
  return [
    ...groups.flatMap((members) => members.slice(0, 1)).map((result) => ({ result, again: false })),
    ...groups.flatMap((members) => members.slice(1)).map((result) => ({ result, again: true })),
  ];
}

/** The finished exchanges of each check that has any. */
export function evidenceOf(results: readonly ScenarioResult[]): ReadonlyMap<ScenarioResult, Evidence> {
  let left = ALLOWED;
  return new Map(
    inOrder(results.filter(({ exchanges }) => exchanges.length > 0)).map(({ result, again }) => {
      const shown = left > 0 ? exchangesOf(result) : '';
      if (shown !== '' && sizeOf(shown) <= left) {
        left -= sizeOf(shown);
        return [result, { exchanges: shown, again }];
      }
      return [result, { exchanges: answersOf(result), again }];
    }),
  );
}
