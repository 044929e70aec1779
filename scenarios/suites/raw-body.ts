import { spelt } from '../changes/bodies.ts';
import { accepted, acceptedOrLimited } from '../expectations.ts';
import { tracking } from '../samples.ts';
import type { ProbeScenario, Suite } from '../scenario.ts';
import { rawBodyEncoding } from './raw-body-encoding.ts';
import { rawBodySpacing, rawBodyStructure } from './raw-body-layout.ts';
import { rawBodyMirrors } from './raw-body-mirrors.ts';
import { rawBodyNumbers, rawBodyText } from './raw-body-text.ts';

const base = { level: 'must', requirements: ['delivery-framing'], expect: accepted } as const;

/** Enough emoji that a cut at every 257th byte falls inside one: 257 is odd, and an emoji has four bytes. */
const EMOJI = '\u{1f3e7}'.repeat(400);

/** How the bytes arrive: the body is complete only after all of it was read. */
const rawBodyArrival: readonly ProbeScenario[] = [
  {
    ...base,
    id: 'raw-body/in-pieces',
    title: 'Accepts a body that arrives in several packets',
    change: { transmit: { kind: 'pieces', sizes: [100, 200] } },
    why:
      'Packets can end anywhere. A receiver that verifies the first piece works locally and fails at random in ' +
      'production.',
    fix: 'Verify after the end of the body, not in the first data event.',
  },
  {
    ...base,
    id: 'raw-body/first-byte-alone',
    title: 'Accepts a body whose first byte arrives alone',
    change: { transmit: { kind: 'pieces', sizes: [1, 100_000] } },
    why: 'One read() on a socket returns what is there, here a single brace; without a loop the rest is never read.',
    fix: 'Read until Content-Length bytes are there, or use the body reader of your framework.',
  },
  {
    ...base,
    id: 'raw-body/split-characters',
    title: 'Accepts a body whose packets end within characters',
    change: {
      serialise: spelt('data.metadata.blockchainData.blockchainMemo', `"${EMOJI}"`),
      transmit: { kind: 'pieces', sizes: [257] },
    },
    why: 'Code that decodes each piece separately (body += chunk) inserts replacement characters in non-ASCII bodies.',
    fix: 'Collect the pieces as bytes (Buffer.concat), and decode once, after the verification.',
  },
  {
    ...base,
    id: 'raw-body/large-in-pieces',
    title: 'Accepts a body of 150 kB in pieces',
    change: {
      compose: (kit) => tracking(kit, 'BUY', 'COMPLETED', 'A long description. '.repeat(8000).slice(0, 150_000)),
      transmit: { kind: 'pieces', sizes: [40_000] },
    },
    expect: acceptedOrLimited,
    why: 'A body that is consumed twice, or piped to two readers, hangs when it no longer fits into one buffer.',
    fix: 'Read the body in one place, and pass the bytes to the verification and to the parser.',
  },
];

/** The bytes of the body as the input of the signature. Specification: HMAC signature. */
export const rawBodySuite: Suite = {
  name: 'raw-body',
  title: 'The signature is over the exact bytes of the body',
  scenarios: [
    ...rawBodySpacing,
    ...rawBodyNumbers,
    ...rawBodyText,
    ...rawBodyStructure,
    ...rawBodyEncoding,
    ...rawBodyArrival,
    ...rawBodyMirrors,
  ],
};
