/**
 * The proxy between a sender and a receiver: forwards connections byte for byte, and shows, stores and resends
 * deliveries.
 */
export type { KeepBudget } from '../transport/index.ts';
export { curlForCaptured } from './captured-curl.ts';
export {
  bodyDigest,
  type CapturedRequest,
  type Edit,
  readCaptured,
  replayCaptured,
  sendCaptured,
  withEdit,
} from './captured-request.ts';
export {
  defaultStoreFolder,
  listStored,
  openStore,
  readAnswers,
  readStored,
  type StoredAnswer,
  whyNothingStored,
} from './delivery-store.ts';
export { createTap } from './exchange-tap.ts';
export { type ConnectionTap, type Relay, startRelay } from './relay.ts';
