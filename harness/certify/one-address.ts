/** The run and the looks beside it go to one address, which is looked up once. */
import { isIP } from 'node:net';
import { pinEndpoint } from '../net/index.ts';
import type { RunOptions } from '../run/run.ts';

const RESOLVER_TIMEOUT_MS = 10_000;

/** The options with the address pinned. Throws `HookproofError` ENDPOINT_ADDRESS_REFUSED when it is not allowed. */
export async function atOneAddress<
  Given extends Pick<RunOptions, 'partner' | 'addresses' | 'resolve' | 'limits' | 'signal'>,
>(options: Given): Promise<Given> {
  const { partner, addresses, resolve, limits, signal } = options;
  const pin = await pinEndpoint(partner.url, {
    ...(addresses && { policy: addresses }),
    resolve,
    timeoutMs: limits?.timeoutMs ?? RESOLVER_TIMEOUT_MS,
    signal,
  });
  return {
    ...options,
    partner: { ...partner, lookup: pin.lookup },
    resolve: async () => {
      if (pin.address === null) throw pin.error;
      return [{ address: pin.address, family: isIP(pin.address) }];
    },
  };
}
