/**
 * Endpoints that reveal the expected signature: redaction knows the valid signature of every body that they may have
 * read.
 */
import { gunzipSync } from 'node:zlib';
import { describe, expect, it, onTestFinished } from 'vitest';
import { run } from '../../../harness/run/index.ts';
import { visibleBodies } from '../../../harness/run/visible-bodies.ts';
import { findScenario, type Transmission } from '../../../scenarios/index.ts';
import { serve } from '../../endpoints/listen.ts';
import { bodyOf, hmacOf } from '../../endpoints/verifying.ts';
import { assembled } from './parts.ts';

const SECRET = 'a secret of the tests, which is long enough';

/** Runs checks against a receiver that reveals signatures. Returns the signatures that redaction would miss. */
async function unknownAfter(scenarios: readonly string[], read: (body: Buffer) => Buffer = (body) => body) {
  const revealed: string[] = [];
  const { url, close } = await serve((request, response) => {
    void bodyOf(request).then(
      (body) => {
        const expected = hmacOf(SECRET, body).toString('base64');
        const isValid = request.headers['x-service-signature'] === expected;
        revealed.push(expected);
        try {
          revealed.push(hmacOf(SECRET, read(body)).toString('base64'));
        } catch {
          // The receiver has read nothing else.
        }
        response.writeHead(isValid ? 200 : 401).end(revealed.at(-1));
      },
      () => request.destroy(),
    );
  });
  onTestFinished(close);
  const known = new Set<string>();
  await run({
    partner: { url, signing: { secret: SECRET } },
    selection: { scenarios: [...scenarios] },
    limits: { timeoutMs: 2000, recoveryMs: 200 },
    onSignature: (signature) => known.add(signature),
  });
  return { revealed: revealed.length, unknown: revealed.filter((one) => !known.has(one)) };
}

describe('the revealed signature', () => {
  it('of a body that its framing shortens is known', async () => {
    const ids = ['content-length-short', 'content-length-and-chunked', 'chunk-size-broken', 'chunked', 'host-missing'];
    const { revealed, unknown } = await unknownAfter(ids.map((id) => `http/${id}`));
    expect([revealed > ids.length, unknown]).toEqual([true, []]);
  });

  it('of a decompressed body is known', async () => {
    expect((await unknownAfter(['signature/missing-with-gzip'], (body) => gunzipSync(body))).unknown).toEqual([]);
  });

  it('of a body that was serialised again is known', async () => {
    const again = (body: Buffer) => Buffer.from(JSON.stringify(JSON.parse(body.toString())));
    const ids = ['raw-body/indent-2', 'raw-body/trailing-lf', 'raw-body/escaped-slash'];
    expect((await unknownAfter(ids, again)).unknown).toEqual([]);
  });
});

describe('the bodies that a receiver may read', () => {
  const textsOf = (transmit: Transmission) => {
    const request = assembled({ transmit });
    const sent = Buffer.from(request.prepared.body).toString();
    return { sent, texts: visibleBodies(request).map((body) => Buffer.from(body).toString()) };
  };
  const transmissionOf = (id: string) => {
    const scenario = findScenario(id);
    if (scenario === undefined || !('change' in scenario) || scenario.change.transmit === undefined)
      throw new Error(id);
    return scenario.change.transmit;
  };

  it('end at each length that the head names', () => {
    const { sent, texts } = textsOf(transmissionOf('http/two-content-lengths'));
    expect(texts).toEqual([sent, sent.slice(0, 5)]);
  });

  it('have the framing of chunks, or not', () => {
    const { sent, texts } = textsOf(transmissionOf('http/content-length-and-chunked'));
    const framed = `${sent.length.toString(16)}\r\n${sent}\r\n0\r\n\r\n`;
    expect(texts).toEqual([framed, framed.slice(0, sent.length), sent]);
  });

  it('end where the connection ends', () => {
    const { sent, texts } = textsOf({ kind: 'cut-off', fraction: 0.5 });
    expect(texts).toEqual([sent.slice(0, Math.floor(sent.length / 2))]);
  });

  it('are only the one that was sent where nothing is changed', () => {
    expect(visibleBodies(assembled())).toEqual([]);
  });
});
