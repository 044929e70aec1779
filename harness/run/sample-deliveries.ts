/**
 * Shows what a scenario sends, without an endpoint: each of its deliveries next to the plain one, made with sample
 * credentials. Every call returns the same result.
 */
import {
  type AnswerMatch,
  type Delivery,
  type Kit,
  type Scenario,
  samples,
  TEST_ID_PREFIX,
  type Transmission,
} from '../../scenarios/index.ts';
import type { Partner } from '../partner.ts';
import { headersFor, requestBytes } from '../probe/index.ts';
import { type Assembled, assemble } from './assemble.ts';
import { createKit } from './kit.ts';

/** The parts of a request: the request line and header lines without line ends, and the body. */
export interface RequestParts {
  readonly lines: readonly string[];
  readonly body: Uint8Array;
}

/** A delivery, and the plain delivery to compare it with. Valid credentials are replaced by placeholders. */
export interface SampleDelivery {
  /** A name for the delivery. Empty if the scenario sends only one. */
  readonly label: string;
  readonly plain: RequestParts;
  readonly sent: RequestParts;
  /** The body of another plain delivery, which shows what differs between any two: ids, times, addresses. */
  readonly otherBody: Uint8Array;
  /** The difference in the connection. Null if there is none. */
  readonly connection: string | null;
  /** How the request is written to the connection. Null if this is not changed, or if `sent` already shows it. */
  readonly transmission: Transmission | null;
}

const PARTNER = {
  url: 'https://partner.example/hooks',
  signing: { secret: 'sample-secret-for-explanations-only' },
  apiKey: { value: 'sample-api-key-for-explanations' },
  rotation: {
    old: 'sample-secret-for-explanations-only',
    next: 'sample-next-secret-for-explanations-only',
    step: 'both',
  },
} as const satisfies Partner;

const NOW = new Date('2026-01-01T00:00:00Z');
const CERTIFICATE = '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n';

/** Returns the deliveries of a scenario in the order in which they are sent. Empty if it sends no HTTP request. */
export function sampleDeliveries(scenario: Scenario): SampleDelivery[] {
  return deliveriesOf(scenario).map(({ label = '', change }) => {
    const assembled = assemble(change, sampleKit('explained'), PARTNER);
    const { transmission } = assembled;
    const isRaw = transmission?.kind === 'raw';
    const plain = assemble({}, sampleKit('explained'), PARTNER);
    return {
      label,
      plain: partsOf(requestBytes(plain.prepared), plain),
      sent: partsOf(assembled.raw ?? requestBytes(framed(assembled)), assembled),
      otherBody: assemble({}, sampleKit('other'), PARTNER).prepared.body,
      connection: change.connect?.label ?? null,
      transmission: isRaw ? null : transmission,
    };
  });
}

function deliveriesOf(scenario: Scenario): (Pick<Delivery, 'change' | 'expect'> & { readonly label?: string })[] {
  if ('flow' in scenario) return scenario.flow(sampleKit('explained')).flat();
  return 'change' in scenario ? [scenario] : [];
}

/** Returns the answers that fail a scenario, whatever its level. */
export function failingAlways(scenario: Scenario): ReadonlySet<AnswerMatch> {
  return new Set(deliveriesOf(scenario).flatMap(({ expect }) => expect.fail ?? []));
}

function framed({ prepared, transmission }: Assembled): Assembled['prepared'] {
  return { ...prepared, headers: headersFor(transmission, prepared.headers) };
}

/** Creates a kit without randomness: its ids are sequential numbers. */
function sampleKit(seed: string): Kit {
  let ids = 0;
  const tail = seed === 'other' ? 'f' : '0';
  const kit: Kit = Object.create(createKit(PARTNER, seed, 'explain', NOW), {
    newId: { value: () => `${TEST_ID_PREFIX}-0000-4000-8000-${String(++ids).padStart(12, tail)}` },
    notification: { value: () => samples.plainNotification(kit) },
    clientCertificate: { value: CERTIFICATE },
    cookies: { value: ['session=sample'] },
    returned: { value: [['X-Returned', 'sample']] },
  });
  return kit;
}

const END_OF_HEAD = '\r\n\r\n';

function partsOf(request: Buffer, { kit, prepared, rightSignature }: Assembled): RequestParts {
  const nextSignature = kit.rotation?.sign(prepared.body, 'next') ?? '';
  const end = request.indexOf(END_OF_HEAD);
  const head = (end === -1 ? request : request.subarray(0, end)).toString('latin1');
  return {
    lines: withoutCredentials(head, rightSignature ?? '', nextSignature).split('\r\n'),
    body: end === -1 ? new Uint8Array() : request.subarray(end + END_OF_HEAD.length),
  };
}

/**
 * Replaces credentials with placeholders. A valid signature is named, because its value shows nothing about the change.
 */
function withoutCredentials(head: string, signature: string, nextSignature: string): string {
  const names = [
    [signature, '[valid signature]'],
    [nextSignature, '[valid signature with the next secret]'],
    [PARTNER.apiKey.value, '[API key]'],
    [PARTNER.signing.secret, '[secret]'],
  ] as const;
  return names.reduce((text, [value, name]) => (value === '' ? text : text.replaceAll(value, name)), head);
}
