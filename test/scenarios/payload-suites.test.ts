/** Properties of all scenarios about payloads, HTTP and repetition. */
import { describe, expect, it } from 'vitest';
import type { JsonValue } from '../../contract/index.ts';
import { readNotification } from '../../contract/index.ts';
import type { Change, Expectation, Suite } from '../../scenarios/scenario.ts';
import { deliverySuite } from '../../scenarios/suites/delivery.ts';
import { httpSuite } from '../../scenarios/suites/http.ts';
import { malformedSuite } from '../../scenarios/suites/malformed.ts';
import { rawBodySuite } from '../../scenarios/suites/raw-body.ts';
import { typoKeySuite } from '../../scenarios/suites/typo-key.ts';
import { validSuite } from '../../scenarios/suites/valid.ts';
import { assemble, deliveriesOf, fakeKit, lies, someCredentials, statesOf } from './credential-check.ts';

const SUITES: readonly Suite[] = [validSuite, typoKeySuite, rawBodySuite, malformedSuite, httpSuite, deliverySuite];
const kit = fakeKit(someCredentials());

/** Every delivery of every suite with the id of its scenario. */
const DELIVERIES = SUITES.flatMap(({ scenarios }) =>
  scenarios.flatMap((scenario) => deliveriesOf(scenario, kit).map((one) => ({ id: scenario.id, ...one }))),
);

function composed(change: Change): JsonValue {
  return change.compose === undefined ? kit.notification() : change.compose(kit);
}

function bodyOf(change: Change): Buffer {
  return assemble(change, kit).body;
}

/**
 * Returns whether a change serialises as the sender does. The value is composed once, so that a new id cannot cause a
 * difference.
 */
function isPlain(change: Change): boolean {
  const value = composed(change);
  return Buffer.from(change.serialise?.(value, kit) ?? []).equals(Buffer.from(JSON.stringify(value)));
}

/**
 * Returns whether a strict receiver accepts this body: strict UTF-8, JSON, and a notification that the contract can
 * read.
 */
function isNotification(body: Buffer): boolean {
  try {
    return readNotification(JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body))).ok;
  } catch {
    return false;
  }
}

/** Returns whether 200 is the only correct answer. */
function mustBeAccepted({ pass, authentic }: Expectation): boolean {
  return authentic && pass.length === 1 && pass[0] === 200;
}

describe.each(SUITES.map((suite) => [suite.name, suite] as const))('the %s suite', (_name, suite) => {
  it('sends the credentials that its expectations say', () => {
    expect(lies(suite.scenarios, someCredentials())).toEqual([]);
    expect(
      lies(suite.scenarios, { ...someCredentials(), signatureHeader: 'x-partner-signature', apiKeyHeader: 'KEY' }),
    ).toEqual([]);
  });

  it('sends new ids on every run', () => {
    const ids = () =>
      suite.scenarios.flatMap((scenario) =>
        deliveriesOf(scenario, kit).flatMap(({ change }) => {
          const value = composed(change);
          const id = typeof value === 'object' && value !== null && !Array.isArray(value) ? value.id : undefined;
          return typeof id === 'string' && id !== '' ? [id] : [];
        }),
      );
    const before = new Set(ids());
    expect(ids().filter((id) => before.has(id))).toEqual([]);
  });
});

describe('the deliveries', () => {
  it('are notifications wherever only 200 is expected', () => {
    const wrong = DELIVERIES.filter(
      ({ change, expect: due }) => mustBeAccepted(due) && !isNotification(bodyOf(change)),
    );
    expect(wrong.map(({ id }) => id)).toEqual([]);
  });

  it('differ from the plain bytes wherever the serialise stage is changed', () => {
    const alike = DELIVERIES.filter(({ change }) => change.serialise !== undefined && isPlain(change));
    expect(alike.map(({ id }) => id)).toEqual([]);
  });

  it('need HMAC where the signature is invalid or missing, and the API key where the key is', () => {
    const unprotected = SUITES.flatMap(({ scenarios }) =>
      scenarios.filter((scenario) =>
        deliveriesOf(scenario, kit).some(({ change, expect: due }) => {
          const needed = statesOf(assemble(change, kit), kit).signature === 'right' ? 'api-key' : 'hmac';
          return !due.authentic && !scenario.needs?.includes(needed);
        }),
      ),
    );
    expect(unprotected.map(({ id }) => id)).toEqual([]);
  });
});
