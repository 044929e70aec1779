/** Mutants that compare signatures incorrectly, and mutants whose check throws. */
import { timingSafeEqual } from 'node:crypto';
import { refuseUnauthorized, requestHeader, type Stage } from '../receiver/stages/stage.ts';
import { family } from './family.ts';
import type { StageFault } from './fault.ts';
import {
  bytesOf,
  comparing,
  endProcessWhen,
  handleSome,
  matchesWildcards,
  SIGNATURE,
  throwWhen,
} from './lenient-verifier.ts';

const sorted = (text: string) => [...text].toSorted().join('');

const NOT_ASCII = /[^\x00-\x7f]/;

export const signatureComparisonFaults = family<StageFault>(
  { ...SIGNATURE, mistake: 'partial-comparison' },
  {
    // Mutants that compare only a part of the signature, or something derived from it.
    'compares-shorter-length': [
      'Compares decoded bytes only up to the shorter length',
      comparing((header, expected) => {
        const wanted = bytesOf(expected);
        return bytesOf(header).every((byte, at) => at >= wanted.length || byte === wanted[at]);
      }),
      { note: 'A Rust webhook library had this defect (CVE-2024-21491).' },
    ],
    'accepts-beginning': [
      'Accepts any prefix of the valid signature',
      comparing((header, expected) => header !== '' && expected.startsWith(header)),
    ],
    'accepts-any-part': [
      'Accepts parts of the valid signature, even an empty one',
      comparing((header, expected) => expected.includes(header)),
      { note: 'The empty string is part of every string, so an empty header is valid.' },
    ],
    'ignores-what-follows': [
      'Ignores text after the valid signature',
      comparing((header, expected) => header.startsWith(expected)),
      'surrounding-text-ignored',
      { forbidden: false },
    ],
    'ignores-what-precedes': [
      'Ignores text before the valid signature',
      comparing((header, expected) => header.endsWith(expected)),
      'surrounding-text-ignored',
    ],
    'contains-signature': [
      'Accepts a header that contains the valid signature anywhere',
      comparing((header, expected) => header.includes(expected)),
      'surrounding-text-ignored',
      { note: 'Lists pass too, so an attacker can try many signatures in one request.' },
    ],
    'ignores-letter-case': [
      'Compares signatures without regard to letter case',
      comparing((header, expected) => header.toLowerCase() === expected.toLowerCase()),
      'signature-letter-case',
    ],
    'compares-first-8': [
      'Compares only the first 8 characters of the signature',
      comparing((header, expected) => header.slice(0, 8) === expected.slice(0, 8)),
      { note: 'Eight characters are only 48 bits, which can be brute-forced.' },
    ],
    'compares-first-32': [
      'Compares only the first 32 characters of the signature',
      comparing((header, expected) => header.slice(0, 32) === expected.slice(0, 32)),
      { note: 'A quarter of the signature is not checked.' },
    ],
    'compares-last-8': [
      'Compares only the last 8 characters of the signature',
      comparing((header, expected) => header.slice(-8) === expected.slice(-8)),
    ],
    'skips-first-7': [
      'Skips the first 7 characters of the signature, as if they were "sha256="',
      comparing((header, expected) => header.slice(7) === expected.slice(7)),
      { note: 'It skips the length of "sha256=", a prefix that this sender does not write.' },
    ],
    'last-difference-decides': [
      'Overwrites the result of each character comparison, so only the last character counts',
      comparing((header, expected) => {
        let difference = header.length ^ expected.length;
        if (difference !== 0) return false;
        for (let at = 0; at < expected.length; at++) difference = header.charCodeAt(at) ^ expected.charCodeAt(at);
        return difference === 0;
      }),
      'hand-written-comparison',
      { note: 'The last character of every signature is "=", so any value of the same length passes.' },
    ],
    'compares-in-any-order': [
      'Compares the characters of the signature without their order',
      comparing((header, expected) => sorted(header) === sorted(expected)),
      'hand-written-comparison',
    ],
    'signature-as-glob': [
      'Treats the received signature as a glob pattern that the expected one must match',
      comparing((header, expected) => header === expected || matchesWildcards(expected, header, '*', '?')),
      'signature-used-as-pattern',
    ],
    'signature-as-regexp': [
      'Treats the received signature as a regular expression that the expected one must match',
      comparing((header, expected) => header === expected || new RegExp(`^(?:${header})$`).test(expected)),
      'signature-used-as-pattern',
    ],
    'global-regexp-keeps-position': [
      'Rejects every second valid delivery, because a regular expression keeps its position',
      (parts) => {
        const shape = /^[A-Za-z0-9+/]{43}=$/g;
        const reject: Stage = (_req, res) => refuseUnauthorized(res, 'signature-malformed');
        return handleSome(({ header = '' }) => (shape.test(header) ? null : reject))(parts);
      },
      'state-outlives-request',
      { note: 'Half of all valid deliveries are rejected, and each is accepted when it is repeated.' },
    ],
    // Mutants whose check throws on malformed signatures.
    'other-length-answers-500': [
      'Answers 500 to a signature of another length, because the constant-time comparison throws',
      throwWhen(({ header, expected }) => {
        if (header !== undefined) for (const one of expected) timingSafeEqual(Buffer.from(header), Buffer.from(one));
        return false;
      }),
      'signature-check-throws',
    ],
    'other-decoded-length-answers-500': [
      'Answers 500 to a signature of the correct length that decodes to another number of bytes',
      throwWhen(({ header = '', expected }) => {
        if (!/^[A-Za-z0-9+/]{43}[A-Za-z0-9+/=]$/.test(header)) return false;
        for (const one of expected) timingSafeEqual(Buffer.from(header, 'base64'), Buffer.from(one, 'base64'));
        return false;
      }),
      'signature-check-throws',
    ],
    'other-length-kills': [
      'Ends the process when a signature has another length',
      endProcessWhen(
        ({ header, expected }) => header !== undefined && Buffer.byteLength(header) !== expected[0]?.length,
      ),
      'verification-ends-process',
    ],
    'other-byte-length-answers-500': [
      'Answers 500 to a signature with the correct number of characters but more bytes',
      throwWhen(({ header, expected }) =>
        expected.some((one) => header?.length === one.length && Buffer.byteLength(header) !== one.length),
      ),
      'signature-check-throws',
      { note: 'It compares string lengths first, which non-ASCII characters bypass.' },
    ],
    'non-ascii-answers-500': [
      'Answers 500 to a signature with a character outside ASCII',
      throwWhen(({ header = '' }) => NOT_ASCII.test(header)),
      'signature-check-throws',
    ],
    'not-base64-answers-500': [
      'Answers 500 to a signature that is not Base64, because the decoder throws',
      throwWhen(({ header }) => {
        if (header !== undefined) atob(header);
        return false;
      }),
      'signature-check-throws',
    ],
    'repeated-signature-answers-500': [
      'Answers 500 to two signature headers in one request',
      throwWhen(({ req }) => Array.isArray(requestHeader(req, 'x-service-signature'))),
      'several-signatures',
      {
        note: 'A proxy can duplicate a header; the sender then sees an outage that no retry resolves.',
        forbidden: false,
      },
    ],
    'compares-digests-as-text': [
      'Decodes both digests as UTF-8 text before it compares them, so many digests match',
      comparing(
        (header, expected) =>
          /^[A-Za-z0-9+/]{43}=$/.test(header) &&
          bytesOf(header).toString('utf8') === bytesOf(expected).toString('utf8'),
      ),
      'digest-handled-as-text',
    ],
  },
);
