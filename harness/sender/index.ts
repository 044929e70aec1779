// For whoever sends.
export { type Addressed, address } from './address.ts';
export type { Answer, Attempt, Prepared, Timings, TransportError, TransportErrorKind, TransportPhase } from './attempt.ts';
export { type CheckedPartner, checkPartner } from './check-partner.ts';
export type { Partner } from './partner.ts';
export { prepare } from './prepare.ts';
export { type DeliverOptions, deliver, createSender, type Sender, type SenderOptions } from './sender.ts';
export { serialise } from './serialise.ts';
export { sign } from './sign.ts';
// For the harness: the last stages, one at a time.
export { createConnections } from './connections.ts';
export { type BodyWriter, exchange } from './exchange.ts';
export { tlsOptionsFor } from './tls-options.ts';
export { classifyTransportError, TIMEOUT_CODE } from './transport-error.ts';
