/**
 * The page about many partners: partners by suites. As the report of one, it needs nothing else, loads and sends nothing, and can be read
 * without its script, which only filters and sorts.
 */
import { createHash } from 'node:crypto';
import { changeOf, type FleetDocument, type FleetPartner, OUTCOMES, type Outcome } from '../../fleet.ts';
import { counted, formatDuration } from '../layout.ts';
import type { Verdict } from '../result-document.ts';
import { FLEET_SCRIPT } from './fleet-script.ts';
import { FLEET_STYLE } from './fleet-style.ts';
import { html, joined, type Markup, textOf } from './markup.ts';
import { STYLE } from './style.ts';
import { faceOf, suiteTitle } from './verdict-shapes.ts';

const FACE: Readonly<Record<Outcome, readonly [verdict: Verdict, word: string, many: string]>> = {
  'harness-error': ['harness-error', 'error', 'with an error of hookproof'],
  failed: ['fail', 'failed', 'failed'],
  refused: ['warn', 'refused', 'refused'],
  inconclusive: ['inconclusive', 'no verdict', 'without a verdict'],
  'not-run': ['not-applicable', 'not run', 'not run'],
  certified: ['pass', 'certified', 'certified'],
};

const CHANGE_WORDS = { better: 'better', worse: 'worse', same: '', new: 'new' } as const;

const digest = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

