/**
 * Renders the HTML report of a run: the verdict, the diagnosis, what to fix, what is not verified, and then every
 * check.
 */
import type { Comparison } from '../comparison-document.ts';
import { changesSince } from '../comparison-wording.ts';
import { counted, formatDuration } from '../layout.ts';
import type { ResultDocument } from '../result-document.ts';
import { agentText, causesIn } from '../shown-causes.ts';
import {
  caveats,
  connectionOf,
  featureNames,
  fixturesOf,
  GOOD_TO_KNOW,
  isComplete,
  judgedLine,
  levelInWords,
  numbers,
  outOfDate,
  signOf,
  sourcesOf,
  stepsInWords,
  verdictInWords,
} from '../wording.ts';
import { type Anchors, anchorsOf, checkLink, checks, requirementList } from './checks.ts';
import { comparisonSection } from './comparison-page.ts';
import { evidenceOf } from './exchanges.ts';
import { causes } from './findings.ts';
import { capital, field, html, type Markup, script } from './markup.ts';
import { renderPage } from './page.ts';
import { harnessErrors, inconclusive, known, lines, notes, notVerified, stale } from './run-notes.ts';
import { barOf, countOf, FACES, faceOf, shape, suiteTable } from './verdict-shapes.ts';

/** Renders the document as a page, ending with a newline. */
export function renderHtml(document: ResultDocument, comparison?: Comparison): string {
  return renderPage({
    title: `${headlineOf(document)}: ${document.target.url} - hookproof`,
    styles: ['report.css'],
    script: 'report.js',
    body: html`${masthead(document, comparison)}
${main(document, anchorsOf(document.results), comparison)}`,
  });
}

/** Returns the headline with the verdict in lower case. */
const headlineOf = (document: ResultDocument) => `${verdictInWords(document).toLowerCase()}${outOfDate(document)}`;

/** The SVG path of a tick, in a box of 8 by 8 units like the shapes of the verdicts. */
const TICK = 'm0 4.6 1.2-1.2 1.9 1.9 3.7-4.3 1.2 1.1-4.9 5.6z';

function masthead(document: ResultDocument, comparison?: Comparison): Markup {
  const { results, target } = document;
  const sign = signOf(document);
  const icon = shape(sign, sign === 'pass' ? TICK : faceOf(sign).path);
  const parts = FACES.map((face) => ({ verdict: face.verdict, count: countOf(results, face.verdict) }));
  return html`<header><p class="brand">hookproof report</p>
<h1>${icon}${capital(headlineOf(document))}</h1>
<p class="url">${target.url}</p>${barOf(parts, Math.max(document.planned, results.length))}
<p class="numbers">${numbers(document)}. <strong>${judgedLine(document)}</strong>${
    !isComplete(document) && html` <em>incomplete</em>`
  }</p>${
    comparison !== undefined && html`<p class="numbers"><a href="#since">${changesSince(comparison)}</a></p>`
  }${caveats(document).map((line) => html`<p class="caveat">${capital(line)}.</p>`)}</header>`;
}

function main(document: ResultDocument, anchors: Anchors, comparison?: Comparison): Markup {
  const { baseline, results } = document;
  const unseen = html`<div id="unseen">${notVerified(document.notVerified)}</div>`;
  // Without findings, the list of unverified requirements is in the middle of the page, otherwise at the side.
  const hasFindings = signOf(document) !== 'pass' || document.counts.warn > 0 || document.partial;
  return html`<main><div class="first"><div class="lead">${[
    stale(document, anchors),
    harnessErrors(results, anchors),
    causes(document, anchors),
    forAgents(document),
    hasFindings ? '' : NOTHING_TO_FIX,
    comparison === undefined ? '' : comparisonSection(comparison, ({ id }) => checkLink(id, anchors)),
    known(results, baseline, anchors),
    inconclusive(document, anchors),
    lines(
      GOOD_TO_KNOW,
      (document.noted ?? []).map(({ text }) => text),
    ),
    lines('Advice', document.advice),
    notes(results, anchors),
  ]}${!hasFindings && unseen}</div>
<aside><section><h2>This run</h2>${facts(document)}</section>${hasFindings && unseen}</aside></div>
${
  results.length > 0 &&
  html`<section id="suites"><h2>Suites</h2>${suiteTable(results)}</section>
<section id="checks"><h2>Checks</h2>${checks(results, evidenceOf(results), anchors)}</section>
<section><h2>Requirements</h2>${requirementList(results, anchors)}</section>`
}</main>`;
}

const NOTHING_TO_FIX = html`<section><h2>What to fix</h2>
<p>Nothing: every check that applies was run, and none failed.
<a href="#unseen">Not verified</a> lists what this run does not show.</p></section>`;

/**
 * Renders the causes as text to copy. Returns '' for a run in a test, because an agent could not recheck its endpoint.
 */
function forAgents(document: ResultDocument): Markup | '' {
  if (document.inProcess === true || causesIn(document).causes.length === 0) return '';
  return html`<section><details class="fold"><summary>The same for a coding agent, to copy</summary>
${script(agentText(document))}</details></section>`;
}

/** Renders the configuration, the program and the catalogue: enough to repeat the run. */
function facts(document: ResultDocument): Markup {
  const { baseline, catalogue, evidence, profile, rotation, seed, shard, strict, target, tool } = document;
  return html`<dl class="facts">${[
    field('Started', when(document.startedAt)),
    field('Took', `${formatDuration(document.durationMs)}, ${counted(document.requests, 'request')}`),
    field('Security features', featureNames(target)),
    field('Test certificates', fixturesOf(target)),
    field('Evidence', evidence === undefined ? '' : levelInWords(evidence)),
    field('Evidence sources', sourcesOf(target)),
    field('Rotation of the secret', rotation === undefined ? '' : stepsInWords(rotation)),
    field('Profile', profile ?? ''),
    field('Connection', target.tls === null ? 'plain HTTP' : connectionOf(target.tls)),
    field('Trusted by', target.tls?.trustedBy ?? ''),
    field('Client certificate', clientCertificate(target.tls)),
    field('Shard', shard === null ? '' : `${shard.index} of ${shard.of}`),
    field('Strict', strict ? 'yes: warnings fail' : ''),
    field('Baseline', baseline === null ? '' : `${baseline.file}, ${counted(baseline.entries, 'entry', 'entries')}`),
    field('Seed', seed),
    field('Catalogue', `${counted(catalogue.scenarios, 'check')}, ${catalogue.digest.slice(0, 19)}`),
    field('Program', `${tool.name} ${tool.version}`),
  ]}</dl>`;
}

/** Formats a time as "2026-11-21 19:52:42 UTC"; returns other text unchanged. */
function when(startedAt: string): string {
  const [, day, time] = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(?:\.\d+)?Z$/.exec(startedAt) ?? [];
  return day === undefined ? startedAt : `${day} ${time} UTC`;
}

function clientCertificate(tls: ResultDocument['target']['tls']): string {
  if (tls === null || tls.clientCertificateRequested === null) return '';
  return tls.clientCertificateRequested ? 'requested' : 'not requested';
}
