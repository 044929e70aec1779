/**
 * The HTML report: one file that needs nothing else. It reads from the top: the verdict, what the endpoint behaves like, what must be
 * mended, what is not verified; then every check.
 *
 * Nothing is loaded and nothing is sent: the policy in the page allows one style and one script, each by its digest, and no more. The
 * script only adds comfort (a filter, buttons for copying): without it everything is there to be read.
 */
import { createHash } from 'node:crypto';
import type { ResultDocument } from '../../result/result-document.ts';
import { isPartial } from '../../result/tally.ts';
import { headline } from '../headline-words.ts';
import { evidenceOf } from './allowance.ts';
import { behaviour } from './behaviour.ts';
import { advice, known, notes, notVerified, stale } from './besides.ts';
import type { Places } from './check.ts';
import { checks } from './checks.ts';
import { html, type Markup, textOf } from './markup.ts';
import { facts, masthead } from './masthead.ts';
import { matrix } from './matrix.ts';
import { mend } from './mend.ts';
import { harnessErrors, inconclusive } from './open-questions.ts';
import { register, requirementIds } from './register.ts';
import { SCRIPT } from './script.ts';
import { STYLE } from './style.ts';

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
