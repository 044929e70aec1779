/**
 * Forged deliveries: a {@link Crossing} combines one flaw with some shapes (`dimensions.ts`) and becomes one scenario.
 * The crossings are in the suites.
 */
import { both } from './changes/addressing.ts';
import { fixedText } from './changes/bodies.ts';
import { ANSWERS, FLAWS, type Flaw, type FlawName, SHAPES, type Shape, type ShapeName } from './dimensions.ts';
import { certificateRefused, refusedElsewhere } from './expectations.ts';
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

/** One scenario: a flaw in some shapes. */
export interface Crossing extends Pick<ProbeScenario, 'id' | 'title' | 'mistake' | 'note'> {
  readonly flaw: FlawName;
  readonly shapes: readonly ShapeName[];
  /** Replaces the requirements of the flaw. */
  readonly requirements?: readonly RequirementId[];
  /** Replaces the expectation of the shape. */
  readonly expect?: Expectation;
}

/** The scenario of a crossing: a probe for one shape, a flow on one connection for several. */
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
    ...(followUps.length > 0 && { ifAccepted: followUps }),
  };
}

/** A request in another shape may be rejected for its shape, before the missing certificate matters. */
function expectationOf({ credential }: Flaw, { answer }: Shape): Expectation {
  const asShaped = ANSWERS[answer];
  if (credential !== 'client certificate') return asShaped;
  if (answer === 'own') return certificateRefused;
  const inHandshake = asShaped.pass.includes('closed') ? 'a TLS alert' : 'a TLS alert, a closed connection';
  return {
    ...certificateRefused,
    text: `${inHandshake}, ${asShaped.text}`,
    pass: [...new Set([...certificateRefused.pass, ...asShaped.pass])],
  };
}

function partsOf(flaw: Flaw, { parts = [] }: Shape): FollowUp[] {
  return parts.map(({ label, change }) => ({ role: 'narrows', label, change: combined(change, flaw.change) }));
}

/** The same request without a body: a page gives both the same answer. */
export const withoutBody = (change: Change): FollowUp => ({
  role: 'compares',
  label: 'the same without a body',
  change: { ...change, serialise: fixedText('') },
});

/** The same request without a body, and at a random path: a page gives all of them the same answer. */
function pageComparisons(change: Change): FollowUp[] {
  const elsewhere: AddressChange = {
    label: 'a random path',
    make: (head, kit) => ({ ...head, target: `/${kit.nonce(16)}` }),
  };
  const atRandomPath = combined(change, { address: elsewhere });
  return [withoutBody(change), { role: 'compares', label: 'the same at a random path', change: atRandomPath }];
}

/** The same request by GET and without a body. */
function byGet(change: Change): FollowUp {
  const address: AddressChange = { label: 'the method GET', make: (head) => ({ ...head, method: 'GET' }) };
  return { role: 'compares', label: 'GET without a body', change: combined(withoutBody(change).change, { address }) };
}

/** A forged delivery at another URL. */
export function atAnotherUrl(change: Change): Pick<ProbeScenario, 'change' | 'expect' | 'ifAccepted'> {
  return { change, expect: refusedElsewhere, ifAccepted: pageComparisons(change) };
}

/** The same request with a query that means nothing: a page gives both the same answer. */
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

/** Both changes. Only the address stage may be changed by both. */
function combined(one: Change, other: Change): Change {
  const address =
    one.address !== undefined && other.address !== undefined
      ? both(`${one.address.label}, and ${other.address.label}`, one.address, other.address)
      : (one.address ?? other.address);
  return { ...one, ...other, ...(address !== undefined && { address }) };
}
