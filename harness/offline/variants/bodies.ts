/** What is signed in place of the exact bytes of the body. Specification: HMAC signature (the exact request body). */
import { reserialisedBodies } from './bodies-reserialised.ts';
import { rewrittenBodies } from './bodies-rewritten.ts';
import { schemeBodies } from './bodies-schemes.ts';
import type { BodyVariant } from './body-reading.ts';

export const BODIES: readonly BodyVariant[] = [...rewrittenBodies, ...reserialisedBodies, ...schemeBodies];
