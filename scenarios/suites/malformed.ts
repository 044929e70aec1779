import { gzipSync } from 'node:zlib';
import { addHeaders } from '../changes/addressing.ts';
import { compact } from '../changes/bytes.ts';
import { outlived, survived } from '../expectations.ts';
import type { Delivery, FlowScenario, ProbeScenario, Suite } from '../scenario.ts';
import { malformedEnvelope, malformedIds } from './malformed-envelope.ts';
import { malformedFields, malformedValues } from './malformed-fields.ts';
import { malformedJson } from './malformed-json.ts';
import { malformedPollution, malformedSize } from './malformed-size.ts';

const base = { level: 'must', requirements: ['delivery-malformed'], expect: survived } as const;

const encoding = (name: string) => addHeaders(`Content-Encoding: ${name}`, () => [['Content-Encoding', name]]);

/** More than the usual number of workers, or of connections in a pool. */
const CUT_OFF = 30;

/** Bodies that end early, or that are not encoded as their headers say. */
const malformedTransport: readonly (ProbeScenario | FlowScenario)[] = [
  {
    ...base,
    id: 'malformed/cut-off',
    title: 'Stays up when the connection ends in the middle of the body',
    change: { transmit: { kind: 'cut-off', fraction: 0.5 } },
    expect: outlived,
    why: 'Connections break. An "aborted" error that nobody listens to ends the process, or keeps a worker waiting for ever.',
    fix: 'Handle the error event of the request stream, and set a time limit for reading.',
  },
  {
    ...base,
    id: 'malformed/cut-off-before-body',
    title: 'Stays up when the connection ends before the body',
    change: { transmit: { kind: 'cut-off', fraction: 0 } },
    expect: outlived,
    why: 'The headers promise a body and none of it comes; a blocking read with no time limit holds a thread each time.',
    fix: 'Use the body reader of the framework with a time limit, not a loop of your own.',
  },
  {
    id: 'malformed/cut-off-many-times',
    title: `Stays up when ${CUT_OFF} connections end in the middle of their bodies`,
    level: 'must',
    requirements: ['delivery-malformed'],
    alone: true,
    flow: () => [
      Array.from(
        { length: CUT_OFF },
        (_, index): Delivery => ({
          label: `the delivery ${index + 1} that is cut off`,
          change: { transmit: { kind: 'cut-off', fraction: 0.5 } },
          expect: outlived,
        }),
      ),
    ],
    why: 'A worker, a connection to the database or a lock that is not given back when a request breaks off is missed only when the last one is gone.',
    fix: 'Give back what a request holds in a finally block, and test it with requests that break off.',
  },
  {
    ...base,
    id: 'malformed/gzip-that-is-plain',
    // Many servers inflate below the handler, and the sender never compresses.
    level: 'should',
    title: 'Stays up on a plain body that is declared as gzip',
    change: { address: encoding('gzip') },
    why: 'The decompressor throws on the first bytes, outside of the guard around the parser.',
    fix: 'Switch inflation off for the endpoint, or handle its errors; 400 and 415 are both fine.',
  },
  {
    ...base,
    id: 'malformed/gzip-cut',
    // Many servers inflate below the handler, and the sender never compresses.
    level: 'should',
    title: 'Stays up on a gzip body that ends early (sent with Content-Encoding: gzip)',
    change: {
      serialise: (value) => gzipSync(compact(value)).subarray(0, 60),
      address: encoding('gzip'),
    },
    why: 'A stream that waits for the rest of the data hangs, and with it the request.',
    fix: 'Handle an unexpected end of compressed data like broken JSON.',
  },
  {
    ...base,
    id: 'malformed/encoding-unknown',
    // Many servers inflate below the handler, and the sender never compresses.
    level: 'should',
    title: 'Stays up on a body with an unknown Content-Encoding',
    change: { address: encoding('x-test') },
    why: 'A table of decoders that is indexed by the header gives undefined for this name.',
    fix: 'Answer 415 to an encoding that you do not know.',
  },
];

/** What is not a notification, or is one with something wrong in it. Specification: Delivery endpoint (malformed payload). */
export const malformedSuite: Suite = {
  name: 'malformed',
  title: 'A malformed payload is handled without a crash',
  scenarios: [
    ...malformedJson,
    ...malformedValues,
    ...malformedEnvelope,
    ...malformedIds,
    ...malformedFields,
    ...malformedSize,
    ...malformedTransport,
    ...malformedPollution,
  ],
};
