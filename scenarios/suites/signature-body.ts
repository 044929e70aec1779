import type { JsonObject } from '../../contract/index.ts';
import { joined, signedOver } from '../changes/signing.ts';
import { refused, refusedLarge } from '../expectations.ts';
import { tracking } from '../samples.ts';
import type { Delivery, Kit, Scenario } from '../scenario.ts';

/** A common buffer size, in bytes. */
const BUFFER_SIZES = [1024, 8192, 65_536] as const;

/** The bytes of the notification with some fields replaced. The plain body is compact JSON, so nothing else changes. */
function withFields(body: Uint8Array, fields: (notification: JsonObject) => JsonObject): Buffer {
  const notification = JSON.parse(Buffer.from(body).toString()) as JsonObject;
  return Buffer.from(JSON.stringify({ ...notification, ...fields(notification) }));
}

/** The body with one byte changed. A negative index counts from the end. */
function withByteChanged(body: Uint8Array, at: number): Buffer {
  const bytes = Buffer.from(body);
  const index = at < 0 ? bytes.length + at : at;
  bytes[index] = (bytes[index] ?? 0) ^ 1;
  return bytes;
}

/** Ways in which a receiver may normalise a body before it verifies. */
const FOLDS: readonly (readonly [label: string, fold: (body: string) => string])[] = [
  ['signed over the body in lower case', (body) => body.toLowerCase()],
  ['signed over the body in upper case', (body) => body.toUpperCase()],
  ['signed over the body without spaces', (body) => body.replace(/\s/g, '')],
  ['signed over the letters and digits of the body', (body) => body.replace(/[^A-Za-z0-9]/g, '')],
];

