/** What an endpoint does over TLS, seen from outside. */
export { controlOffer } from './control-offer.ts';
export { type HelloEndpoint, helloEndpoint } from './hello/hello-endpoint.ts';
export { type HelloOutcome, matchHello, type ServerHelloOutcome } from './hello/hello-outcome.ts';
export { type ProbeLimits, type ProbeOffer, probeHello } from './hello/probe-hello.ts';
export { inspectTls, type TlsInspection } from './inspect-tls.ts';
export { fetchServedChain, type ServedChain, type ServedChainOptions } from './served-chain.ts';
export { visit } from './tls-visit.ts';
