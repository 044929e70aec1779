/** What an endpoint does in the TLS handshake, seen from outside. */
export { type HelloOutcome, matchHello, type ServerHelloOutcome } from './hello/hello-outcome.ts';
export { type HelloEndpoint, type ProbeLimits, type ProbeOffer, probeHello } from './hello/probe-hello.ts';
export { fetchServedChain, type ServedChain, type ServedChainOptions } from './served-chain.ts';
