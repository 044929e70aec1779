/** The verdict, the numbers, and what was tested. */
import type { ResultDocument } from '../../result/result-document.ts';
import {
  caveats,
  connectionOf,
  featuresOf,
  fixturesOf,
  headline,
  isComplete,
  judgedLine,
  numbers,
  VERDICT_SIGN,
} from '../headline-words.ts';
import { counted, formatDuration } from '../layout.ts';
import { html, type Markup } from './markup.ts';
import { capital } from './prose.ts';
import { FACES, type Face, faceOf } from './verdicts.ts';

const GAP = 0.4;

/** In a box of 8 by 8, as the other shapes. */
const TICK = 'm0 4.6 1.2-1.2 1.9 1.9 3.7-4.3 1.2 1.1-4.9 5.6z';

function countOf({ results }: ResultDocument, { verdict }: Face): number {
  return results.filter((result) => result.verdict === verdict).length;
}

/** The numbers as lengths, in the order of the words. */
function bar(document: ResultDocument): Markup {
  const total = Math.max(1, document.planned, document.results.length);
  let x = 0;
  const parts = FACES.map((face) => {
    const width = (countOf(document, face) / total) * 100;
    const rect =
      width === 0
        ? ''
        : html`<rect class="v-${face.verdict}" x="${x.toFixed(2)}" width="${Math.max(0.5, width - GAP).toFixed(2)}" height="6"/>`;
    x += width;
    return rect;
  });
  return html`<svg class="bar" viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true">${parts}</svg>`;
}

/** "2026-11-21 19:52:42 UTC"; as it is when it is no such date. */
function when(startedAt: string): string {
  const [, day, time] = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(?:\.\d+)?Z$/.exec(startedAt) ?? [];
  return day === undefined ? startedAt : `${day} ${time} UTC`;
}

/** What was configured, and with which program and catalogue: enough to run it again. */
export function facts(document: ResultDocument): Markup {
  const { baseline, catalogue, profile, seed, shard, strict, target, tool } = document;
  const rows: [string, string][] = [
    ['Started', when(document.startedAt)],
    ['Took', `${formatDuration(document.durationMs)}, ${counted(document.requests, 'request')}`],
    ['Configured', featuresOf(target)],
    ['To be refused', fixturesOf(target)],
    ['Profile', profile ?? ''],
    ['Connection', target.tls === null ? 'plain HTTP' : connectionOf(target.tls)],
    ['Trusted by', target.tls?.trustedBy ?? ''],
    ['Client certificate', clientCertificate(target.tls)],
    ['Shard', shard === null ? '' : `${shard.index} of ${shard.of}`],
    ['Strict', strict ? 'yes: warnings fail' : ''],
    ['Baseline', baseline === null ? '' : `${baseline.file}, ${counted(baseline.entries, 'entry', 'entries')}`],
    ['Seed', seed],
    ['Catalogue', `${counted(catalogue.scenarios, 'check')}, ${catalogue.digest.slice(0, 19)}`],
    ['Program', `${tool.name} ${tool.version}`],
  ];
  const known = rows.filter(([, value]) => value !== '');
  return html`<dl class="facts">${known.map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl>`;
}

function clientCertificate(tls: ResultDocument['target']['tls']): string {
  if (tls === null || tls.clientCertificateRequested === null) return '';
  return tls.clientCertificateRequested ? 'asked for' : 'not asked for';
}

export function masthead(document: ResultDocument): Markup {
  const { verdict } = document;
  const face = faceOf(VERDICT_SIGN[verdict]);
  const words = headline(document);
  return html`<header><p class="brand">hookproof report</p><h1><svg class="shape v-${face.verdict}" viewBox="0 0 8 8" aria-hidden="true"><path d="M0 0${verdict === 'conformant' ? TICK : face.path}"/></svg>${words.charAt(0)}${words.slice(1).toLowerCase()}</h1><p class="url">${document.target.url}</p>${bar(document)}<p class="numbers">${numbers(document)}. <strong>${judgedLine(document)}</strong>${!isComplete(document) && html` <em>incomplete</em>`}</p>${caveats(document).map((line) => html`<p class="caveat">${capital(line)}.</p>`)}</header>`;
}
