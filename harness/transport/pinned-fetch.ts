/** Uses the global `fetch` with a pinned address. Later DNS changes and redirects have no effect. */
import type { LookupFunction } from 'node:net';
import { HookproofError } from '../../contract/hookproof-error.ts';
import type { Pin } from './pin-endpoint.ts';

interface Agent {
  destroy(): Promise<void>;
}

type AgentClass = new (options: { connect: { lookup: LookupFunction } }) => Agent;

/** The global property in which Node keeps the dispatcher of `fetch`. Packages may replace it. */
const DISPATCHER = Symbol.for('undici.globalDispatcher.1');

/**
 * Fetches a URL over one new connection to the pinned address, with the name in the URL for SNI, certificate and
 * `Host`. Redirects are not followed: their answer is returned. The body of the answer is not read.
 *
 * @throws HookproofError FETCH_NOT_PINNED, if this process sends `fetch` through a proxy, which resolves names itself
 */
export async function fetchPinned(
  url: string,
  { pin, ...init }: Pick<RequestInit, 'method' | 'headers' | 'body' | 'signal'> & { readonly pin: Pin },
): Promise<Response> {
  const agent = new (agentClass())({ connect: { lookup: pin.lookup } });
  try {
    const options = { ...init, redirect: 'manual', dispatcher: agent } as RequestInit;
    const response = await fetch(url, options);
    // Not awaited: the connection ends below, and a copy of the answer that is never read would keep the promise open.
    response.body?.cancel().catch(() => undefined);
    return response;
  } finally {
    await agent.destroy();
  }
}

/** Returns the agent class of this version of `fetch`. Node does not export it. */
function agentClass(): AgentClass {
  // Makes Node load `fetch`, which otherwise happens on first use.
  void new Response();
  const dispatcher = (globalThis as { readonly [DISPATCHER]?: object })[DISPATCHER];
  if (dispatcher?.constructor.name === 'Agent') return dispatcher.constructor as AgentClass;
  throw new HookproofError('FETCH_NOT_PINNED', 'this process sends its requests through a proxy', {
    hint: 'Unset NODE_USE_ENV_PROXY: a proxy resolves names itself, so no address could be refused.',
  });
}
