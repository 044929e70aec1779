/** Where an endpoint is, and whether it may be delivered to there. */
export { type AddressPolicy, isAllowed, LOCAL_TOO } from './address-policy.ts';
export { type AddressScope, scopeOf } from './address-scope.ts';
export { type Pin, type PinOptions, pinEndpoint, pinTo, type Resolve, type ResolvedAddress } from './pin-endpoint.ts';
