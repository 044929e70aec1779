/** Controls access to the inspector: only its own page may read from it. */
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
  /** Path of the page: `/`, or `/<token>/` when a token is required. */
  readonly base: string;
  /**
   * Token that the page sends in X-Hookproof-Action to perform an action. Undefined when the inspector is read-only.
   */
  readonly actionToken: string | undefined;
  /**
   * Returns the path below `base`, or the reason to reject the request. `isAction` is true for a POST from the page
   * with the action token.
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
          text: 'The inspector does not answer to this host name. Use the address that was printed at start-up.',
        };
      }
      const isAction = req.method === 'POST' && actionToken !== undefined;
      if (req.method !== 'GET' && !isAction) return { status: 405, text: 'The inspector is read-only: use GET.' };
      const [path = '', query = ''] = (req.url ?? '').split('?', 2);
      if (token !== undefined && !isSameText(path.slice(0, base.length), base)) {
        return { status: 404, text: 'Not found. Use the complete address that was printed at start-up.' };
      }
      const inner = path.slice(base.length);
      // Other sites may link to the page, but may not read its content.
      const isVisit = inner === '' && isNavigation(req.headers);
      if (!isVisit && isForeignRequest(req.headers, origin))
        return { status: 403, text: 'Only the page of the inspector may request this.' };
      // Another site can set neither this origin nor this header, and cannot read the token.
      const isOwnPage = req.headers.origin === origin;
      if (isAction && !(isOwnPage && isSameText(String(req.headers['x-hookproof-action']), actionToken))) {
        return { status: 403, text: 'Only the page of the inspector may do this.' };
      }
      return { path: inner, query: new URLSearchParams(query), isAction };
    },
  };
}
