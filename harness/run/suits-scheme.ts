/**
 * Which checks suit a scheme. Nearly every check is a change to a stage, so it can be made in any scheme. Each is
 * assembled once before the run, and left out if the oracle finds that it is not what it claims. For example, the
 * hexadecimal form of a signature is not a forgery in a scheme that uses it.
 */
import { headerValues, type JsonObject, type JsonValue } from '../../contract/index.ts';
import { hasStatus, type Scheme } from '../../contract/signing/index.ts';
import type { Scenario } from '../../scenarios/index.ts';
import { PREFLIGHT_SCENARIO, STATUS_SCENARIOS } from '../judge/index.ts';
import type { Partner } from '../partner.ts';
import { type Assembled, assemble } from './assemble.ts';
import { createKit } from './kit.ts';
import { faultOfProbe } from './oracle.ts';

/** Suites about the notifications of the specification and what follows from them. */
const OF_THE_SERVICE = new Set(['typo-key', 'effects', 'rotation']);
/**
 * Matches checks about fields that only the specification defines. Other deliveries may contain a field with the same
 * name.
 */
const OF_ITS_FIELDS = /\/(?:caas|metadata|error-data|transaction|unknown-caas|id-version|id-upper)/;
/** The members of a notification of the specification. */
const ENVELOPE = ['id', 'type', 'at', 'data'] as const;

/** Returns whether a value has members of the specification that the plain delivery lacks. */
function isOfService(value: JsonValue, plain: JsonObject): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  return ENVELOPE.some((name) => name in value && !(name in plain));
}

/** Returns whether the signature header differs from the valid one only in upper and lower case. */
function isInOtherCase({ prepared, rightSignature, kit }: Assembled): boolean {
  const right = kit.scheme?.header(rightSignature ?? '') ?? '';
  return headerValues(prepared.headers, kit.signatureHeader).some(
    (value) => value !== right && value.toLowerCase() === right.toLowerCase(),
  );
}

/**
 * Adapts a check to a scheme, which may leave the statuses to the receiver. Only the two checks that are about a status
 * differ.
 */
export function inScheme(scenario: Scenario, { accepts, rejects }: Scheme): Scenario {
  if (scenario.id === PREFLIGHT_SCENARIO && 'expect' in scenario && 'change' in scenario) {
    return { ...scenario, expect: { ...scenario.expect, text: accepts.join(' or '), pass: accepts } };
  }
  if (scenario.id !== STATUS_SCENARIOS.signature || !('observe' in scenario)) return scenario;
  const text = rejects.join(' or ');
  return {
    ...scenario,
    title: scenario.title.replace('401', text),
    expected: text,
    observe: (run) =>
      scenario.observe({
        ...run,
        rejections: (run.rejections ?? []).map((one) =>
          hasStatus(rejects, one.status) ? { ...one, status: 401 } : one,
        ),
      }),
  };
}

/**
 * Returns why a check does not suit the scheme of a partner, or null. Without a scheme, every check suits.
 */
export function obstacleInScheme(scenario: Scenario, partner: Partner): string | null {
  const { scheme } = partner.signing ?? {};
  if (scheme === undefined) return null;
  const ofService = `it is about the notifications of the specification, not of ${scheme.title}`;
  if (OF_THE_SERVICE.has(scenario.id.slice(0, scenario.id.indexOf('/')))) return ofService;
  if (OF_ITS_FIELDS.test(scenario.id)) return ofService;
  const isOwn = scenario.inScheme !== undefined;
  if (scheme.separator !== undefined && scenario.mistake === 'several-signatures' && !isOwn) {
    return `a delivery of ${scheme.title} may have several signatures`;
  }
  const kit = createKit(partner, 'scheme', scenario.id, new Date());
  const own = kit.scheme === undefined ? null : (scenario.inScheme?.(kit.scheme) ?? null);
  if (own !== null) return own;
  try {
    const deliveries = 'flow' in scenario ? scenario.flow(kit).flat() : 'change' in scenario ? [scenario] : [];
    for (const { change, expect } of deliveries) {
      const assembled = assemble(change, kit, partner);
      if (change.compose !== undefined && isOfService(assembled.value, kit.notification())) return ofService;
      if (scheme.encoding === 'hex' && isInOtherCase(assembled)) return 'it has the same hexadecimal digits';
      if (faultOfProbe(assembled, partner, expect.authentic) !== null) {
        return `it does not have the same meaning in the scheme of ${scheme.title} as in that of the specification`;
      }
    }
  } catch {
    return ofService;
  }
  return null;
}
