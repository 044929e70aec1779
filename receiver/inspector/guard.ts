/** Access control: only the inspector's own page may read from it, in a browser that was given its address. */
import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { hostname } from 'node:os';
import { isAnsweredHost, isForeignRequest, isNavigation, isSameText } from '../../contract/browser-requests.ts';
import { isLoopback } from '../../contract/hosts.ts';

interface Refusal {
  readonly status: 403 | 404 | 405 | 421;
  readonly text: string;
}

export interface Guard {
  /** Path of the page: `/`, or with a token `/<token>/`. */
  readonly base: string;
  /** Token that a page sends in X-Hookproof-Action to change something. Undefined when the inspector is read-only. */
  readonly actionToken: string | undefined;
  /**
   * Returns the path below `base`, or why the request is rejected. `isAction`: a POST with the token, from the page.
   */
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
      const origin = `http://${req.headers.host}`;
      if (!isAnsweredHost(req.headers.host, host, loopback ? [] : [host, hostname()])) {
        return {
          status: 421,
          text: 'The inspector does not answer to this host name. Use the address that was printed at the start.',
        };
      }
      const isAction = req.method === 'POST' && actionToken !== undefined;
      if (req.method !== 'GET' && !isAction) return { status: 405, text: 'The inspector is read-only: use GET.' };
      const [path = '', query = ''] = (req.url ?? '').split('?', 2);
      if (token !== undefined && !isSameText(path.slice(0, base.length), base)) {
        return { status: 404, text: 'Not found. Use the complete address that was printed at the start.' };
      }
      const inner = path.slice(base.length);
      // Other sites may link to the page, but may not read from it.
      const isVisit = inner === '' && isNavigation(req.headers);
      if (!isVisit && isForeignRequest(req.headers, origin))
        return { status: 403, text: 'Only the page of the inspector may request this.' };
      // A form or a fetch of another site can set neither this origin nor this header, and cannot read the token.
      const isOwnPage = req.headers.origin === origin;
      if (isAction && !(isOwnPage && isSameText(String(req.headers['x-hookproof-action']), actionToken))) {
        return { status: 403, text: 'Only the page of the inspector may do this.' };
      }
      return { path: inner, query: new URLSearchParams(query), isAction };
    },
  };
}
