import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { watchLogs } from '../../../harness/log/index.ts';
import type { Assembled } from '../../../harness/run/assemble.ts';
import { sign } from '../../../harness/sender/index.ts';
import { type Change, samples } from '../../../scenarios/index.ts';
import { API_KEY, assembled, partnerAt, SECRET } from '../run/parts.ts';
import { type FrameworkLine, harmlessLines, leakingLines } from './framework-lines.ts';

/** A secret with characters that each format escapes differently. */
const secret = `${SECRET.slice(0, 20)}"/\\é&<>'=+ ${SECRET.slice(20)}`;
const partner = { ...partnerAt(), signing: { secret } };
const credentials = { secret, apiKey: API_KEY, signatureHeader: 'X-Service-Signature', apiKeyHeader: 'X-API-Key' };
const unsigned: Change = { sign: { label: 'no signature', make: () => undefined } };
const valid = assembled({}, partner);
const forged = assembled(unsigned, partner);
const wallet = assembled({ compose: (kit) => samples.wallet(kit) }, partner);
const body = Buffer.from(valid.prepared.body).toString();
const { blockchainData } = JSON.parse(body).data.metadata;
const known = {
  secret,
  apiKey: API_KEY,
  body,
  signature: valid.rightSignature ?? '',
  address: blockchainData.targetWalletAddress,
  hash: blockchainData.blockchainTransactionId,
  customer: JSON.parse(Buffer.from(wallet.prepared.body).toString()).data.customerId,
  expected: forged.rightSignature ?? '',
  forged: sign(Buffer.from(body), 'a secret of an attacker'),
};
const folder = mkdtempSync(join(tmpdir(), 'hookproof-lines-'));
afterAll(() => rmSync(folder, { recursive: true }));

async function leaksOf(text: string): Promise<string[]> {
  const file = join(folder, 'app.log');
  writeFileSync(file, '');
  const watched = await watchLogs([file], credentials, { intervalMs: 3_600_000 });
  for (const one of [valid, forged, wallet]) watched.registerRequest(requestOf(one));
  appendFileSync(file, text);
  const { findings = [] } = await watched.finish();
  return findings.map(({ leak }) => leak).toSorted();
}

function requestOf({ prepared, raw, value, rightSignature }: Assembled) {
  return { ...prepared, raw, value, signatures: rightSignature === null ? [] : [rightSignature] };
}

const titled = (lines: readonly FrameworkLine[]) => lines.map((line) => [line.name, line] as const);

describe('a line of a log with what must not be in it', () => {
  it.each(titled(leakingLines(known)))('is found: %s', async (_, { text, leaks }) => {
    expect(await leaksOf(text)).toEqual(leaks.toSorted());
  });
});

describe('a harmless line of a log', () => {
  it.each(titled(harmlessLines(known)))('is not found: %s', async (_, { text }) => {
    expect(await leaksOf(text)).toEqual([]);
  });
});
