import { gzipSync } from 'node:zlib';
import { addHeaders } from '../changes/addressing.ts';
import { compact } from '../changes/bodies.ts';
import { unsigned } from '../changes/signing.ts';
import { accepted, outlived, refusedInAnotherShape, survived } from '../expectations.ts';
import { scenarioOf } from '../forgery.ts';
import type { Delivery, FlowScenario, ProbeScenario, Suite } from '../scenario.ts';
import { malformedBacktracking } from './malformed-backtracking.ts';
import { malformedEnvelope, malformedIds } from './malformed-envelope.ts';
import { malformedFields, malformedValues } from './malformed-fields.ts';
import { malformedJson } from './malformed-json.ts';
import { malformedClassNames, malformedLookups, malformedMethodNames } from './malformed-lookups.ts';
import { malformedPollution, malformedSize } from './malformed-size.ts';
import { unsignedMalformed } from './malformed-unsigned.ts';

const base = { level: 'must', requirements: ['delivery-malformed'], expect: survived } as const;

const encoding = (name: string) => addHeaders(`Content-Encoding: ${name}`, () => [['Content-Encoding', name]]);

/** More than the usual number of workers or pooled connections. */
const CUT_OFF = 30;

/** Bodies that end early or are not encoded as declared. */
const malformedTransport: readonly (ProbeScenario | FlowScenario)[] = [
  {
    ...base,
    id: 'malformed/cut-off',
    title: 'Handles a connection that ends in the middle of the body',
    change: { transmit: { kind: 'cut-off', fraction: 0.5 } },
    expect: outlived,
    why: 'Connections break. An unhandled "aborted" error ends the process, or a worker waits forever.',
    fix: 'Handle the error event of the request stream, and set a timeout for reading.',
  },
  {
    ...base,
    id: 'malformed/cut-off-before-body',
    title: 'Handles a connection that ends before the body',
    change: { transmit: { kind: 'cut-off', fraction: 0 } },
    expect: outlived,
    why: 'The headers announce a body that never arrives, and a blocking read without a timeout blocks a thread.',
    fix: 'Use the body reader of the framework with a timeout, not your own loop.',
  },
  {
    id: 'malformed/cut-off-many-times',
    title: `Handles ${CUT_OFF} connections that end in the middle of their bodies`,
    level: 'must',
    requirements: ['delivery-malformed'],
    alone: true,
    flow: () => [
      Array.from(
        { length: CUT_OFF },
        (_, index): Delivery => ({
          label: `delivery ${index + 1}, cut off`,
          change: { transmit: { kind: 'cut-off', fraction: 0.5 } },
          expect: outlived,
        }),
      ),
      // The server may notice the ends of those connections only while it handles this one.
      [{ label: 'a valid delivery after them', change: {}, expect: accepted }],
    ],
    why:
      'A worker, a database connection or a lock that is not released after each aborted request runs out in the ' +
      'end.',
    fix: 'Release what a request holds in a finally block, and test it with aborted requests.',
  },
  {
    ...base,
    id: 'malformed/gzip-that-is-plain',
    // Many servers decompress before the handler runs, and the sender never compresses.
    level: 'should',
    title: 'Handles a plain body that is declared as gzip',
    change: { address: encoding('gzip') },
    why: 'Decompression fails on the first bytes, outside the error handling of the parser.',
    fix: 'Turn off decompression for the endpoint, or handle its errors. 400 and 415 are both fine.',
  },
  {
    ...base,
    id: 'malformed/unsigned-gzip',
    title: 'Rejects an unsigned body that is declared as gzip but is not compressed',
    requirements: ['delivery-malformed-unsigned'],
    needs: ['hmac'],
    change: { sign: unsigned, address: encoding('gzip') },
    expect: { ...refusedInAnotherShape, text: 'any 4xx or 501, without a crash', malformed: true },
    why: 'If decompression fails before the credentials are checked, anyone can cause internal errors.',
    fix: 'Turn off decompression for the endpoint, or handle its errors. 401 and 415 are both fine.',
  },
  {
    ...base,
    id: 'malformed/gzip-cut',
    // Many servers decompress before the handler runs, and the sender never compresses.
    level: 'should',
    title: 'Handles a gzip body that ends early',
    change: {
      serialise: (value) => gzipSync(compact(value)).subarray(0, 60),
      address: encoding('gzip'),
    },
    why: 'A stream that waits for the rest of the data hangs, and with it the request.',
    fix: 'Handle the unexpected end of compressed data like broken JSON.',
  },
  {
    ...base,
    id: 'malformed/encoding-unknown',
    // Many servers decompress before the handler runs, and the sender never compresses.
    level: 'should',
    title: 'Handles a body with an unknown Content-Encoding',
    change: { address: encoding('x-test') },
    why: 'A lookup of the decoder by this name returns undefined.',
    fix: 'Answer 415 to an unknown encoding.',
  },
];

/** Payloads that are not valid notifications. Specification: Delivery endpoint (malformed payload). */
export const malformedSuite: Suite = {
  name: 'malformed',
  title: 'A malformed payload is handled without a crash',
  scenarios: [
    ...malformedJson,
    ...unsignedMalformed.map(scenarioOf),
    ...malformedValues,
    ...malformedEnvelope,
    ...malformedIds,
    ...malformedFields,
    ...malformedLookups,
    malformedClassNames,
    malformedMethodNames,
    ...malformedSize,
    ...malformedTransport,
    ...malformedPollution,
    malformedBacktracking,
  ],
};
