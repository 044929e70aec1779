/** Addresses, connections and exchanges: everything between a prepared request and its answer. */
export { type AddressPolicy, type AddressScope, isAllowed, LOCAL_TOO, scopeOf } from './address-policy.ts';
export type {
  Answer,
  Attempt,
  Prepared,
  Timings,
  TransportError,
  TransportErrorKind,
  TransportPhase,
} from './attempt.ts';
export {
  type ConnectionOptions,
  type Connections,
  createConnections,
  type Endpoint,
  endpointOf,
} from './connections.ts';
export { type BodyWriter, type ExchangeLimits, type ExchangeOptions, exchange } from './exchange.ts';
export { reportWriteErrorsLate } from './late-write-errors.ts';
export {
  declaredFraming,
  type Framing,
  type Head,
  type KeepBudget,
  type Message,
  MessageReader,
} from './message-reader.ts';
export { type Pin, type PinOptions, pinEndpoint, pinTo, type Resolve, type ResolvedAddress } from './pin-endpoint.ts';
export { fetchPinned } from './pinned-fetch.ts';
export { Pool, type PoolOptions, type PoolState } from './pool.ts';
export { retryAfterMs, type StatedLimit, statedLimit } from './stated-limit.ts';
export {
  checkTlsMaterial,
  connectTls,
  createTrustingContext,
  type TlsOptions,
  tlsOptionsFor,
  trustedRoots,
} from './tls-options.ts';
export {
  alertNameOf,
  classifyTransportError,
  explainErrorCode,
  isAboutClientCertificate,
  TIMEOUT_CODE,
  TLS_ALERTS,
  transportErrorCodes,
} from './transport-error.ts';
