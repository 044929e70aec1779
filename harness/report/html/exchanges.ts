/** Renders requests and responses: probes, whose differences from the control are marked, and folded controls. */
import { changesInWords } from '../body-changes.ts';
import { causeKey, decisiveProbe, groupBy } from '../causes.ts';
import { bytesOf, type ChangedBytes, changedBytes } from '../changed-bytes.ts';
import { counted } from '../layout.ts';
import type { Bytes, Exchange, ScenarioResult } from '../result-document.ts';
import { bodyHex, bodyText } from './bodies.ts';
import { html, type Markup, NEW_LINE, prose, sizeOf } from './markup.ts';

/** Maximum number of characters for all exchanges on a page. Beyond it, checks show only their answers, in one line. */
const MAX_PAGE_CHARACTERS = 1_400_000;

/** What a page shows of a check's exchanges. */
export interface ShownExchanges {
  readonly exchanges: Markup | '';
  /** Whether an earlier check with the same cause has the same exchanges. Repeated ones are not printed. */
  readonly isRepeated: boolean;
}

/**
 * Returns the evidence of each check with exchanges. The first check of each cause gets space before the second check
 * of any.
 */
export function evidenceOf(results: readonly ScenarioResult[]): ReadonlyMap<ScenarioResult, ShownExchanges> {
  let left = MAX_PAGE_CHARACTERS;
  const withExchanges = results.filter(({ exchanges }) => exchanges.length > 0);
  const groups = groupBy(withExchanges, causeKey).map(([, members]) => members);
  const firsts = new Set(groups.flatMap(([first]) => first ?? []));
  const ordered = [...firsts, ...groups.flat().filter((result) => !firsts.has(result))];
  return new Map(
    ordered.map((result) => {
      const full = left > 0 ? exchangesOf(result) : '';
      const fits = full !== '' && sizeOf(full) <= left;
      if (fits) left -= sizeOf(full);
      return [result, { exchanges: fits ? full : answersOf(result), isRepeated: fits && !firsts.has(result) }];
    }),
  );
}

/** Maximum number of probes shown for a check: the decisive one, then the first of the others. */
const MAX_PROBES = 3;

/** The valid deliveries that a probe is compared with. */
interface Controls {
  readonly before: Exchange | null;
  readonly after: Exchange | null;
}

function exchangesOf(result: ScenarioResult): Markup {
  const probes = result.exchanges.filter(({ role }) => role === 'probe');
  const controls = result.exchanges.filter(({ role }) => role === 'control');
  const decisive = decisiveProbe(result);
  const ordered = decisive === undefined ? probes : [decisive, ...probes.filter((one) => one !== decisive)];
  const [before = null, after = null] = controls;
  // Accepted controls appear only in the timings, except the first, with which the probes are compared.
  const shown = controls.filter((exchange, at) => at === 0 || exchange.response?.status !== 200).slice(0, MAX_PROBES);
  const left = probes.length - MAX_PROBES;
  return html`<h3>Exchanges</h3>${timingsOf(result.exchanges)}${ordered
    .slice(0, MAX_PROBES)
    .map((exchange) => probe(exchange, { before, after }, changesInWords(result, exchange)))}${
    left > 0 && html`<p class="size">and ${counted(left, 'more delivery', 'more deliveries')}: see the JSON report</p>`
  }${shown.map(control)}`;
}

/** Renders the answers alone, for a page that would become too large. */
function answersOf({ exchanges }: ScenarioResult): Markup {
  const answers = exchanges.slice(0, MAX_PROBES + 1).map((exchange) => `${exchange.label}: ${answerOf(exchange)}`);
  return html`<p class="size">${answers.join(', ')}. To keep this page small, the exchanges of this check are only in
the JSON report; those of a check with the same cause are shown.</p>`;
}

function probe(exchange: Exchange, controls: Controls, phrases: readonly string[]): Markup {
  const changes = phrases.join('; ');
  return html`<article class="exchange"><p class="label"><b>${exchange.label}</b>${
    changes !== '' && html` changed ${prose(changes)}`
  }</p>
<div class="pair">${request(exchange, controls)}${response(exchange)}</div></article>`;
}

function control(exchange: Exchange): Markup {
  return html`<details class="fold"><summary>${exchange.label}: ${answerOf(exchange)}, nothing changed</summary>
<div class="pair">${request(exchange, { before: null, after: null })}${response(exchange)}</div></details>`;
}

function answerOf({ response, error }: Exchange): string {
  if (response !== null) return `${response.status}`;
  return error === null ? 'no answer' : error.code;
}

function request(exchange: Exchange, { before, after }: Controls): Markup {
  const sent = exchange.request.body;
  const second = after === null ? null : bytesOf(after.request.body);
  const changes = before === null ? [] : changedBytes(bytesOf(sent), bytesOf(before.request.body), second);
  const head = requestHead(exchange.request, before?.request ?? null);
  return html`<section><h4>Request</h4><pre>${head}</pre>${body(sent, changes ?? [])}${
    changes === null && html`<p class="size">not the notification of the control: nothing is marked</p>`
  }</section>`;
}

function response({ response: answer, error }: Exchange): Markup {
  if (answer !== null) {
    return html`<section><h4>Response</h4><pre>${responseHead(answer)}</pre>${body(answer.body, [])}</section>`;
  }
  const what = error === null ? 'no answer' : `${error.message} (${error.code} in phase ${error.phase})`;
  return html`<section><h4>Response</h4><p class="none">${what}</p></section>`;
}

