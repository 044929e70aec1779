/** The folder of a partner after several certifications: which certificate it contains. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { beginPartner, finishedPartner, placePartner } from '../../harness/cli/certify/fleet-folder.ts';
import type { PartnerOutcome } from '../../harness/fleet.ts';
import { partnerWith } from '../harness/fleet/documents.ts';

let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hookproof-folder-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const PRESENT = new Date(Date.now() + 86_400_000).toISOString();
const PAST = new Date(Date.now() - 1000).toISOString();

async function place(day: number, outcome: PartnerOutcome, expiresAt = PRESENT): Promise<void> {
  const certification = `2026-11-0${day}T10:00:00.000Z`;
  const into = await beginPartner(folder, 'acme');
  await writeFile(join(into, 'report.html'), outcome);
  const certificate = outcome === 'certified' ? { issuedAt: certification, expiresAt } : null;
  const partner = partnerWith('acme', outcome, 1, { certificate, files: ['report.html'] });
  const none = { verdict: null, counts: null, suites: {}, diagnosis: null, evidenceLevel: null };
  await placePartner(folder, into, { certification, key: 'k', partner: { ...partner, ...none } });
}
const report = (...at: string[]) => readFile(join(folder, ...at, 'acme', 'report.html'), 'utf8');

it.each<PartnerOutcome>(['refused', 'inconclusive', 'harness-error'])(
  'keeps the certificate that counts after a run that is %s',
  async (outcome) => {
    await place(1, 'certified');
    await place(2, outcome);
    await place(3, outcome);
    expect(await report()).toBe('certified');
    for (const day of [2, 3]) {
      expect(await report('_earlier', `without-verdict-2026-11-0${day}T10-00-00-000Z`)).toBe(outcome);
    }
    const about = { certification: '2026-11-03T10:00:00.000Z', key: 'k', keys: [] };
    expect(await finishedPartner(folder, 'acme', about)).toMatchObject({ outcome });
    expect(await finishedPartner(folder, 'acme', { ...about, certification: '2026-11-04T10:00:00.000Z' })).toBe(null);
  },
);

it.each<[string, PartnerOutcome, string, PartnerOutcome]>([
  ['a failed run replaces a certificate', 'certified', PRESENT, 'failed'],
  ['a new certificate replaces the one before', 'certified', PRESENT, 'certified'],
  ['a run without a verdict replaces a certificate that has expired', 'certified', PAST, 'refused'],
  ['a run without a verdict replaces a failed run', 'failed', PRESENT, 'inconclusive'],
])('%s', async (_, first, expiresAt, second) => {
  await place(1, first, expiresAt);
  await place(2, second);
  expect(await report()).toBe(second);
  expect(await report('_earlier', 'before-2026-11-02T10-00-00-000Z')).toBe(first);
});
