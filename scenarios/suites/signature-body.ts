import type { JsonObject } from '../../contract/index.ts';
import { joined, type SigningScheme, signedOver } from '../changes/signing.ts';
import { refused, refusedLarge } from '../expectations.ts';
import { tracking } from '../samples.ts';
import type { Delivery, Kit, Scenario } from '../scenario.ts';
import { family } from './family.ts';
import { rejected } from './signature-family.ts';

const parsed = (body: Uint8Array) => JSON.parse(Buffer.from(body).toString()) as JsonObject;

/** Replaces some fields of the notification. The plain body is compact JSON, so nothing else changes. */
const withFields =
  (fields: (notification: JsonObject, kit: Kit) => JsonObject) =>
  (body: Uint8Array, kit: Kit): Buffer => {
    const notification = parsed(body);
    return Buffer.from(JSON.stringify({ ...notification, ...fields(notification, kit) }));
  };

const otherId = withFields((_notification, kit) => ({ id: kit.newId() }));
const otherData = withFields(({ data }, kit) => ({
  data: { ...(data as JsonObject), transactionId: `other-${kit.nonce()}` },
}));
const oneHourEarlier = withFields((_notification, kit) => ({ at: Math.floor(kit.now.getTime() / 1000) - 3601 }));

/**
 * Changes one bit in one byte of the body. `indexIn` receives the length of the body and returns the index of the byte.
 */
const withByteChanged = (indexIn: (length: number) => number) => (body: Uint8Array) => {
  const at = indexIn(body.length);
  return body.map((byte, index) => (index === at ? byte ^ 1 : byte));
};

const withSuffix = (suffix: string) => (body: Uint8Array) => Buffer.concat([body, Buffer.from(suffix)]);

/** Common buffer sizes, in bytes. */
const BUFFER_SIZES = [1024, 8192, 65_536] as const;

/** Ways in which a receiver may normalise a body before it verifies. */
const FOLDS: Readonly<Record<string, (body: string) => string>> = {
  'signed over the body in lower case': (body) => body.toLowerCase(),
  'signed over the body in upper case': (body) => body.toUpperCase(),
  'signed over the body without spaces': (body) => body.replace(/\s/g, ''),
  'signed over the letters and digits of the body': (body) => body.replace(/[^A-Za-z0-9]/g, ''),
};

/** Valid signatures of other bytes, as a receiver sees them when a body was changed after signing. */
export function otherBodies(scheme: SigningScheme): Scenario[] {
  const over = (bytes: (body: Uint8Array, kit: Kit) => Uint8Array, before?: string) => (label: string) => ({
    sign: signedOver(label, bytes, before, scheme),
  });

  const eachBeginning = {
    flow: (kit: Kit) => [
      BUFFER_SIZES.map((size): Delivery => {
        const event = tracking(kit, 'SELL', 'COMPLETED', 'A long description. '.repeat(3500));
        const label = `signed over its first ${size} bytes`;
        const { sign } = over((body) => body.subarray(0, size), `head -c ${size}`)(label);
        return { label, change: { compose: () => event, sign }, expect: refusedLarge };
      }),
    ],
  };
  const eachFold = {
    flow: (kit: Kit) => {
      const event = tracking(kit, 'SELL', 'COMPLETED');
      return Object.entries(FOLDS).map(([label, fold]): Delivery[] => {
        const { sign } = over((body) => Buffer.from(fold(Buffer.from(body).toString())))(label);
        return [{ label, change: { compose: () => event, sign }, expect: refused }];
      });
    },
  };
  return [
    ...family(
      { ...rejected(scheme, 'raw-body', 'invalid'), mistake: 'signed-part-of-body' },
      {
        'of-another-delivery': [
          'the valid signature of another delivery',
          over((_body, kit) => Buffer.from(JSON.stringify(kit.notification()))),
          'cached-verification',
        ],
        'byte-changed-in-middle': [
          'a body with one byte changed after signing',
          over(withByteChanged((length) => Math.floor(length / 2))),
        ],
        'last-byte-changed': [
          'a body whose last byte was changed after signing',
          over(withByteChanged((length) => length - 1)),
        ],
        'over-space-behind': [
          'a signature over the body with a trailing space',
          over(withSuffix(' '), joined('cat', "printf ' '")),
          'raw-body-fallback',
        ],
        'over-line-end-behind': [
          'a signature over the body with a trailing newline',
          over(withSuffix('\n'), joined('cat', "printf '\\n'")),
          'raw-body-fallback',
        ],
        'over-other-id': [
          'a delivery whose id was changed after signing',
          over(otherId),
          { note: 'With a new id, an old delivery passes de-duplication and is processed a second time.' },
        ],
        'over-other-data': ['a delivery whose data was changed after signing', over(otherData)],
        'over-other-time': [
          'a delivery whose time was changed after signing',
          over(oneHourEarlier),
          { note: 'With a new time, an old status can replace a newer one.' },
        ],
      },
    ),
    ...family(
      { ...rejected(scheme, 'raw-body'), mistake: 'signed-part-of-body' },
      {
        'over-data-only': [
          'a signature over the data only',
          over((body) => Buffer.from(JSON.stringify(parsed(body).data))),
        ],
        'over-id-only': ['a signature over the id only', over((body) => Buffer.from(String(parsed(body).id)))],
        'over-empty-body': [
          'a signature over an empty body',
          over(() => Buffer.alloc(0), "printf ''"),
          'unread-body-verified',
        ],
        'over-time-and-body': [
          'a signature over the time, a dot and the body',
          over((body) => Buffer.concat([Buffer.from(`${String(parsed(body).at)}.`), body])),
        ],
      },
    ),
    ...family(rejected(scheme, 'raw-body', 'invalid'), {
      'over-beginning': [
        'a signature over the beginning of a large body',
        eachBeginning,
        'signed-part-of-body',
        { note: 'An attacker can change everything beyond the buffer that was verified.' },
      ],
      'over-folded-body': [
        'a signature over the body in lower case, in upper case or without spaces',
        eachFold,
        'raw-body-fallback',
      ],
    }),
  ];
}
