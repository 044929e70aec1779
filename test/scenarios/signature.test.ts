import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hmac, signatureOf } from '../../contract/signing/index.ts';
import { shifted, signedWith } from '../../scenarios/changes/signing.ts';
import { refused } from '../../scenarios/expectations.ts';
import type { Scenario } from '../../scenarios/scenario.ts';
import { signatureSuite } from '../../scenarios/suites/signature.ts';
import { lacks } from '../setup/programs.ts';
import {
  anyCredentials,
  assemble,
  deliveriesOf,
  fakeKit,
  lies,
  someCredentials,
  statesOf,
} from './credential-check.ts';

const { scenarios } = signatureSuite;

/** Returns the header value that a scenario sends instead of the valid signature. */
function sentBy(id: string) {
  const scenario = scenarios.find((one) => one.id === id);
  if (scenario === undefined || !('change' in scenario)) throw new Error(`no probe ${id}`);
  const kit = fakeKit(someCredentials());
  const { head, body } = assemble(scenario.change, kit);
  const value = head.headers.find(([name]) => name === kit.signatureHeader)?.[1] ?? '';
  return { value, right: kit.sign(body), digest: hmac(body, kit.secret) };
}

describe('the signature suite', () => {
  it('sends what its expectations say, with any credentials and header names', () => {
    const targets = fc.constantFrom('/', '/hook', '/hook?tenant=7');
    fc.assert(
      fc.property(anyCredentials, targets, (credentials, target) => {
        expect(lies(scenarios, credentials, target)).toEqual([]);
      }),
      { numRuns: 40 },
    );
  });

  it('keeps the API key valid, so that only the signature is at fault', () => {
    const kit = fakeKit(someCredentials());
    const keys = scenarios.flatMap((one) =>
      deliveriesOf(one, kit).map(({ change }) => statesOf(assemble(change, kit), kit).key),
    );
    expect(new Set(keys)).toEqual(new Set(['right']));
  });

  it('needs HMAC', () => {
    expect(scenarios.filter(({ needs }) => needs?.includes('hmac') !== true)).toEqual([]);
  });
});

describe('the check of what is sent', () => {
  const scenario = (id: string, secret: string): Scenario => ({
    id,
    title: '',
    level: 'must',
    requirements: ['hmac-invalid'],
    mistake: 'no-signature-verification',
    // A naive change like this would be valid for a partner with exactly this secret.
    change: { sign: { label: '', make: (body) => hmac(body, secret).toString('base64') } },
    expect: refused,
  });

  it('finds a probe that is valid by accident', () => {
    const credentials = { ...someCredentials(), secret: 'changeme' };
    expect(lies([scenario('x/collides', 'changeme'), scenario('x/differs', 'other')], credentials)).toEqual([
      'x/collides: signature right, key right',
    ]);
  });

  it('finds a header that cannot be sent', () => {
    const base = scenario('x/unsendable', '');
    const broken: Scenario = { ...base, change: { sign: { label: '', make: () => 'a\nb' } }, expect: refused };
    expect(lies([broken], someCredentials())).toEqual([expect.stringMatching(/^x\/unsendable: .*ERR_INVALID_CHAR/)]);
  });
});

describe('the values that are sent', () => {
  it('are never valid with another secret, even if the partner uses that one', () => {
    const credentials = { ...someCredentials(), secret: 'changeme' };
    const kit = fakeKit(credentials);
    const body = Buffer.from('{}');
    expect(signedWith('', () => 'changeme').make(body, kit)).toBe(signatureOf(body, 'changemex'));
    expect(signedWith('', () => 'other').make(body, kit)).toBe(signatureOf(body, 'other'));
  });

  it('have - and _ and no padding in URL-safe Base64, and decode to the valid digest', () => {
    const { value, digest } = sentBy('signature/base64url');
    expect(value).toMatch(/^(?=.*-)(?=.*_)[\w-]{43}$/);
    expect(Buffer.from(value, 'base64url')).toEqual(digest);
  });

  it('differ from the valid one only in spare bits where the title says so', () => {
    const { value, right, digest } = sentBy('signature/last-character-spare-bits');
    expect(value.slice(0, 42)).toBe(right.slice(0, 42));
    expect(Buffer.from(value, 'base64')).toEqual(digest);
    expect(Buffer.from(value, 'base64').toString('base64')).toBe(right);
  });

  it.each([
    ['signature/first-character-changed', 0, 1],
    ['signature/middle-character-changed', 20, 21],
    ['signature/last-character-changed', 42, 43],
    ['signature/last-11-characters-changed', 32, 43],
  ])('of %s are canonical Base64 of another digest and differ in [%i, %i) alone', (id, start, end) => {
    const { value, right, digest } = sentBy(id);
    expect(value.slice(0, start) + value.slice(end)).toBe(right.slice(0, start) + right.slice(end));
    expect([...value.slice(start, end)].every((c, index) => c !== right[start + index])).toBe(true);
    expect(Buffer.from(value, 'base64').toString('base64')).toBe(value);
    expect(Buffer.from(value, 'base64')).not.toEqual(digest);
  });

  it('are shifted along the alphabet, past its end', () => {
    expect(shifted('AZaz09+/=', 0, 8)).toBe('Ede34BCD=');
    expect(shifted('AZaz09+/=', 6, 8, 1)).toBe('AZaz09/A=');
  });
});

describe.skipIf(lacks('iconv', 'openssl', 'sed'))('the shell commands', () => {
  const run = promisify(execFile);
  // The secret contains everything that a shell might mishandle.
  const secret = 'it\'s "a" $ecret `with` \\n %s and *, \u00fcml\u00e4ut';
  const kit = fakeKit({ ...someCredentials(), secret });
  const withShell = scenarios.flatMap((one) =>
    'change' in one && one.change.sign?.shell !== undefined
      ? [{ id: one.id, change: one.change, shell: one.change.sign.shell }]
      : [],
  );

  it('make the value that the scenario sends', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'hookproof-shell-'));
    try {
      const sent = await Promise.all(
        withShell.map(async ({ id, change }) => {
          const { head, body } = assemble(change, kit);
          await writeFile(join(folder, basename(id)), body);
          return { id, value: head.headers.find(([name]) => name === kit.signatureHeader)?.[1] };
        }),
      );
      // One process runs all commands. `$( )` removes a trailing line break, as in the command that a report shows.
      const commands = withShell.map(
        ({ id, shell }) => `value=$({ ${shell}; } < ${basename(id)}); printf '%s\\n' "$value"`,
      );
      const env = { PATH: process.env.PATH, LC_ALL: 'C', HOOKPROOF_SECRET: secret, HOOKPROOF_API_KEY: kit.apiKey };
      const { stdout } = await run('sh', ['-c', commands.join('\n')], { cwd: folder, env, encoding: 'latin1' });
      const made = stdout.split('\n');
      expect(withShell.map(({ id }, index) => ({ id, value: made[index] }))).toEqual(sent);
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
