/** Exchanges that an ordinary client cannot make: raw bytes, changed connections, single TLS handshakes. */

export { connectedExchange } from './connected-exchange.ts';
export { type ClientFixtures, createIdentities, type Identities } from './identities.ts';
export {
  controlOffer,
  type HelloEndpoint,
  type HelloOutcome,
  helloEndpoint,
  matchHello,
  type ProbeOffer,
  probeHello,
  type ServerHelloOutcome,
} from './probe-hello.ts';
export { rawExchange } from './raw-exchange.ts';
export {
  fetchServedChain,
  inspectTls,
  type ServedChain,
  type ServedChainOptions,
  type TlsInspection,
} from './served-chain.ts';
export { performHandshake } from './tls-handshake.ts';
export { createHold, type Hold, headersFor, requestBytes, writerFor } from './transmissions.ts';
