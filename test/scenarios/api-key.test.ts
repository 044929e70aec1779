import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { keyInstead, withCharacterChanged } from '../../scenarios/changes/addressing.ts';
import { apiKeySuite } from '../../scenarios/suites/api-key.ts';
import {
  anyCredentials,
  assemble,
  deliveriesOf,
  fakeKit,
  lies,
  someCredentials,
  statesOf,
} from './credential-check.ts';

const LARGE = 'api-key/wrong-with-large-body';
const { scenarios } = apiKeySuite;

function keySent(id: string, apiKey: string): string | undefined {
  const scenario = scenarios.find((one) => one.id === id);
  if (scenario === undefined || !('change' in scenario)) throw new Error(`no probe ${id}`);
  const kit = fakeKit({ ...someCredentials(), apiKey });
  return assemble(scenario.change, kit).head.headers.find(([name]) => name === kit.apiKeyHeader)?.[1];
}

describe('the API key suite', () => {
  it('sends what its expectations say, with any credentials and header names', () => {
    const small = scenarios.filter(({ id }) => id !== LARGE);
    const targets = fc.constantFrom('/', '/hook', '/hook?tenant=7');
    fc.assert(
      fc.property(anyCredentials, targets, (credentials, target) => {
        expect(lies(small, credentials, target)).toEqual([]);
      }),
      { numRuns: 60 },
    );
    expect(lies(scenarios, someCredentials())).toEqual([]);
  });

  it('keeps the signature valid, so that only the key is at fault', () => {
    const kit = fakeKit(someCredentials());
    const signatures = scenarios.flatMap((one) =>
      deliveriesOf(one, kit).map(({ change }) => statesOf(assemble(change, kit), kit).signature),
    );
    expect(new Set(signatures)).toEqual(new Set(['right']));
  });

  it('needs the API key, and HMAC where the signature is used', () => {
    expect(scenarios.filter(({ needs }) => needs?.includes('api-key') !== true)).toEqual([]);
    expect(scenarios.filter(({ needs }) => needs?.includes('hmac')).map(({ id }) => id)).toEqual([
      'api-key/in-underscore-name',
      'api-key/signature-as-key',
    ]);
  });

  it('sends 1 MB where the id says so', () => {
    const kit = fakeKit(someCredentials());
    const large = scenarios.find(({ id }) => id === LARGE);
    const sizes =
      large === undefined ? [] : deliveriesOf(large, kit).map(({ change }) => assemble(change, kit).body.length);
    expect(sizes).toEqual([expect.any(Number)]);
    expect(sizes[0]).toBeGreaterThan(1_000_000);
  });
});

describe('keys that resemble the valid one', () => {
  it.each([
    ['api-key/first-half', 'abCD1', 'ab'],
    ['api-key/one-character-short', 'abCD1', 'abCD'],
    ['api-key/first-character-missing', 'abCD1', 'bCD1'],
    ['api-key/one-character-more', 'abCD1', 'abCD1x'],
    ['api-key/prefixed', 'abCD1', 'xabCD1'],
    ['api-key/swapped-case', 'abCD1', 'ABcd1'],
    ['api-key/swapped-case', '12-34', '12-34x'],
    ['api-key/upper-case', 'abCD1', 'ABCD1'],
    ['api-key/upper-case', 'ABCD1', 'abcd1'],
    ['api-key/upper-case', '12-34', '12-34x'],
    ['api-key/first-character-changed', '0bc', '1bc'],
    ['api-key/middle-character-changed', 'abc', 'a0c'],
    ['api-key/last-character-changed', 'abc', 'ab0'],
    ['api-key/last-character-changed', 'a', '0'],
    ['api-key/any-pattern', '.*', '.*x'],
    ['api-key/1-character', 'a', 'b'],
    ['api-key/1-character', 'abc', 'b'],
    ['api-key/in-quotes', 'abc', '"abc"'],
    ['api-key/white-space-around', 'abc', '\t abc \t'],
  ])('%s of %j is %j', (id, key, sent) => {
    expect(keySent(id, key)).toBe(sent);
  });

  it('never equal the valid key, with or without white space around it', () => {
    const kit = fakeKit({ ...someCredentials(), apiKey: 'abc' });
    const sent = (value: string) =>
      assemble({ address: keyInstead('', () => value) }, kit).head.headers.find(
        ([name]) => name === kit.apiKeyHeader,
      )?.[1];
    expect(['abc', ' abc', 'abd'].map(sent)).toEqual(['abcx', ' abcx', 'abd']);
  });

  it('have exactly one character changed', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1, unit: 'binary-ascii' }), fc.nat(), (key, index) => {
        const at = index % key.length;
        const changed = withCharacterChanged(key, at);
        expect([...changed].map((c, i) => (c === key[i] ? i : -1)).filter((i) => i !== -1)).toEqual(
          [...key].map((_, i) => i).filter((i) => i !== at),
        );
      }),
    );
  });
});
