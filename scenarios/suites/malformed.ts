import type { Suite } from '../scenario.ts';
import { malformedEnvelope } from './malformed-envelope.ts';
import { malformedFields } from './malformed-fields.ts';
import { malformedIds } from './malformed-ids.ts';
import { malformedJson } from './malformed-json.ts';
import { malformedPollution } from './malformed-pollution.ts';
import { malformedSize } from './malformed-size.ts';
import { malformedTransport } from './malformed-transport.ts';
import { malformedValues } from './malformed-values.ts';

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
