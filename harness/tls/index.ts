/** What an endpoint does over TLS, seen from outside. */
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
export {
  fetchServedChain,
  inspectTls,
  type ServedChain,
  type ServedChainOptions,
  type TlsInspection,
} from './served-chain.ts';
export { visit } from './tls-handshake.ts';
