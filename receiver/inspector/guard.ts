/** Access control: only the inspector's own page may read from it, in a browser that was given its address. */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { hostname } from 'node:os';
import { hostOf, isLoopback, isOwnHost } from '../../contract/hosts.ts';

interface Refusal {
  readonly status: 403 | 404 | 405 | 421;
  readonly text: string;
}

export interface Guard {
  /** The path of the page: `/`, or with a token `/<token>/`. */
  readonly base: string;
  /**
   * What a page sends in the header X-Hookproof-Action to change something; undefined when the inspector is read-only.
   */
  readonly actionToken: string | undefined;
  /** The path below `base`, or why the request is rejected. `isAction`: a POST with the token, from the page itself. */
  check(
    req: IncomingMessage,
  ): { readonly path: string; readonly query: URLSearchParams; readonly isAction: boolean } | Refusal;
}

export function createGuard(host: string, options: { readonly allowsActions?: boolean } = {}): Guard {
  const actionToken = options.allowsActions === true ? randomBytes(16).toString('hex') : undefined;
  const loopback = isLoopback(host);
  const token = loopback ? undefined : randomBytes(16).toString('hex');
  const base = token === undefined ? '/' : `/${token}/`;
  return {
    base,
    actionToken,
    check(req) {
      const header = req.headers.host ?? '';
      // Another host name can resolve to this address (DNS rebinding); its pages would have the same origin.
      if (!(loopback ? isLoopback(hostOf(header)) : isOwnHost(header, [host, hostname()]))) {
        return {
          status: 421,
          text: 'The inspector does not answer to this host name. Use the address that was printed at the start.',
        };
      }
      const isAction = req.method === 'POST' && actionToken !== undefined;
      if (req.method !== 'GET' && !isAction) return { status: 405, text: 'The inspector is read-only: use GET.' };
      const [path = '', query = ''] = (req.url ?? '').split('?', 2);
      if (token !== undefined && !same(path.slice(0, base.length), base)) {
        return { status: 404, text: 'Not found. Use the complete address that was printed at the start.' };
      }
      const inner = path.slice(base.length);
      // Other sites may link to the page, but not read from it.
      const isVisit = inner === '' && req.headers['sec-fetch-mode'] === 'navigate';
      if (!isVisit && isForeign(req)) return { status: 403, text: 'Only the page of the inspector may request this.' };
      // A form or a fetch of another site can set neither this origin nor this header, and cannot read the token.
      const isOwnPage = req.headers.origin === `http://${req.headers.host}`;
      if (isAction && !(isOwnPage && same(String(req.headers['x-hookproof-action']), actionToken))) {
        return { status: 403, text: 'Only the page of the inspector may do this.' };
      }
      return { path: inner, query: new URLSearchParams(query), isAction };
    },
  };
}

function isForeign({ headers }: IncomingMessage): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== undefined && site !== 'same-origin' && site !== 'none') return true;
  return headers.origin !== undefined && headers.origin !== `http://${headers.host}`;
}

function same(a: string, b: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
}
