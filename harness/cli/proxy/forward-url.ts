/** Parses `--to`, the URL of the host to which captured requests are sent. */
import { HookproofError } from '../../../contract/hookproof-error.ts';
import { visible } from '../../../contract/visible.ts';

/**
 * Parses the URL of `--to`. The bytes of a request contain their own path, query and credentials, so the URL must have
 * neither query nor credentials; its path is only displayed.
 *
 * @throws HookproofError FORWARD_URL of kind `usage`
 */
export function forwardUrl(given: string | undefined, protocols: readonly ('http:' | 'https:')[]): URL {
  const example = 'Give the URL of the receiver, for example `--to http://127.0.0.1:3000/hooks`.';
  if (given === undefined) throw refused('`--to` is missing', example);
  const url = URL.canParse(given) ? new URL(given) : undefined;
  const shown = visible(given.slice(0, 200));
  if (url === undefined || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw refused(`\`--to ${shown}\` is not an http:// URL`, example);
  }
  if (url.username !== '' || url.password !== '') {
    // Not quoted, because it may contain a password.
    throw refused('the URL of `--to` has credentials', 'Remove them: requests are forwarded as they are.');
  }
  if (url.search !== '' || url.hash !== '') {
    const hint = 'Remove it from the URL. Requests keep the path and the query that the sender uses.';
    throw refused('the URL of `--to` has a query or a fragment', hint);
  }
  if (!protocols.some((one) => one === url.protocol)) {
    const message = `\`--to ${shown}\`: the proxy forwards plain HTTP byte for byte, which is impossible over TLS`;
    throw refused(
      message,
      'Give the port on which the receiver serves plain HTTP, behind the server that terminates TLS.',
    );
  }
  return url;
}

function refused(message: string, hint: string): HookproofError {
  return new HookproofError('FORWARD_URL', message, { hint });
}
