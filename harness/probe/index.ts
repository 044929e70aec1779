/** Connections that no ordinary client makes: raw bytes, changed connections, TLS handshakes that are only looked at. */
export { connectedExchange } from './connected-exchange.ts';
export { type ClientFixtures, createIdentities, type Identities } from './identities.ts';
export {
  controlOffer,
  type HelloEndpoint,
  type HelloOutcome,
  helloEndpoint,
  matchHello,
  type ProbeLimits,
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
export { visit } from './tls-handshake.ts';
export { headersFor, requestBytes, writerFor } from './transmissions.ts';