/** Renders a body. Hex shows changed bytes, and bodies that are not text. */
function body({ length, text, truncated, ...rest }: Bytes, changes: readonly ChangedBytes[]): Markup {
  if (length === 0) return html`<p class="none">no body</p>`;
  const bytes = bytesOf({ text, ...rest });
  const hex = html`<pre class="hex">${bodyHex(bytes, changes)}</pre>`;
  const notes = [counted(length, 'byte'), ...(truncated ? ['truncated'] : []), ...(text === null ? ['not text'] : [])];
  const size = html`<p class="size">${notes.join(', ')}</p>`;
  if (text === null) return html`${size}${hex}`;
  return html`${size}<pre>${bodyText(bytes, changes)}</pre>${
    changes.length > 0 && html`<details class="fold"><summary>Changed bytes in hex</summary>${hex}</details>`
  }`;
}

type Request = Exchange['request'];
type HeaderLine = Request['headers'][number];

const MAX_HEADER_LINES = 16;

/**
 * Renders the request line and the headers. Those that the control does not contain are marked; `compared` is null if
 * there is nothing to compare with.
 */
function requestHead({ headers, method, target }: Request, compared: Request | null): Markup {
  const known = new Set(compared?.headers.map(keyOf));
  const names = new Set(headers.map(nameOf));
  // A Content-Length that differs only because the body does is not marked.
  const isNew = (line: HeaderLine) => compared !== null && !known.has(keyOf(line)) && nameOf(line) !== 'content-length';
  const lines = headers.slice(0, MAX_HEADER_LINES).map((line) => marked(headerText(line), isNew(line)));
  const removed = (compared?.headers ?? [])
    .filter((line) => !names.has(nameOf(line)))
    .slice(0, MAX_HEADER_LINES)
    .map((line) => html`<del>${headerText(line)}</del>`);
  const isOther = compared !== null && (compared.method !== method || compared.target !== target);
  return listHeaderLines([marked(`${method} ${short(target)}`, isOther), ...lines, ...removed], headers.length);
}

function responseHead({ status, headers }: NonNullable<Exchange['response']>): Markup {
  const lines = headers.slice(0, MAX_HEADER_LINES).map((line) => html`${headerText(line)}`);
  return listHeaderLines([html`<b>${status}</b>`, ...lines], headers.length);
}

function listHeaderLines(lines: readonly Markup[], headers: number): Markup {
  const left = headers - MAX_HEADER_LINES;
  const more = left > 0 ? html`<i>and ${counted(left, 'more header line')}</i>` : '';
  return html`${lines.map((line) => html`${line}${NEW_LINE}`)}${more}`;
}

function marked(text: string, isNew: boolean): Markup {
  return isNew ? html`<mark>${text}</mark>` : html`${text}`;
}

function keyOf(line: HeaderLine): string {
  return JSON.stringify(line);
}

function nameOf([name]: HeaderLine): string {
  return name.toLowerCase();
}

function headerText([name, value]: HeaderLine): string {
  return `${short(name)}: ${short(value)}`;
}

const MAX_VALUE = 160;

function short(text: string): string {
  return text.length <= MAX_VALUE ? text : `${text.slice(0, MAX_VALUE)}… [${text.length} characters]`;
}

const MAX_TIMED = 12;

/** Renders the timings of the exchanges on a common scale, in milliseconds from the start of each attempt. */
function timingsOf(exchanges: readonly Exchange[]): Markup {
  const shown = exchanges.slice(0, MAX_TIMED);
  const longest = Math.max(0.001, ...shown.map(({ timings }) => timings.totalMs));
  const left = exchanges.length - shown.length;
  const rows = shown.map(({ label, timings }) => {
    const phases = phasesOf(timings);
    const words = phases.map(({ word, until }) => `${word} ${milliseconds(until)}`).join(', ');
    return html`<li><span>${label}</span>
<svg viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">${bars(phases, longest)}</svg>
<span>${timings.reused && 'reused connection, '}${words}</span></li>`;
  });
  return html`<ul class="times">${rows}${left > 0 && html`<li><span>and ${left} more</span></li>`}</ul>`;
}

/** Formats milliseconds: "0.4 ms", "31 ms", "2.5 s". */
export function milliseconds(value: number): string {
  if (value >= 1000) return `${(value / 1000).toFixed(1)} s`;
  return `${value < 10 ? value.toFixed(1) : Math.round(value)} ms`;
}

interface Phase {
  readonly word: string;
  /** The class of the bar. Its height repeats the meaning: connecting is thin, the answer is thick. */
  readonly kind: 'c' | 't' | 'w' | 'r';
  readonly height: number;
  readonly until: number;
}

function phasesOf({ connectMs, tlsMs, firstByteMs, totalMs }: Exchange['timings']): Phase[] {
  const phases: (Phase | false)[] = [
    connectMs !== null && { word: 'connected', kind: 'c', height: 2, until: connectMs },
    tlsMs !== null && { word: 'TLS', kind: 't', height: 4, until: tlsMs },
    firstByteMs !== null && { word: 'first byte', kind: 'w', height: 6, until: firstByteMs },
    { word: firstByteMs === null ? 'ended' : 'complete', kind: 'r', height: 8, until: totalMs },
  ];
  return phases.filter((phase) => phase !== false);
}

/** Minimum width of a bar in percent, so that it is visible. */
const MIN_WIDTH = 0.8;

function bars(phases: readonly Phase[], longest: number): Markup[] {
  let from = 0;
  return phases.map(({ kind, height, until }) => {
    const x = Math.min((from / longest) * 100, 100 - MIN_WIDTH).toFixed(1);
    const width = Math.max(MIN_WIDTH, ((until - from) / longest) * 100).toFixed(1);
    from = Math.max(from, until);
    return html`<rect class="${kind}" x="${x}" y="${(8 - height) / 2}" width="${width}" height="${height}"/>`;
  });
}
