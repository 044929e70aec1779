/** What was sent and what came back: the probe in full, marked against the plain delivery before it, which stands behind a fold. */
import type { Bytes, Exchange, ScenarioResult } from '../../result/result-document.ts';
import { bodyHex, bodyText, bytesOf } from './body-text.ts';
import { type ChangedBytes, changedBytes } from './changed-bytes.ts';
import { html, type Markup } from './markup.ts';
import { requestHead, responseHead } from './request-lines.ts';
import { timingsOf } from './timings.ts';

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

/** The probe that the reason names first, then the others in their order. */
function probesOf({ exchanges, reason }: ScenarioResult): Exchange[] {
  const probes = exchanges.filter(({ role }) => role === 'probe');
  const decided = probes.find(({ label }) => reason.startsWith(`${label}: `));
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
export function exchangesOf(result: ScenarioResult): Markup | '' {
  if (result.exchanges.length === 0) return '';
  const probes = probesOf(result);
  const { shown, compared } = controlsOf(result.exchanges);
  const left = probes.length - MOST_PROBES;
  return html`<h3>Exchanges</h3>${timingsOf(result.exchanges)}${probes.slice(0, MOST_PROBES).map((exchange) => probe(exchange, compared))}${
    left > 0 && html`<p class="size">and ${left} more deliveries: the JSON report has them</p>`
  }${shown.map(control)}`;
}

/** The answers alone, for a page that would grow too large. */
export function answersOf(result: ScenarioResult): Markup | '' {
  if (result.exchanges.length === 0) return '';
  const answers = result.exchanges.slice(0, MOST_PROBES + 1).map((one) => `${one.label}: ${answerOf(one)}`);
  return html`<p class="size">${answers.join(', ')}. To keep this page small, the exchanges of this check are in the JSON report only; one of the same cause is shown in full.</p>`;
}
