/** Who may ask the console for what: rules over the headers of a request. */
import type { IncomingHttpHeaders } from 'node:http';
import { isAnsweredHost, isForeignRequest, isNavigation } from '../../contract/browser-requests.ts';
import { hostOf, isLoopback } from '../../contract/hosts.ts';
import { Problem } from './problem.ts';
import type { Tokens } from './tokens.ts';

export interface AccessOptions {
  /** The address that it listens on. */
  readonly host: string;
  readonly isTls: boolean;
  /** The origin that a reverse proxy offers; undefined without one. */
  readonly publicOrigin: string | undefined;
  readonly tokens: Tokens;
}

interface Asked {
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
  /** The values of each header; `headers` has the first `Host` only. */
  readonly headersDistinct: Readonly<Record<string, readonly string[] | undefined>>;
}

export class Access {
  readonly #options: AccessOptions;
  readonly #names: readonly string[];
  /** Whether reading needs a token: everywhere except on this machine. */
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
    // A proxy in front may have read the other one of two.
    if (hosts.length > 1 || !isAnsweredHost(headers.host, host, this.#names)) {
      throw new Problem(421, 'misdirected-request', 'The console does not answer to this host name.');
    }
    const isRead = method === 'GET' || method === 'HEAD';
    if (!isRead && method !== 'POST') throw new Problem(405, 'method-not-allowed', 'Use GET or POST.');
    // Other sites may link to a page. They may not read from it, nor send a form to it.
    if (isForeignRequest(headers, this.#originOf(headers)) && !(isRead && isNavigation(headers))) {
      throw new Problem(403, 'other-site', 'Only the pages of the console may do this.');
    }
    if (this.#isClosed && this.readerOf(headers) === null) {
      throw new Problem(401, 'no-token', 'Reading needs the name of a token as user, and the token as password.');
    }
  }

  /** The name of the token with which somebody reads or acts; null without a valid one. */
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
   * The name of the token that an action was sent with. The browser adds the password of the reader to every request,
   * so that it does not count.
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
