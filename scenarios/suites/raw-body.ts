import type { Suite } from '../scenario.ts';
import { rawBodyArrival } from './raw-body-arrival.ts';
import { rawBodyEncoding } from './raw-body-encoding.ts';
import { rawBodyMirrors } from './raw-body-mirrors.ts';
import { rawBodyNumbers } from './raw-body-numbers.ts';
import { rawBodySpacing } from './raw-body-spacing.ts';
import { rawBodyStructure } from './raw-body-structure.ts';
import { rawBodyText } from './raw-body-text.ts';

/** The input of the signature: the bytes of the body, as received. Specification: HMAC signature. */
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
