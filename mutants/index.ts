/** The mutants of the reference receiver, by name. They are for testing harnesses: never deploy one. */

import { apiKeyCheckFaults } from './api-key-check.ts';
import { apiKeyHeaderFaults } from './api-key-header.ts';
import { combinationFaults } from './combination.ts';
import { deliveryDuplicatesFaults } from './delivery-duplicates.ts';
import { deliveryKeysFaults } from './delivery-keys.ts';
import { deliveryLoadFaults } from './delivery-load.ts';
import { deliveryOrderFaults } from './delivery-order.ts';
import { effectsHandlingFaults } from './effects-handling.ts';
import { effectsValuesFaults } from './effects-values.ts';
import type { Fault } from './fault.ts';
import { httpAnswersFaults } from './http-answers.ts';
import { httpFramingFaults } from './http-framing.ts';
import { httpHeadersFaults } from './http-headers.ts';
import { leaksCredentialsFaults } from './leaks-credentials.ts';
import { leaksInternalsFaults } from './leaks-internals.ts';
import { logDeliveriesFaults } from './log-deliveries.ts';
import { logSecretsFaults } from './log-secrets.ts';
import { mtlsCertificatesFaults } from './mtls-certificates.ts';
import { mtlsConditionsFaults } from './mtls-conditions.ts';
import { mtlsRefusalsFaults } from './mtls-refusals.ts';
import { payloadBrokenJsonFaults } from './payload-broken-json.ts';
import { payloadMissingDataFaults } from './payload-missing-data.ts';
import { payloadOpenListsFaults } from './payload-open-lists.ts';
import { payloadShapesFaults } from './payload-shapes.ts';
import { payloadSizeFaults } from './payload-size.ts';
import { payloadTextFaults } from './payload-text.ts';
import { payloadValuesFaults } from './payload-values.ts';
import { rawBodyFallbacksFaults } from './raw-body-fallbacks.ts';
import { rawBodyReadingFaults } from './raw-body-reading.ts';
import { rawBodyReserialisedFaults } from './raw-body-reserialised.ts';
import { rememberedStateFaults } from './remembered-state.ts';
import { rotationFaults } from './rotation.ts';
import { signatureComparisonFaults } from './signature-comparison.ts';
import { signatureHeaderFaults } from './signature-header.ts';
import { signatureKeyFaults } from './signature-key.ts';
import { signatureUncheckedFaults } from './signature-unchecked.ts';
import { keyValuesFaults, signatureValuesFaults } from './signature-values.ts';
import { tlsCertificatesFaults } from './tls-certificates.ts';
import { tlsProtocolsFaults } from './tls-protocols.ts';
import { unsignedClaims } from './unsigned-claims.ts';
import { keylessRequests, uncertifiedRequests, unsignedRequests } from './unsigned-requests.ts';
import { keylessShapes, unsignedShapes } from './unsigned-shapes.ts';

export { describeFault, FAULT_AREAS, type Fault } from './fault.ts';
export { SCHEME_MUTANTS, type SchemeMutant } from './schemes.ts';
export { startFaultyReceiver } from './start-faulty-receiver.ts';

export const FAULTS: readonly Fault[] = [
  ...rawBodyReserialisedFaults,
  ...rawBodyReadingFaults,
  ...rawBodyFallbacksFaults,
  ...signatureUncheckedFaults,
  ...signatureKeyFaults,
  ...signatureComparisonFaults,
  ...signatureHeaderFaults,
  ...unsignedShapes,
  ...keylessShapes,
  ...unsignedRequests,
  ...unsignedClaims,
  ...keylessRequests,
  ...signatureValuesFaults,
  ...keyValuesFaults,
  ...combinationFaults,
  ...apiKeyCheckFaults,
  ...apiKeyHeaderFaults,
  ...httpHeadersFaults,
  ...httpFramingFaults,
  ...httpAnswersFaults,
  ...payloadOpenListsFaults,
  ...payloadMissingDataFaults,
  ...payloadValuesFaults,
  ...payloadTextFaults,
  ...leaksCredentialsFaults,
  ...leaksInternalsFaults,
  ...payloadBrokenJsonFaults,
  ...payloadShapesFaults,
  ...payloadSizeFaults,
  ...deliveryDuplicatesFaults,
  ...deliveryOrderFaults,
  ...deliveryKeysFaults,
  ...deliveryLoadFaults,
  ...rememberedStateFaults,
  ...rotationFaults,
  ...effectsHandlingFaults,
  ...effectsValuesFaults,
  ...logSecretsFaults,
  ...logDeliveriesFaults,
  ...tlsCertificatesFaults,
  ...tlsProtocolsFaults,
  ...mtlsCertificatesFaults,
  ...mtlsConditionsFaults,
  ...mtlsRefusalsFaults,
  ...uncertifiedRequests,
];
