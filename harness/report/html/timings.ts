/** The times of the exchanges of one check, drawn to one scale. */
import type { Exchange } from '../../result/result-document.ts';
import { html, type Markup } from './markup.ts';

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
export function timingsOf(exchanges: readonly Exchange[]): Markup {
  const shown = exchanges.slice(0, MOST_ROWS);
  const longest = Math.max(0.001, ...shown.map(({ timings }) => timings.totalMs));
  const left = exchanges.length - shown.length;
  return html`<ul class="times">${shown.map((exchange) => row(exchange, longest))}${left > 0 && html`<li><span>and ${left} more</span></li>`}</ul>`;
}
