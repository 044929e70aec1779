import { expect, it } from 'vitest';
import { factsOf } from '../../../harness/fleet.ts';
import { renderHtml } from '../../../harness/report/html/report-page.ts';
import { renderFleetCsv, renderFleetHtml } from '../../../harness/report/index.ts';
import { largeFleet, standingWith, viewWith } from '../fleet/documents.ts';
import { wholeRun } from './html/page-documents.ts';

it('has one line for each partner, quotes values where needed, and contains no formula', async () => {
  const csv = await renderFleetCsv([
    standingWith('acme', 'certified', 1),
    standingWith('bad', 'failing', 2, { reason: 'said "no", \x1b[31m\nand more', warnings: ['@SUM(A1)'] }),
  ]);
  const [head, acme, bad, end] = csv.split('\r\n');
  expect(head).toMatch(/^partner,url,traffic,state,since,until,profile,revision,evidence level,.*,failed in valid,/);
  expect(acme).toMatch(/^acme,https:\/\/acme\.example\/webhooks\/orders,yes,certified,/);
  expect(bad).toContain('"said ""no"", \\x1b[31m\\nand more"');
  expect(bad).toContain(`"'@SUM(A1)"`);
  expect(end).toBe('');
});

it('has a page with the evidence level, and a link from each failing suite to its checks', async () => {
  const page = await renderFleetHtml(
    viewWith([
      standingWith('acme', 'certified', 1, { warnings: ['certified with 2 warnings'] }),
      standingWith('bad', 'failing', 2),
    ]),
  );
  expect(page).toContain('revision 2, evidence level 1</span><span class="v-warn">certified with 2 warnings');
  expect(page).toContain('1 of 2 partners may get traffic');
});

it('links from each failing suite of a partner to the checks of this suite in its report', async () => {
  const run = wholeRun((_, at) => (at % 7 === 0 ? 'fail' : 'pass'));
  const failed = { ...run, results: run.results.filter(({ suite }) => suite !== 'valid' && suite !== 'headers') };
  const report = renderHtml(failed);
  const one = standingWith('bad', 'failing', 2);
  const standing = { ...one, last: one.last.map((record) => ({ ...record, suites: factsOf(failed).suites })) };
  const page = await renderFleetHtml(viewWith([standing]));
  const links = [...page.matchAll(/data-w="([\w-]+)"><i><\/i><a href="bad\/report\.html#([\w-]+)">/g)];
  expect(links.length).toBeGreaterThan(5);
  for (const [, suite, anchor] of links) expect(report).toContain(`<h3 id="${anchor}">${suite} <span>`);
});

it('labels the reason, and has the words that Find matches: the newest cause, and the suites that failed', async () => {
  const one = standingWith('bad', 'failing', 2);
  const page = await renderFleetHtml(viewWith([one]));
  expect(page).toContain(`<span>since 2026-11-21; reason: ${one.reason}</span>`);
  const [, words = ''] = /data-f="([^"]*)"/.exec(page) ?? [];
  const failed = Object.entries(one.last[0]!.suites).filter(([, { fail, warn }]) => fail + warn > 0);
  expect(words.split(' ')).toEqual(['verifies-reserialised-json', ...failed.map(([suite]) => suite)]);
});

it('lists at most 2,000 partners, and says so', async () => {
  const page = await renderFleetHtml(largeFleet(2010));
  expect(page.match(/<tr data-o=/g)).toHaveLength(2000);
  expect(page).toContain('This page has 2000 of 2010 partners, those without traffic first.');
});