function policy(style: string): string {
  return [
    "default-src 'none'",
    `style-src ${digest(style)}`,
    `script-src ${digest(FLEET_SCRIPT)}`,
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ');
}

const shape = (verdict: Verdict, path = faceOf(verdict).path) =>
  html`<svg class="shape v-${verdict}" viewBox="0 0 8 8" aria-hidden="true"><path d="M0 0${path}"/></svg>`;

/** "2026-11-21 19:52 UTC". */
const when = (time: string) => `${time.slice(0, 10)} ${time.slice(11, 16)} UTC`;

type Counts = NonNullable<FleetPartner['counts']>;

/** What a suite came to: the verdict that needs a person most, and how often. */
function worst(counts: Counts): readonly [Verdict, number] {
  if (counts.harnessError > 0) return ['harness-error', counts.harnessError];
  if (counts.fail > 0) return ['fail', counts.fail];
  if (counts.warn > 0) return ['warn', counts.warn];
  if (counts.inconclusive > 0) return ['inconclusive', counts.inconclusive];
  return counts.pass > 0 ? ['pass', counts.pass] : ['not-applicable', counts.notApplicable];
}

const QUIET: ReadonlySet<Verdict> = new Set(['pass', 'not-applicable', 'inconclusive']);

function suiteCell(suite: string, counts: Counts | undefined): Markup {
  if (counts === undefined) return html`<td class="q"><span class="sr">not run</span></td>`;
  const [verdict, count] = worst(counts);
  const { word } = faceOf(verdict);
  const quiet = QUIET.has(verdict);
  return html`<td class="s v-${verdict}${quiet && ' q'}" data-w="${suite}"><i></i>${!quiet && html`${count} `}<span class="sr">${word}</span></td>`;
}

function why({ certificate, diagnosis, refusals, counts }: FleetPartner): string {
  if (certificate !== null) return `until ${certificate.expiresAt.slice(0, 10)}`;
  const others = refusals.length > 1 ? ` (and ${counted(refusals.length - 1, 'other reason')})` : '';
  const [first] = refusals;
  if (diagnosis !== null) return diagnosis.title;
  if (first === undefined) return '';
  return counts !== null && first.code === 'failed'
    ? `${counts.fail} scored checks failed${others}`
    : `${first.message}${others}`;
}

function row(partner: FleetPartner, suites: readonly string[]): Markup {
  const { certificate, durationMs, files, name, outcome, url } = partner;
  const [verdict, word] = FACE[outcome];
  const change = changeOf(partner);
  const link = (file: string, said: string) =>
    files.includes(file) ? [html`<a href="${name}/${file}" aria-label="${said} of ${name}">${said}</a>`] : [];
  const links = [
    ...link('report.html', 'report'),
    ...link('run.json', 'run.json'),
    ...link('certificate.dsse.json', 'certificate'),
  ];
  const shown = CHANGE_WORDS[change];
  return html`<tr data-o="${outcome}" data-c="${change}" data-t="${Math.round(durationMs)}" data-e="${certificate?.expiresAt ?? '~'}"><th scope="row"><b>${name}</b><span>${url}</span></th><td class="o"><b class="v-${verdict}">${shape(verdict)}${word}</b>${partner.previous !== null && shown !== '' && html` <em class="${change}">${shown}</em>`}<span>${why(partner)}</span><span class="links">${joined(links, ' ')}${links.length > 0 && ' '}${formatDuration(durationMs)}</span></td>${suites.map((suite) => suiteCell(suite, partner.suites[suite]))}</tr>
`;
}

function bar({ partners, totals }: FleetDocument): Markup {
  let x = 0;
  const parts = OUTCOMES.filter((name) => totals[name] > 0).map((name) => {
    const width = (totals[name] / Math.max(1, partners.length)) * 100;
    const rect = html`<rect class="v-${FACE[name][0]}" x="${x.toFixed(2)}" width="${Math.max(0.3, width - 0.2).toFixed(2)}" height="6"/>`;
    x += width;
    return rect;
  });
  return html`<svg class="bar" viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true">${parts}</svg>`;
}

function masthead(document: FleetDocument): Markup {
  const { catalogue, complete, durationMs, partners, previous, shard, startedAt, tool, totals } = document;
  const gravest = OUTCOMES.find((name) => totals[name] > 0) ?? 'not-run';
  const numbers = OUTCOMES.filter((name) => totals[name] > 0).map((name) => `${totals[name]} ${FACE[name][2]}`);
  const caveats = [
    ...(complete ? [] : ['Not complete: it goes on, or was interrupted. Go on with --resume.']),
    ...(shard === null ? [] : [`Shard ${shard.index} of ${shard.of}: a part of the partners.`]),
  ];
  return html`<header><p class="brand">hookproof partners</p><h1>${shape(FACE[gravest][0])}${totals.certified} of ${counted(partners.length, 'partner')} certified</h1>${bar(document)}<p class="numbers">${numbers.join(', ')}.</p>${caveats.map((line) => html`<p class="caveat">${line}</p>`)}<p class="close">${when(startedAt)}, ${formatDuration(durationMs)}. ${tool.name} ${tool.version}, catalogue ${catalogue.digest.slice(0, 19)}.${previous !== null && html` Compared with ${when(previous.startedAt)}.`}</p></header>`;
}

/** What has changed, where there is something to compare with. */
function trend({ partners, previous }: FleetDocument): Markup | '' {
  if (previous === null) return '';
  const list = (change: 'worse' | 'better', title: string) => {
    const changed = partners.filter((partner) => partner.previous !== null && changeOf(partner) === change);
    if (changed.length === 0) return '';
    const line = ({ name, outcome, previous: before }: FleetPartner) =>
      html`<li><b>${name}</b> ${before === null ? '' : FACE[before.outcome][1]} to ${FACE[outcome][1]}</li>`;
    return html`<div><h3>${title} <span>${changed.length}</span></h3><ul class="changed">${changed.slice(0, 40).map(line)}${changed.length > 40 && html`<li>and ${changed.length - 40} more, marked below</li>`}</ul></div>`;
  };
  const lists = [list('worse', 'Worse'), list('better', 'Better')].filter((one) => one !== '');
  const body =
    lists.length === 0 ? html`<p>Every partner ended as before.</p>` : html`<div class="trend">${lists}</div>`;
  return html`<section><h2>Since ${when(previous.startedAt)}</h2>${body}</section>`;
}

function filter({ partners, totals }: FleetDocument): Markup {
  const button = (name: Outcome) =>
    html`<button type="button" aria-pressed="false" data-o="${name}">${FACE[name][1]} ${totals[name]}</button>`;
  return html`<form id="filter" hidden><div class="verdicts">${OUTCOMES.filter((name) => totals[name] > 0).map(button)}</div>${
    partners.some(({ previous }) => previous !== null) &&
    html`<label>Change <select id="change"><option value="">any</option><option>worse</option><option>better</option><option>new</option></select></label>`
  }<label>Sort by <select id="sort"><option value="o">outcome</option><option value="n">name</option><option value="t">time taken</option><option value="e">expiry</option></select></label><label class="words">Find <input id="words" type="search" autocomplete="off"></label><span id="found" role="status"></span></form>`;
}

/** The document as a page, ending with a newline. The gravest outcomes first, then by name. */
export function renderFleetPage(document: FleetDocument): string {
  const style = STYLE + FLEET_STYLE;
  const suites = [...new Set(document.partners.flatMap((partner) => Object.keys(partner.suites)))];
  const partners = OUTCOMES.flatMap((name) => document.partners.filter(({ outcome }) => outcome === name));
  const head = html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="${policy(style)}"><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="referrer" content="no-referrer"><meta name="color-scheme" content="light dark"><title>${document.totals.certified} of ${counted(document.partners.length, 'partner')} certified - hookproof</title>`;
  const legend = (['fail', 'warn', 'inconclusive', 'pass', 'not-applicable'] as const).map(
    (verdict) => html`<span>${shape(verdict)}${faceOf(verdict).word}</span>`,
  );
  const body = html`${masthead(document)}
<main>${trend(document)}<section><h2>Partners by suites</h2>${filter(document)}<p class="legend">${legend}</p>
<table id="fleet"><thead><tr><th scope="col">Partner</th><th scope="col" class="o">Outcome</th>${suites.map((suite) => html`<th scope="col" class="s" title="${suiteTitle(suite)}"><span>${suite}</span></th>`)}</tr></thead><tbody>
${partners.map((partner) => row(partner, suites))}</tbody></table></section></main>`;
  // Constants of ours, whose digests stand in the policy: they are written as they are.
  return `${textOf(head)}<style>${style}</style></head><body class="fleet">${textOf(body)}<script>${FLEET_SCRIPT}</script></body></html>\n`;
}
