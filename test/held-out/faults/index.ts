/** Every fault of the bare receivers, by the name that it has among the mutants. */
import type { Twists } from '../twist.ts';
import { apiKeyFaults } from './api-key.ts';
import { deliveryFaults } from './delivery.ts';
import { httpFaults } from './http.ts';
import { payloadFaults } from './payload.ts';
import { rawBodyFaults } from './raw-body.ts';
import { signatureFaults } from './signature.ts';

export const HELD_OUT: Twists = {
  ...rawBodyFaults,
  ...signatureFaults,
  ...apiKeyFaults,
  ...payloadFaults,
  ...httpFaults,
  ...deliveryFaults,
};
