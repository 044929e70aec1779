import { execFileSync } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { explainMistake } from '../../../contract/mistakes/index.ts';
import {
  explainSignature,
  mistakesNamed,
  SIGNING_MISTAKES,
  sentence,
  signatureOf,
  signBody,
  whoChangedBody,
} from '../../../contract/signing/index.ts';
import { explainRejection } from '../../../harness/diagnose/index.ts';
import { explainMismatch } from '../../../receiver/inspector/credential-findings.ts';
import { answered } from '../../harness/run/parts.ts';
import { fakeKit, someCredentials } from '../../scenarios/credential-check.ts';
import { lacks } from '../../setup/programs.ts';
import { newSecret } from './inputs.ts';

interface Inputs {
  readonly bodyBase64: string;
  readonly secret: string;
}
type Vector = Partial<Inputs> & { readonly mistake: string; readonly signature: string };

/** One signature for every signing mistake, made by OpenSSL and Python. */
const FOLDER = join(import.meta.dirname, 'vectors');
const { apiKey, url, vectors, ...defaults }: Inputs & { apiKey: string; url: string; vectors: Vector[] } = JSON.parse(
  readFileSync(join(FOLDER, 'mistakes.json'), 'utf8'),
);
const VECTORS = vectors.map((vector) => {
  const { bodyBase64, ...rest } = { ...defaults, ...vector };
  return { ...rest, body: Buffer.from(bodyBase64, 'base64') };
});
const NAMES = SIGNING_MISTAKES.map(({ name }) => name);

describe('the table of signing mistakes', () => {
  it('has a unique name and complete texts for each mistake', () => {
    expect(new Set(NAMES).size).toBe(NAMES.length);
    for (const row of SIGNING_MISTAKES) {
      const { name, title } = row;
      const { why, fix } = explainMistake(row);
      expect(name).toMatch(/^[a-z0-9]+(-[a-z0-9]+)*$/);
      expect(title).toMatch(/^[a-z].*[^.]$/i);
      expect(why).toMatch(/^[A-Z`].*\.$/);
      expect(fix).toMatch(/^[A-Z].*\.$/);
    }
  });

  it('has a vector for each mistake', () => {
    expect(VECTORS.map(({ mistake }) => mistake).toSorted()).toEqual(NAMES.toSorted());
  });

  it.skipIf(lacks('python3', 'openssl'))('has vectors that their script reproduces byte for byte', () => {
    const folder = mkdtempSync(join(tmpdir(), 'hookproof-vectors-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const file = join(folder, 'mistakes.json');
    execFileSync('python3', [join(FOLDER, 'make-vectors.py'), file]);
    expect(readFileSync(file, 'utf8')).toBe(readFileSync(join(FOLDER, 'mistakes.json'), 'utf8'));
  });
});

/** Returns the fault that the diagnosis finds in a receiver that accepts only signatures with this mistake. */
async function diagnosed(mistake: string, secret: string): Promise<string | undefined> {
  const made = SIGNING_MISTAKES.find(({ name }) => name === mistake);
  const kit = fakeKit(someCredentials());
  const found = await explainRejection(
    { url, signing: { secret }, apiKey: { value: apiKey } },
    async ({ serialise, sign }) => {
      // The sender composes another notification until its signature suits the trial.
      for (let at = 1735787045; serialise !== undefined && sign !== undefined; at++) {
        const body = serialise({ id: 'n-1', type: 'CAAS', at, data: { type: 'BUY', memo: 'test memo' } }, kit);
        if (sign.suits?.(signatureOf(body, secret)) === false) continue;
        const expected = made?.sign({ body, secret, apiKey, url });
        return answered(sign.make(body, kit) === expected ? 200 : 401);
      }
      return answered(401);
    },
    () => false,
  );
  return found?.fault;
}

/** About one in this many mistakes is tested. 1 means all of them. */
const ONE_IN = inject('whole') ? 1 : 8;
const SAMPLE = VECTORS.filter(({ mistake }) => mistake.length % ONE_IN === 0);

describe.each(SAMPLE)('$mistake', ({ mistake, body, secret, signature }) => {
  it('is made by signBody as OpenSSL and Python make it', () => {
    expect(signBody(body, secret, mistake, { apiKey, url })).toBe(signature);
  });

  it('has the same name and fix in verify and in the inspector, and is diagnosed by a trial', async () => {
    const verified = explainSignature({ body, secret, header: signature, apiKey, url });
    const inspected = await explainMismatch({
      rawBody: body,
      received: [signature],
      secrets: [secret],
      apiKeys: [apiKey],
      urls: [url],
    });
    expect({
      verify: verified.explanation?.fault,
      inspector: inspected?.mistakes.map(({ name }) => name).join('+'),
      diagnosis: await diagnosed(mistake, secret),
    }).toEqual({ verify: mistake, inspector: mistake, diagnosis: mistake });
    const row = SIGNING_MISTAKES.find(({ name }) => name === mistake)!;
    const { fix } = explainMistake(row);
    // The inspector knows that the signature arrived with the bytes.
    const change = whoChangedBody(row);
    expect(verified.explanation?.fix).toContain(fix);
    expect(inspected?.mistakes[0]?.fix).toBe(change === null ? fix : sentence(change));
  });
});

describe('signBody', () => {
  const body = Buffer.from('{"a":\xff}', 'latin1');

  it('returns base64 of HMAC-SHA256 over the exact bytes, keyed with the UTF-8 secret', () => {
    const secret = `${newSecret()}\u00e9`;
    const correct = createHmac('sha256', Buffer.from(secret, 'utf8')).update(body).digest('base64');
    expect([signBody(body, secret), signBody(body, secret, 'base64')]).toEqual([correct, correct]);
  });

  it('combines mistakes', () => {
    const secret = newSecret();
    const expected = createHmac('sha1', `${secret}\n`).update(body).digest('base64');
    expect(signBody(body, secret, 'secret-newline+hmac-sha1')).toBe(expected);
  });

  it.each([
    ['', undefined, 'SECRET_EMPTY'],
    ['secret', 'hexx', 'SIGN_VARIANT_UNKNOWN'],
    ['secret', '', 'SIGN_VARIANT_UNKNOWN'],
    ['secret', 'hex+upper-hex', 'SIGN_VARIANT_UNKNOWN'],
    ['secret', 'reserialised-json', 'SIGN_VARIANT_INAPPLICABLE'],
    ['secret', 'api-key-as-secret', 'SIGN_VARIANT_INAPPLICABLE'],
  ])('rejects the secret "%s" with the mistake %j: %s', (secret, mistake, code) => {
    expect(() => signBody(body, secret, mistake)).toThrow(expect.objectContaining({ code, kind: 'usage' }));
  });
});

describe('mistakesNamed', () => {
  it('takes one mistake of each kind, and rejects everything else', () => {
    expect(Object.keys(mistakesNamed('hex+secret-newline+data-only+hmac-sha1') ?? {})).toHaveLength(4);
    for (const names of ['hex+upper-hex', 'unheard-of', 'hex+unheard-of']) expect(mistakesNamed(names)).toBe(undefined);
  });
});