/** Valid signatures of other bytes: what a receiver sees when a body was changed after signing. */
export const otherBodies: readonly Scenario[] = [
  {
    id: 'signature/of-another-delivery',
    title: 'Rejects the valid signature of another delivery',
    level: 'must',
    requirements: ['hmac-invalid', 'hmac-raw-body'],
    needs: ['hmac'],
    change: {
      sign: signedOver('the valid signature of another notification', (_body, kit: Kit) =>
        Buffer.from(JSON.stringify(kit.notification())),
      ),
    },
    expect: refused,
    why: 'An attacker who captured one delivery could send any other content with its signature.',
    fix: 'Compute the HMAC for each request: look for a cached result, or a buffer shared between requests.',
  },
  {
    id: 'signature/byte-changed-in-middle',
    title: 'Rejects a body with one byte changed after signing',
    level: 'must',
    requirements: ['hmac-raw-body', 'hmac-invalid'],
    needs: ['hmac'],
    change: {
      sign: signedOver('signed over a body that differs in one byte', (body) =>
        withByteChanged(body, Math.floor(body.length / 2)),
      ),
    },
    expect: refused,
    why: 'One digit changes an amount or an address. The signature must detect it.',
    fix: 'Pass the whole body to the HMAC. Do not sample it or hash selected fields.',
  },
  {
    id: 'signature/last-byte-changed',
    title: 'Rejects a body whose last byte was changed after signing',
    level: 'must',
    requirements: ['hmac-raw-body', 'hmac-invalid'],
    needs: ['hmac'],
    change: {
      sign: signedOver('signed over a body that differs in its last byte', (body) => withByteChanged(body, -1)),
    },
    expect: refused,
    why: 'If the end of the body is not covered, an attacker can append to it or change it.',
    fix: 'Wait for the end of the request before you finish the HMAC, and count the bytes.',
  },
  {
    id: 'signature/over-space-behind',
    title: 'Rejects a signature over the body with a trailing space',
    level: 'must',
    requirements: ['hmac-raw-body', 'hmac-invalid'],
    needs: ['hmac'],
    change: {
      sign: signedOver(
        'signed over the body and a space',
        (body) => Buffer.concat([body, Buffer.from(' ')]),
        joined('cat', "printf ' '"),
      ),
    },
    expect: refused,
    why: 'A receiver that ignores white space at the end verifies a text that was never sent.',
    fix: 'Verify the bytes as received, without trim() and without a second attempt.',
  },
  {
    id: 'signature/over-line-end-behind',
    title: 'Rejects a signature over the body with a trailing newline',
    level: 'must',
    requirements: ['hmac-raw-body', 'hmac-invalid'],
    needs: ['hmac'],
    change: {
      sign: signedOver(
        'signed over the body and a line end',
        (body) => Buffer.concat([body, Buffer.from('\n')]),
        joined('cat', "printf '\\n'"),
      ),
    },
    expect: refused,
    why:
      'A body that is stored as a line of a file gains a newline. Trying both forms makes two bodies valid for ' +
      'each signature.',
    fix: 'Pass the buffer of the request to the HMAC, not a line that was read back from a file or log.',
  },
  {
    id: 'signature/over-other-id',
    title: 'Rejects a delivery whose id was changed after signing',
    level: 'must',
    requirements: ['hmac-raw-body', 'hmac-invalid'],
    needs: ['hmac'],
    change: {
      sign: signedOver('signed over the body with another id', (body, kit) =>
        withFields(body, () => ({ id: kit.newId() })),
      ),
    },
    expect: refused,
    why: 'With a new id, an old delivery passes de-duplication and is processed a second time.',
    fix: 'Sign the raw body, which includes the id, not only the data.',
  },
  {
    id: 'signature/over-other-data',
    title: 'Rejects a delivery whose data was changed after signing',
    level: 'must',
    requirements: ['hmac-raw-body', 'hmac-invalid'],
    needs: ['hmac'],
    change: {
      sign: signedOver('signed over the body with other data', (body, kit) =>
        withFields(body, ({ data }) => ({ data: { ...(data as JsonObject), transactionId: `other-${kit.nonce()}` } })),
      ),
    },
    expect: refused,
    why: 'Status, amount and wallet address are in the data. An attacker who changes them decides who is paid.',
    fix: 'Include the data in the verification: checking id and time proves nothing about the content.',
  },
  {
    id: 'signature/over-other-time',
    title: 'Rejects a delivery whose time was changed after signing',
    level: 'must',
    requirements: ['hmac-raw-body', 'hmac-invalid'],
    needs: ['hmac'],
    change: {
      sign: signedOver('signed over the body with a time one hour earlier', (body, kit) =>
        withFields(body, () => ({ at: Math.floor(kit.now.getTime() / 1000) - 3601 })),
      ),
    },
    expect: refused,
    why: 'With a new time, an old status can replace a newer one.',
    fix: 'Verify the time as part of the body. It has no separate header or signature.',
  },
  {
    id: 'signature/over-data-only',
    title: 'Rejects a signature over the data only',
    level: 'must',
    requirements: ['hmac-raw-body'],
    needs: ['hmac'],
    change: {
      sign: signedOver('signed over the data alone', (body) => {
        const { data } = JSON.parse(Buffer.from(body).toString()) as JsonObject;
        return Buffer.from(JSON.stringify(data));
      }),
    },
    expect: refused,
    why: 'Without the envelope, an attacker can change id, type and time.',
    fix: 'Remove the alternative that signs payload.data: this sender signs the whole body.',
  },
  {
    id: 'signature/over-id-only',
    title: 'Rejects a signature over the id only',
    level: 'must',
    requirements: ['hmac-raw-body'],
    needs: ['hmac'],
    change: {
      sign: signedOver('signed over the id alone', (body) => {
        const { id } = JSON.parse(Buffer.from(body).toString()) as JsonObject;
        return Buffer.from(String(id));
      }),
    },
    expect: refused,
    why: 'A signature over the id does not protect the amount or the status.',
    fix: 'Replace sign(payload.id) with the HMAC of the raw request body.',
  },
  {
    id: 'signature/over-empty-body',
    title: 'Rejects a signature over an empty body',
    level: 'must',
    requirements: ['hmac-raw-body'],
    needs: ['hmac'],
    change: { sign: signedOver('signed over nothing', () => Buffer.alloc(0), "printf ''") },
    expect: refused,
    why:
      'A body that was already consumed looks empty to the second reader, and its signature is valid for every ' +
      'delivery.',
    fix: 'Keep the raw bytes when the body is first read (a verify hook, or a raw body parser on this route).',
  },
  {
    id: 'signature/over-time-and-body',
    title: 'Rejects a signature over the time, a dot and the body',
    level: 'must',
    requirements: ['hmac-raw-body'],
    needs: ['hmac'],
    change: {
      sign: signedOver('signed over the time, a dot and the body', (body) => {
        const { at } = JSON.parse(Buffer.from(body).toString()) as JsonObject;
        return Buffer.concat([Buffer.from(`${String(at)}.`), body]);
      }),
    },
    expect: refused,
    why: 'With two signing schemes, content that was signed under one can be read under the other.',
    fix: 'Remove the scheme with a timestamp: it belongs to the library of another sender.',
  },
  {
    id: 'signature/over-beginning',
    title: 'Rejects a signature over the beginning of a large body',
    level: 'must',
    requirements: ['hmac-raw-body', 'hmac-invalid'],
    needs: ['hmac'],
    flow: (kit) => [
      BUFFER_SIZES.map((size): Delivery => {
        const event = tracking(kit, 'SELL', 'COMPLETED', 'A long description. '.repeat(3500));
        const label = `signed over its first ${size} bytes`;
        return {
          label,
          change: {
            compose: () => event,
            sign: signedOver(label, (body) => body.subarray(0, size), `head -c ${size}`),
          },
          expect: refusedLarge,
        };
      }),
    ],
    why: 'An attacker can change everything beyond the buffer that was verified.',
    fix: 'Verify the body to its end, or reject a body that is too large with 413.',
  },
  {
    id: 'signature/over-folded-body',
    title: 'Rejects a signature over the body in lower case, in upper case or without spaces',
    level: 'must',
    requirements: ['hmac-raw-body', 'hmac-invalid'],
    needs: ['hmac'],
    flow: (kit) => {
      const event = tracking(kit, 'SELL', 'COMPLETED');
      return FOLDS.map(([label, fold]): Delivery[] => {
        const sign = signedOver(label, (body) => Buffer.from(fold(Buffer.from(body).toString())));
        return [{ label, change: { compose: () => event, sign }, expect: refused }];
      });
    },
    why: 'Several bodies then share a signature, and an attacker can change letter case in an address or an id.',
    fix: 'Verify the bytes as received, and do not retry with a normalised body.',
  },
];
