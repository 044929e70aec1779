import type { JsonObject } from '../../contract/index.ts';
import { signedOver } from '../changes/signing.ts';
import { joined } from '../changes/signing-shell.ts';
import { refused, refusedLarge } from '../expectations.ts';
import { tracking } from '../samples.ts';
import type { Delivery, Kit, Scenario } from '../scenario.ts';

/** What buffers usually hold, in bytes. */
const BUFFER_SIZES = [1024, 8192, 65_536] as const;

/** The bytes of the notification with some of its fields replaced. The plain body is compact JSON, so nothing else changes. */
function withFields(body: Uint8Array, fields: (notification: JsonObject) => JsonObject): Buffer {
  const notification = JSON.parse(Buffer.from(body).toString()) as JsonObject;
  return Buffer.from(JSON.stringify({ ...notification, ...fields(notification) }));
}

/** The body with the byte at a place counted from its start (or, when negative, from its end) made another one. */
function withByteChanged(body: Uint8Array, at: number): Buffer {
  const bytes = Buffer.from(body);
  const index = at < 0 ? bytes.length + at : at;
  bytes[index] = (bytes[index] ?? 0) ^ 1;
  return bytes;
}

/**
 * Signatures that are right for other bytes than those that arrive: what a receiver sees of a body that was tampered with
 * after it was signed.
 */
export const otherBodies: readonly Scenario[] = [
  {
    id: 'signature/of-another-delivery',
    title: 'Refuses the right signature of another delivery',
    level: 'must',
    requirements: ['hmac-invalid', 'hmac-raw-body'],
    needs: ['hmac'],
    change: {
      sign: signedOver('the right signature of another notification', (_body, kit: Kit) =>
        Buffer.from(JSON.stringify(kit.notification())),
      ),
    },
    expect: refused,
    why: 'One overheard delivery would be enough to send any other under its signature.',
    fix: 'Compute the HMAC anew for each request: look for a cached result or a buffer that is shared between requests.',
  },
  {
    id: 'signature/byte-changed-in-middle',
    title: 'Refuses a body in which one byte was changed after signing',
    level: 'must',
    requirements: ['hmac-raw-body', 'hmac-invalid'],
    needs: ['hmac'],
    change: {
      sign: signedOver('signed over a body that differs in one byte', (body) =>
        withByteChanged(body, Math.floor(body.length / 2)),
      ),
    },
    expect: refused,
    why: 'A single digit turns one amount or address into another. The signature is there to notice it.',
    fix: 'Feed the whole body to the HMAC, every byte once, and compare the result; do not sample or hash selected fields.',
  },
  {
    id: 'signature/last-byte-changed',
    title: 'Refuses a body whose last byte was changed after signing',
    level: 'must',
    requirements: ['hmac-raw-body', 'hmac-invalid'],
    needs: ['hmac'],
    change: {
      sign: signedOver('signed over a body that differs in its last byte', (body) => withByteChanged(body, -1)),
    },
    expect: refused,
    why: 'If the end of the body is not covered, an attacker can append or change what stands there.',
    fix: 'Wait for the end of the request before the HMAC is closed, and count the bytes that go in.',
  },
  {
    id: 'signature/over-space-behind',
    title: 'Refuses a signature over the body with a space behind it',
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
    why: 'A space was lost on the way. A receiver that ignores white space at the ends signs a text that nobody sent.',
    fix: 'Verify the bytes as received, with no trim() before the HMAC and no second try after one.',
  },
  {
    id: 'signature/over-line-end-behind',
    title: 'Refuses a signature over the body with a line end behind it',
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
    why: 'Bodies kept as lines of a file gain a line end. Verifying with and without one accepts two bodies for each signature.',
    fix: 'Hand the buffer of the request to the HMAC, not a line that was read back from a file or a log.',
  },
  {
    id: 'signature/over-other-id',
    title: 'Refuses a delivery whose id was changed after signing',
    level: 'must',
    requirements: ['hmac-raw-body', 'hmac-invalid'],
    needs: ['hmac'],
    change: {
      sign: signedOver('signed over the body with another id', (body, kit) =>
        withFields(body, () => ({ id: kit.newId() })),
      ),
    },
    expect: refused,
    why: 'With a new id, an old delivery passes de-duplication and is booked a second time.',
    fix: 'The signature has to cover the id as well: sign the raw body, not the data that is left after unwrapping.',
  },
  {
    id: 'signature/over-other-data',
    title: 'Refuses a delivery whose data was changed after signing',
    level: 'must',
    requirements: ['hmac-raw-body', 'hmac-invalid'],
    needs: ['hmac'],
    change: {
      sign: signedOver('signed over the body with other data', (body, kit) =>
        withFields(body, ({ data }) => ({ data: { ...(data as JsonObject), transactionId: `other-${kit.nonce()}` } })),
      ),
    },
    expect: refused,
    why: 'Status, amount and wallet address stand in the data. Whoever can change them decides who is paid.',
    fix: 'Include the data in what is verified; a check of id and time alone proves only that something was sent once.',
  },
  {
    id: 'signature/over-other-time',
    title: 'Refuses a delivery whose time was changed after signing',
    level: 'must',
    requirements: ['hmac-raw-body', 'hmac-invalid'],
    needs: ['hmac'],
    change: {
      sign: signedOver('signed over the body with a time one hour earlier', (body, kit) =>
        withFields(body, () => ({ at: Math.floor(kit.now.getTime() / 1000) - 3601 })),
      ),
    },
    expect: refused,
    why: 'With a fresh time, an old status can overtake a newer one.',
    fix: 'Treat the time as a part of the body like any other; it has no header and no signature of its own.',
  },
  {
    id: 'signature/over-data-only',
    title: 'Refuses a signature over the data alone',
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
    why: 'Leaving the envelope out lets id, type and time be exchanged at will.',
    fix: 'Remove the alternative that signs payload.data: other services sign a part, this one signs all of the body.',
  },
  {
    id: 'signature/over-id-only',
    title: 'Refuses a signature over the id alone',
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
    why: "A signature over the id says nothing about amount or status: the rest of the body is anybody's.",
    fix: 'Replace sign(payload.id) by the HMAC of the raw request body.',
  },
  {
    id: 'signature/over-empty-body',
    title: 'Refuses a signature over an empty body',
    level: 'must',
    requirements: ['hmac-raw-body'],
    needs: ['hmac'],
    change: { sign: signedOver('signed over nothing', () => Buffer.alloc(0), "printf ''") },
    expect: refused,
    why: 'A body that was already read looks empty to the second reader. Its signature is one fixed value, good for every delivery.',
    fix: 'Keep the raw bytes when the body is read for the first time (a verify hook, or a raw body parser on this route).',
  },
  {
    id: 'signature/over-time-and-body',
    title: 'Refuses a signature over the time, a dot and the body',
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
    why: 'Two recipes for one signature mean that what was signed under one can be read under the other.',
    fix: "Drop the recipe with a time stamp in front; it comes from another sender's library.",
  },
  {
    id: 'signature/over-beginning',
    title: 'Refuses a signature over the beginning of a large body',
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
    why: 'What lies beyond the buffer of the check can be exchanged by anybody: only the beginning is authentic.',
    fix: 'Hash all that was read, to its end, or refuse what is too large for that with 413.',
  },
];
