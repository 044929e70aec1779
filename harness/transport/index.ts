/** Exchanges that no ordinary HTTP client makes: raw bytes, changed connections, other ways to write a body. */
export { connectedExchange } from './connected-exchange.ts';
export { type ClientFixtures, createIdentities, type Identities } from './identities.ts';
export { rawExchange } from './raw-exchange.ts';
export { headersFor, requestBytes, writerFor } from './transmissions.ts';
