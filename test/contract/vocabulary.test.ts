import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import * as contract from '../../contract/index.ts';

it('types, statuses and limits are those of the specification', () => {
  expect(contract.NOTIFICATION_TYPES).toEqual(['CAAS', 'PAYMENT_METHOD', 'REFUND', 'CAAS_BLOCKCHAIN', 'WALLET']);
  expect(contract.PAYMENT_METHOD_STATUSES).toEqual(['CREATED', 'STAGED', 'VERIFIED', 'DECLINED', 'DELETED']);
  expect(contract.LIMITS).toEqual({
    recommendedSecretLength: 32,
    minimumRsaBits: 2048,
    minimumTlsVersion: 'TLSv1.2',
    answerTimeoutMs: 10_000,
    slowAnswerMs: 5_000,
  });
});

describe('a module that the command line loads at once', () => {
  const directory = new URL('../../contract/', import.meta.url);
  const importsOf = (file: string) =>
    [
      ...readFileSync(new URL(file, directory), 'utf8').matchAll(/^(?:import|export)(?! type)[^;]*? from '([^']+)';/gm),
    ].map(([, from]) => from ?? '');

  /** The modules that a file of the contract loads, itself included. */
  function loadedBy(file: string, seen = new Set<string>()): Set<string> {
    if (seen.has(file)) return seen;
    seen.add(file);
    for (const from of importsOf(file)) {
      if (from.startsWith('./')) loadedBy(from.slice(2), seen);
      else seen.add(from);
    }
    return seen;
  }

  it.each([
    ['delivery.ts', false],
    ['hookproof-error.ts', false],
    ['error-codes.ts', false],
    ['kinds.ts', false],
    ['amounts.ts', false],
    ['secret-spellings.ts', false],
    ['read-notification.ts', true],
  ])('%s loads zod: %s', (file, loads) => {
    expect(loadedBy(file).has('zod')).toBe(loads);
  });
});
