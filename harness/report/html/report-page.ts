/**
 * The HTML report: one file that needs nothing else. It reads from the top: the verdict, what the endpoint behaves like, what must be
 * mended, what is not verified; then every check.
 *
 * Nothing is loaded and nothing is sent: the policy in the page allows one style and one script, each by its digest, and no more. The
 * script only adds comfort (a filter, buttons for copying): without it everything is there to be read.
 */
import { createHash } from 'node:crypto';
import { counted, formatDuration } from '../layout.ts';
import type { ResultDocument } from '../result-document.ts';
import { isPartial } from '../verdict.ts';
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
} from '../wording.ts';
import { checks, type Places, register, requirementIds } from './checks.ts';
import { evidenceOf } from './exchanges.ts';
import { behaviour, mend } from './findings.ts';
import { capital, html, type Markup, textOf } from './markup.ts';
import { advice, harnessErrors, inconclusive, known, notes, notVerified, stale } from './run-notes.ts';
import { SCRIPT } from './script.ts';
import { STYLE } from './style.ts';
import { FACES, type Face, faceOf, matrix } from './verdict-shapes.ts';

const digest = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

function policy(): string {
  return [
    "default-src 'none'",
    `style-src ${digest(STYLE)}`,
    `script-src ${digest(SCRIPT)}`,
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ');
}

function numbered(names: readonly string[]): ReadonlyMap<string, number> {
  return new Map(names.map((name, at) => [name, at]));
}

/** Whether the endpoint passed the whole catalogue without a warning. */
function isFlawless(document: ResultDocument): boolean {
  return document.verdict === 'conformant' && document.counts.warn === 0 && !isPartial(document);
}

function goodNews(document: ResultDocument): Markup | '' {
  if (!isFlawless(document)) return '';
  return html`<section><h2>What must be mended</h2><p>Nothing. Every check that applies was judged, and none failed. What this does not say stands under <a href="#unseen">Not verified</a>.</p></section>`;
}

function body(document: ResultDocument): Markup {
  const { baseline, results } = document;
  const places: Places = {
    ofCheck: numbered(results.map(({ id }) => id)),
    ofRequirement: numbered(requirementIds(results)),
  };
  const evidence = evidenceOf(results);
  const unseen = html`<div id="unseen">${notVerified(document.notVerified)}</div>`;
  // Where there is little to say, what no run can see stands in the middle of the page, and else at its side.
  const hasNews = !isFlawless(document);
  return html`${masthead(document)}
<main><div class="first"><div class="lead">${behaviour(document)}${stale(baseline, places)}${harnessErrors(results, places)}${mend(document, places)}${goodNews(document)}${known(results, baseline, places)}${inconclusive(document, places)}${advice(document.advice)}${notes(results, places)}${!hasNews && unseen}</div>
<aside><section><h2>This run</h2>${facts(document)}</section>${hasNews && unseen}</aside></div>
${
  results.length > 0 &&
  html`<section id="suites"><h2>Suites</h2>${matrix(results)}</section>
<section id="checks"><h2>Checks</h2>${checks(results, evidence, places)}</section>
<section><h2>Requirements</h2>${register(results)}</section>`
}</main>`;
}

/** The document as a page, ending with a newline. */
export function renderHtml(document: ResultDocument): string {
  const head = html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="${policy()}"><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="referrer" content="no-referrer"><meta name="color-scheme" content="light dark"><title>${headline(document).toLowerCase()}: ${document.target.url} - hookproof</title>`;
  // Constants of ours, whose digests stand in the policy: they are written as they are.
  return `${textOf(head)}<style>${STYLE}</style></head><body>${textOf(body(document))}<script>${SCRIPT}</script></body></html>\n`;
}

/** The verdict, the numbers, and what was tested. */

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
