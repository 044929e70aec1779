/** Decides from the headers of a request whether the console answers it, and for whom. */
import type { IncomingHttpHeaders } from 'node:http';
import { isAnsweredHost, isForeignRequest, isNavigation } from '../../contract/browser-requests.ts';
import { hostOf, isLoopback } from '../../contract/hosts.ts';
import { Problem } from './problem.ts';
import type { Tokens } from './tokens.ts';

export interface AccessOptions {
  /** The address that the console listens on. */
  readonly host: string;
  readonly isTls: boolean;
  /** The origin at which a reverse proxy serves the console; undefined without a proxy. */
  readonly publicOrigin: string | undefined;
  readonly tokens: Tokens;
}

interface Asked {
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
  /** All values of each header; `headers` has only the first `Host`. */
  readonly headersDistinct: Readonly<Record<string, readonly string[] | undefined>>;
}

export class Access {
  readonly #options: AccessOptions;
  readonly #names: readonly string[];
  /** Whether reading needs a token. False if the console is reachable only from this machine. */
  readonly #isClosed: boolean;

  constructor(options: AccessOptions) {
    const { host, publicOrigin } = options;
    this.#options = options;
    this.#names = [...(publicOrigin === undefined ? [] : [new URL(publicOrigin).hostname]), host].filter(
      (name) => !isLoopback(name),
    );
    this.#isClosed = !isLoopback(host) || publicOrigin !== undefined;
  }

  /** @throws Problem 401, 403, 405, 421 */
  check({ headers, headersDistinct, method }: Asked): void {
    const { host } = this.#options;
    const hosts = headersDistinct.host ?? [];
    // A proxy in front may have used the second of two `Host` headers.
    if (hosts.length > 1 || !isAnsweredHost(headers.host, host, this.#names)) {
      throw new Problem(421, 'misdirected-request', 'The console does not answer to this host name.');
    }
    const isRead = method === 'GET' || method === 'HEAD';
    if (!isRead && method !== 'POST') throw new Problem(405, 'method-not-allowed', 'Use GET or POST.');
    // Other sites may link to a page, but may neither read it nor submit a form to it.
    if (isForeignRequest(headers, this.#originOf(headers)) && !(isRead && isNavigation(headers))) {
      throw new Problem(403, 'other-site', 'Only the pages of the console may do this.');
    }
    if (this.#isClosed && this.readerOf(headers) === null) {
      throw new Problem(401, 'no-token', 'Reading requires the name of a token as user, and the token as password.');
    }
  }

  /** Returns the name of the token in the Authorization header (Bearer or Basic); null without a valid one. */
  readerOf({ authorization = '' }: IncomingHttpHeaders): string | null {
    const { tokens } = this.#options;
    const [scheme = '', value = ''] = authorization.split(' ');
    if (/^bearer$/i.test(scheme)) return tokens.nameOf(value);
    if (!/^basic$/i.test(scheme)) return null;
    const [user = '', ...rest] = Buffer.from(value, 'base64').toString().split(':');
    const name = tokens.nameOf(rest.join(':'));
    return name === user ? name : null;
  }

  /**
   * Returns the name of the token sent with an action, in the form field or as a Bearer token. Basic credentials do not
   * count, because the browser adds them to every request.
   *
   * @throws Problem 401, 403
   */
  actorOf(headers: IncomingHttpHeaders, field: unknown): string {
    const { tokens } = this.#options;
    if (tokens.isEmpty) {
      throw new Problem(403, 'read-only', 'The console is read-only.', 'Start it with `--token-file`.');
    }
    const bearer = /^bearer (\S+)$/i.exec(headers.authorization ?? '')?.[1];
    const name = tokens.nameOf(typeof field === 'string' && field !== '' ? field : (bearer ?? ''));
    if (name !== null) return name;
    throw new Problem(401, 'no-token', 'The token is missing or unknown.');
  }

  #originOf({ host = '' }: IncomingHttpHeaders): string {
    const { isTls, publicOrigin } = this.#options;
    if (publicOrigin !== undefined && new URL(publicOrigin).hostname === hostOf(host)) return publicOrigin;
    return `${isTls ? 'https' : 'http'}://${host}`;
  }
}
