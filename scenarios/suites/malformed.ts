import { gzipSync } from 'node:zlib';
import { setHeader } from '../changes/addressing.ts';
import { compact } from '../changes/bodies.ts';
import { unsigned } from '../changes/signing.ts';
import { accepted, anyClearAnswer, noAnswerExpected, refusedInAnotherShape } from '../expectations.ts';
import { type Crossing, scenarioOf } from '../forgery.ts';
import type { Change, Suite } from '../scenario.ts';
import { crossings, family } from './family.ts';
import { malformedBacktracking } from './malformed-backtracking.ts';
import { malformedFields } from './malformed-fields.ts';
import { malformedJson } from './malformed-json.ts';
import { malformedLookups } from './malformed-lookups.ts';
import { malformedPollution, malformedSize } from './malformed-size.ts';

/** Malformed payloads without valid credentials, which must be rejected like any other forgery. */
export const unsignedMalformed: readonly Crossing[] = crossings(
  {
    suite: 'malformed',
    flaw: 'no-signature',
    requirements: ['delivery-malformed-unsigned'],
    mistake: 'parsing-before-verification',
  },
  {
    'unsigned-json': ['broken JSON without a signature', ['broken-json']],
    'unsigned-empty': [
      'an empty body without a signature',
      ['empty-body'],
      'empty-body-unhandled',
      { note: 'An early 200 confirms deliveries that were never verified.' },
    ],
    'unsigned-null': ['the body null without a signature', ['null']],
    'unsigned-binary': [
      'random bytes without a signature',
      ['bytes'],
      { note: 'Decoding the body for a log line fails on bytes that are not text.' },
    ],
    'unsigned-multipart': [
      'a multipart form without a boundary and without a signature',
      ['multipart-no-boundary', 'multipart-no-parts'],
      'body-parser-by-content-type',
      { note: 'Some frameworks parse a form before any code of the receiver, and leave no body after an error.' },
    ],
    'wrongly-signed-json': [
      'broken JSON with an invalid signature',
      ['broken-json'],
      { flaw: 'random-signature', note: 'A 400 shows an attacker that the parser runs before the verification.' },
    ],
    'unsigned-1-mb': ['an unsigned body of more than 1 MiB', ['over-1-mib'], 'oversized-body-unhandled'],
    'unsigned-8-mb': [
      'an unsigned body of more than 8 MiB',
      ['over-8-mib'],
      'oversized-body-unhandled',
      { note: 'Above common memory limits (8 MB), some receivers exit, or continue with an empty body.' },
    ],
    'unsigned-depth': ['20,000 nested arrays without a signature', ['nested']],
  },
);

const cutOff = (fraction: number): Change => ({ transmit: { kind: 'cut-off', fraction } });
const encoded = (name: string): Change => ({ address: setHeader('Content-Encoding', name) });

/** Number of deliveries that are cut off. It exceeds the usual number of workers or pooled connections. */
const CUT_OFF = 30;

const shared = { suite: 'malformed', verb: 'Handles', requirements: ['delivery-malformed'] } as const;

/** Bodies that end early. */
const cutOffBodies = [
  ...family(
    { ...shared, level: 'must', expect: noAnswerExpected, mistake: 'aborted-body-unhandled' },
    {
      'cut-off': ['a connection that ends in the middle of the body', cutOff(0.5)],
      'cut-off-before-body': ['a connection that ends before the body', cutOff(0)],
    },
  ),
  ...family(
    { ...shared, level: 'must' },
    {
      'cut-off-many-times': [
        `${CUT_OFF} connections that end in the middle of their bodies`,
        {
          alone: true,
          flow: () => [
            Array.from({ length: CUT_OFF }, (_, index) => ({
              label: `delivery ${index + 1}, cut off`,
              change: cutOff(0.5),
              expect: noAnswerExpected,
            })),
            // A server may notice only while it handles this delivery that the earlier connections have ended.
            [{ label: 'a valid delivery after them', change: {}, expect: accepted }],
          ],
        },
        'aborted-body-unhandled',
      ],
    },
  ),
];

/**
 * Bodies that are not encoded as declared. Many servers decompress a body before any check. The sender never compresses
 * bodies.
 */
const encodedBodies = family(
  { ...shared, level: 'should', expect: anyClearAnswer, mistake: 'decompression-unguarded' },
  {
    'gzip-that-is-plain': ['a plain body that is declared as gzip', encoded('gzip')],
    'unsigned-gzip': [
      'an unsigned body that is declared as gzip',
      { sign: unsigned, ...encoded('gzip') },
      {
        title: 'Rejects an unsigned body that is declared as gzip but is not compressed',
        level: 'must',
        requirements: ['delivery-malformed-unsigned'],
        needs: ['hmac'],
        expect: refusedInAnotherShape,
        note: '401 and 415 are both acceptable.',
      },
    ],
    'gzip-cut': [
      'a gzip body that ends early',
      { serialise: (value) => gzipSync(compact(value)).subarray(0, 60), ...encoded('gzip') },
    ],
    'encoding-unknown': ['a body with an unknown Content-Encoding', encoded('x-test')],
  },
);

/** Payloads that are not valid notifications. Specification: Delivery endpoint (malformed payload). */
export const malformedSuite: Suite = {
  name: 'malformed',
  title: 'A malformed payload gets a clear answer',
  scenarios: [
    ...malformedJson,
    ...unsignedMalformed.map(scenarioOf),
    ...malformedFields,
    ...malformedLookups,
    ...malformedSize,
    ...cutOffBodies,
    ...encodedBodies,
    ...malformedPollution,
    malformedBacktracking,
  ],
};
