/**
 * Makes forged deliveries: a {@link Crossing} combines one flaw with some shapes (`dimensions.ts`) and becomes one
 * scenario. The suites define the crossings.
 */
import { both } from './changes/addressing.ts';
import { fixedText } from './changes/bodies.ts';
import { ANSWERS, FLAWS, type Flaw, type FlawName, SHAPES, type Shape, type ShapeName } from './dimensions.ts';
import { certificateRefused, refusedAsUnread, refusedElsewhere } from './expectations.ts';
import type { RequirementId } from './requirements.ts';
import type {
  AddressChange,
  Change,
  Delivery,
  Expectation,
  FlowScenario,
  FollowUp,
  ProbeScenario,
} from './scenario.ts';

/** The definition of one scenario: a flaw in some shapes. */
export interface Crossing
  extends Pick<ProbeScenario, 'id' | 'title' | 'mistake' | 'note'>,
    Partial<Pick<ProbeScenario, 'level'>> {
  readonly flaw: FlawName;
  readonly shapes: readonly ShapeName[];
  /** Overrides the requirements of the flaw. */
  readonly requirements?: readonly RequirementId[];
  /** Overrides the expectation of the shape. */
  readonly expect?: Expectation;
}

/**
 * Returns the scenario of a crossing: a probe if there is one shape, or a flow on one connection if there are several.
 */
export function scenarioOf({ flaw, shapes, expect, ...text }: Crossing): ProbeScenario | FlowScenario {
  const { needs, requirements } = FLAWS[flaw];
  const base = { level: 'must', needs, requirements, ...text } as const;
  const deliveries = shapes.map((name) => forgery(FLAWS[flaw], SHAPES[name], expect));
  const [only] = deliveries;
  if (deliveries.length > 1 || only === undefined) return { ...base, flow: () => deliveries.map((one) => [one]) };
  const { label: _, ...delivery } = only;
  return { ...base, ...delivery };
}

function forgery(flaw: Flaw, shape: Shape, expect: Expectation | undefined): Delivery {
  const change = combined(shape.change, flaw.change);
  const followUps = [...partsOf(flaw, shape), ...comparisonsOf(flaw, shape)];
  return {
    label: shape.label,
    change,
    expect: expect ?? expectationOf(flaw, shape),
    ...(followUps.length > 0 && { followUps }),
  };
}

/**
 * Returns the expectation. A request may be rejected because of its unusual shape, before the missing certificate
 * matters.
 */
function expectationOf({ credential, isUnread }: Flaw, { answer }: Shape): Expectation {
  const asShaped = ANSWERS[answer];
  if (isUnread === true && answer !== 'own') return refusedAsUnread;
  if (credential !== 'client certificate') return asShaped;
  if (answer === 'own') return certificateRefused;
  const inHandshake = asShaped.pass.includes('closed') ? 'a TLS alert' : 'a TLS alert, a closed connection';
  return {
    ...certificateRefused,
    text: `${inHandshake}, ${asShaped.text}`,
    pass: [...new Set([...certificateRefused.pass, ...asShaped.pass])],
    ...('note' in asShaped && { note: asShaped.note }),
  };
}

function partsOf(flaw: Flaw, { parts = [] }: Shape): FollowUp[] {
  return parts.map(({ label, change }) => ({ role: 'narrows', label, change: combined(change, flaw.change) }));
}

/** Sends the same request without a body. A page gives the same answer to both. */
export const withoutBody = (change: Change): FollowUp => ({
  role: 'compares',
  label: 'the same without a body',
  change: { ...change, serialise: fixedText('') },
});

/** Sends the same request without a body, and at a random path. A page gives the same answer to all of them. */
function pageComparisons(change: Change): FollowUp[] {
  const elsewhere: AddressChange = {
    label: 'a random path',
    make: (head, kit) => ({ ...head, target: `/${kit.nonce(16)}` }),
  };
  const atRandomPath = combined(change, { address: elsewhere });
  return [withoutBody(change), { role: 'compares', label: 'the same at a random path', change: atRandomPath }];
}

/** Sends the same request with the method GET and without a body. */
function byGet(change: Change): FollowUp {
  const address: AddressChange = { label: 'the method GET', make: (head) => ({ ...head, method: 'GET' }) };
  return { role: 'compares', label: 'GET without a body', change: combined(withoutBody(change).change, { address }) };
}

/** Sends a forged delivery to another URL. */
export function atAnotherUrl(change: Change): Pick<ProbeScenario, 'change' | 'expect' | 'followUps'> {
  return { change, expect: refusedElsewhere, followUps: pageComparisons(change) };
}

/** Sends the same request with a meaningless query. A page gives the same answer to both. */
function withOtherQuery(change: Change): FollowUp {
  const address: AddressChange = {
    label: 'another query',
    make: (head, kit) => ({ ...head, target: `${head.target.split('?', 1)[0] ?? '/'}?${kit.nonce(16)}=1` }),
  };
  return { role: 'compares', label: 'the same with another query', change: combined(change, { address }) };
}

function comparisonsOf(flaw: Flaw, { change, mayBePage }: Shape): FollowUp[] {
  const forged = combined(change, flaw.change);
  if (mayBePage === 'by-url') return pageComparisons(forged);
  if (mayBePage === 'by-query') return [withOtherQuery(forged)];
  if (mayBePage === 'by-get') return [withoutBody(forged), byGet(forged)];
  return mayBePage === 'by-method' ? [withoutBody(forged)] : [];
}

/** Combines two changes. The address stage is the only one that both may change. */
function combined(one: Change, other: Change): Change {
  const address =
    one.address !== undefined && other.address !== undefined
      ? both(`${one.address.label}, and ${other.address.label}`, one.address, other.address)
      : (one.address ?? other.address);
  return { ...one, ...other, ...(address !== undefined && { address }) };
}
