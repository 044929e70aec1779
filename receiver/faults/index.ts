/** The mutants of the reference receiver, by name. They are for testing harnesses: never deploy one. */

import { looseKeyComparisons } from './api-key-comparison.ts';
import { guessableKeys } from './api-key-guesses.ts';
import { misplacedKeys } from './api-key-places.ts';
import { wrongKeyRefusals } from './api-key-refusals.ts';
import { uncheckedKeys } from './api-key-unchecked.ts';
import { combinationFaults } from './combination.ts';
import { collisions } from './delivery-collisions.ts';
import { connectionMemory } from './delivery-connection.ts';
import { duplicates } from './delivery-duplicates.ts';
import { enduranceFaults } from './delivery-endurance.ts';
import { mistakenCopies } from './delivery-identity.ts';
import { loadFaults } from './delivery-load.ts';
import { refusedOrder } from './delivery-order.ts';
import { poisonedIds } from './delivery-poisoned.ts';
import type { Fault } from './fault.ts';
import { bodyLimitFaults } from './http-body-limits.ts';
import { brokenRequestFaults } from './http-broken-requests.ts';
import { connectionFaults } from './http-connections.ts';
import { contentTypeFaults } from './http-content-type.ts';
import { framingFaults } from './http-framing.ts';
import { headerFaults } from './http-headers.ts';
import { methodFaults } from './http-methods.ts';
import { wrongRefusals } from './http-refusals.ts';
import { wrongStatuses } from './http-status.ts';
import { shownCredentials } from './leaks-credentials.ts';
import { shownInsides } from './leaks-insides.ts';
import { tellingRefusals } from './leaks-refusals.ts';
import { shownSignatures } from './leaks-signature.ts';
import { tooManyAuthorities } from './mtls-authorities.ts';
import { conditionalCertificates } from './mtls-conditions.ts';
import { certificateSuffices } from './mtls-credentials.ts';
import { forwardedCertificates } from './mtls-forwarded.ts';
import { comparedNames } from './mtls-names.ts';
import { wrongCertificateRefusals } from './mtls-refusals.ts';
import { uncheckedCertificates } from './mtls-unchecked.ts';
import { forgivenCertificates } from './mtls-validity.ts';
import { amounts } from './payload-amounts.ts';
import { brokenJson } from './payload-broken-json.ts';
import { hashKeys } from './payload-hash-keys.ts';
import { ids } from './payload-ids.ts';
import { refusedKinds } from './payload-kinds.ts';
import { missingData } from './payload-missing-data.ts';
import { closedLists } from './payload-open-lists.ts';
import { pollution } from './payload-pollution.ts';
import { wrongShapes } from './payload-shapes.ts';
import { sizes } from './payload-size.ts';
import { times } from './payload-times.ts';
import { partlyReadBodies } from './raw-body-arrival.ts';
import { decodedBodies } from './raw-body-characters.ts';
import { otherSchemes, secondInputs } from './raw-body-fallbacks.ts';
import { reserialisedInLanguages } from './raw-body-languages.ts';
import { relaidBodies } from './raw-body-layout.ts';
import { reserialisedBodies } from './raw-body-reserialised.ts';
import { respeltBodies } from './raw-body-spelling.ts';
import { otherAgreements } from './signature-agreement.ts';
import { otherAlgorithmFaults } from './signature-algorithm.ts';
import { bypassFaults } from './signature-bypass.ts';
import { comparisonFaults } from './signature-comparison.ts';
import { conditionalChecks } from './signature-conditions.ts';
import { signatureCrashes } from './signature-crash.ts';
import { missingSignatureFaults } from './signature-missing.ts';
import { misplacedSignatureFaults } from './signature-place.ts';
import { rememberedSignatures } from './signature-remembered.ts';
import { extraSecrets, secretsInHeader } from './signature-secret.ts';
import { spellingFaults } from './signature-spelling.ts';
import { uncheckedSignatures } from './signature-unchecked.ts';
import { certificateDates } from './tls-certificate-dates.ts';
import { certificateIssuers } from './tls-certificate-issuers.ts';
import { certificateLists } from './tls-certificate-list.ts';
import { certificateNames } from './tls-certificate-names.ts';
import { weakCertificates } from './tls-certificate-strength.ts';
import { wrongProtocols } from './tls-protocols.ts';
import { oldVersions } from './tls-versions.ts';
import { weakCiphers } from './tls-weak-ciphers.ts';
import { keylessShapes, unsignedShapes } from './unsigned-shapes.ts';

export { FAULT_AREAS, type Fault, STACKS, textOf } from './fault.ts';
export { startFaultyReceiver } from './start-faulty-receiver.ts';

export const FAULTS: readonly Fault[] = [
  ...reserialisedBodies,
  ...reserialisedInLanguages,
  ...relaidBodies,
  ...decodedBodies,
  ...respeltBodies,
  ...partlyReadBodies,
  ...secondInputs,
  ...otherSchemes,
  ...missingSignatureFaults,
  ...uncheckedSignatures,
  ...rememberedSignatures,
  ...extraSecrets,
  ...secretsInHeader,
  ...otherAlgorithmFaults,
  ...spellingFaults,
  ...comparisonFaults,
  ...signatureCrashes,
  ...conditionalChecks,
  ...unsignedShapes,
  ...bypassFaults,
  ...misplacedSignatureFaults,
  ...otherAgreements,
  ...combinationFaults,
  ...uncheckedKeys,
  ...keylessShapes,
  ...looseKeyComparisons,
  ...guessableKeys,
  ...misplacedKeys,
  ...wrongKeyRefusals,
  ...contentTypeFaults,
  ...headerFaults,
  ...methodFaults,
  ...framingFaults,
  ...connectionFaults,
  ...brokenRequestFaults,
  ...bodyLimitFaults,
  ...wrongStatuses,
  ...wrongRefusals,
  ...refusedKinds,
  ...closedLists,
  ...hashKeys,
  ...missingData,
  ...times,
  ...amounts,
  ...ids,
  ...shownSignatures,
  ...shownCredentials,
  ...shownInsides,
  ...tellingRefusals,
  ...brokenJson,
  ...wrongShapes,
  ...sizes,
  ...pollution,
  ...duplicates,
  ...mistakenCopies,
  ...refusedOrder,
  ...collisions,
  ...poisonedIds,
  ...loadFaults,
  ...enduranceFaults,
  ...connectionMemory,
  ...certificateDates,
  ...certificateNames,
  ...certificateIssuers,
  ...certificateLists,
  ...weakCertificates,
  ...oldVersions,
  ...weakCiphers,
  ...wrongProtocols,
  ...uncheckedCertificates,
  ...comparedNames,
  ...forgivenCertificates,
  ...tooManyAuthorities,
  ...conditionalCertificates,
  ...forwardedCertificates,
  ...certificateSuffices,
  ...wrongCertificateRefusals,
];
