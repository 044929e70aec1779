/** `hookproof demo`: all checks that it can play, against the reference receiver in its own process. */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { resultDocument } from '../../harness/report/result-document.ts';
import { CATALOGUE, FEATURES, type Feature } from '../../scenarios/index.ts';
import { hookproof } from './hookproof.ts';

const CHECKS = CATALOGUE.flatMap(({ scenarios }) => scenarios);
const ALL = CHECKS.length;
/** The reference receiver reads no revocation list; the demo is one process, which writes no log and never restarts. */
const NOT_IN_DEMO: readonly Feature[] = ['fixture-revoked', 'rotation', 'restart', 'log'];
const PLAYED_BY_DEMO = CHECKS.filter(({ needs = [] }) => !needs.some((need) => NOT_IN_DEMO.includes(need))).length;

it('passes, writes run.json, junit.xml and report.html, and prints their paths', async () => {
  const cwd = await mkdtemp(join(tmpdir(), 'hookproof-'));
  onTestFinished(() => rm(cwd, { recursive: true }));
  const { code, stdout } = await hookproof(['demo'], { cwd });
  const paths = ['run.json', 'junit.xml', 'report.html'].map((name) => join(cwd, 'hookproof-run', name));
  const document = resultDocument.parse(JSON.parse(await readFile(paths[0]!, 'utf8')));
  const { verdict, planned, judged, counts, interrupted, target } = document;
  expect(target.features).toEqual(FEATURES.filter((feature) => !NOT_IN_DEMO.includes(feature)));
  expect({ code, verdict, planned, judged, interrupted, pass: counts.pass }).toEqual({
    code: 0,
    verdict: 'conformant',
    planned: ALL,
    judged: ALL,
    interrupted: false,
    pass: PLAYED_BY_DEMO,
  });
  for (const path of paths) expect(stdout).toContain(path);
  expect(await readFile(paths[1]!, 'utf8')).toMatch(/^<\?xml [\s\S]*<testsuites [\s\S]*<\/testsuites>\s*$/);
  expect(await readFile(paths[2]!, 'utf8')).toMatch(/^<!doctype html>[\s\S]*<\/html>\n$/);
  expect(stdout).toContain(`${PLAYED_BY_DEMO} of ${ALL} planned checks evaluated`);
});
