import type { StageFault } from './fault.ts';
import { RAW_BYTES } from './raw-body-fix.ts';
import { verifyingOver } from './raw-body-wrong-input.ts';

/** Signatures over something that was read and written again. */
export const reserialisedBodies: readonly StageFault[] = [
  {
    name: 'verifies-reserialised-json',
    area: 'raw-body',
    title: 'The signature is verified over JSON that was parsed and written again.',
    seen: 'Most often behind express.json(), where the raw bytes are gone and JSON.stringify(req.body) stands in; some vendors even recommend it.',
    why: 'Right signatures are refused as soon as the body is not exactly what your JSON library would write. It works with one sender and fails with the first different space, number or escape.',
    fix: RAW_BYTES,
    severity: 'high',
    forbidden: true,
    stage: 'verifySignature',
    replace: verifyingOver((body) => [Buffer.from(JSON.stringify(JSON.parse(body.toString('utf8'))))]),
  },
];
