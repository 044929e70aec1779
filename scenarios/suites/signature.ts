import type { Suite } from '../scenario.ts';
import { otherAlgorithms } from './signature-algorithm.ts';
import { alteredSignatures } from './signature-altered.ts';
import { otherBodies } from './signature-body.ts';
import { bypasses } from './signature-bypass.ts';
import { conditions } from './signature-conditions.ts';
import { junkSignatures } from './signature-junk.ts';
import { cutOrGrownSignatures } from './signature-length.ts';
import { missingSignatures } from './signature-missing.ts';
import { misplacedSignatures } from './signature-place.ts';
import { remembered } from './signature-remembered.ts';
import { otherSecrets } from './signature-secret.ts';
import { spelledSignatures } from './signature-spelling.ts';
import { secretsAsSignature } from './signature-token.ts';

/** The HMAC signature: missing, forged, altered, spelt otherwise or in a wrong place. Specification: HMAC signature. */
export const signatureSuite: Suite = {
  name: 'signature',
  title: 'Only the right signature is accepted',
  scenarios: [
    ...missingSignatures,
    ...otherSecrets,
    ...otherBodies,
    ...junkSignatures,
    ...cutOrGrownSignatures,
    ...alteredSignatures,
    ...spelledSignatures,
    ...otherAlgorithms,
    ...secretsAsSignature,
    ...misplacedSignatures,
    ...bypasses,
    ...conditions,
    ...remembered,
  ],
};
