/**
 * Changes to the connect stage (another client certificate) and to the transmit stage (requests that no HTTP client
 * would send).
 */
import { type OfferedTlsVersion, tlsVersionName } from '../../contract/index.ts';
import type { ClientCertificate, ConnectChange, Kit, Transmission } from '../scenario.ts';
import { randomSignature, signatureHeader } from './signing.ts';

const PRESENTED: Readonly<Record<ClientCertificate, string>> = {
  none: 'no client certificate',
  'self-signed': 'a self-signed client certificate',
  'unknown-authority': 'a client certificate from an unknown CA',
  'same-names': 'a client certificate from a forged CA with the names of the correct CA',
  'issued-by-client': 'a client certificate that the correct client certificate signed',
  expired: 'an expired client certificate from the correct CA',
  'not-yet-valid': 'a client certificate from the correct CA that is not valid yet',
  'wrong-purpose': 'a certificate from the correct CA that is not valid for clients',
  revoked: 'a revoked client certificate from the correct CA',
  'other-subject': 'a client certificate from the correct CA for another subject',
};

/**
 * Presents a client certificate other than the partner's, over this TLS version or, by default, over the negotiated
 * one.
 */
export function presenting(clientCertificate: ClientCertificate, version?: OfferedTlsVersion): ConnectChange {
  const over = version === undefined ? '' : ` over ${tlsVersionName(version)}`;
  return {
    label: `${PRESENTED[clientCertificate]}${over}`,
    clientCertificate,
    ...(version === undefined ? {} : { version }),
  };
}

/**
 * Changes the lines of the head. `edit` receives them without line ends, starting with the request line. The body is
 * unchanged.
 */
export function editedHead(
  label: string,
  edit: (lines: readonly string[], kit: Kit) => readonly string[],
): Transmission {
  return {
    kind: 'raw',
    label,
    make(request, kit) {
      const end = request.indexOf('\r\n\r\n');
      const lines = request.subarray(0, end).toString('latin1').split('\r\n');
      return Buffer.concat([Buffer.from(edit(lines, kit).join('\r\n'), 'latin1'), request.subarray(end)]);
    },
  };
}

/** Changes the request line. */
export function requestLine(label: string, edit: (line: string) => string): Transmission {
  return editedHead(label, ([first = '', ...others]) => [edit(first), ...others]);
}

/** Returns the lines of a head without Content-Length. */
export function withoutLength(lines: readonly string[]): readonly string[] {
  return lines.filter((line) => !isNamed(line, 'Content-Length'));
}

/** Sends the absolute form of the URL in the request line. */
export const absoluteTarget: Transmission = editedHead('an absolute request target', ([line = '', ...headers]) => {
  const host = headers.find((header) => isNamed(header, 'Host'))?.slice('Host:'.length);
  return [line.replace(' ', ` http://${host?.trim()}`), ...headers];
});

function isNamed(line: string, name: string): boolean {
  return line.toLowerCase().startsWith(`${name.toLowerCase()}:`);
}

/** Replaces the line of a header with the given lines. An empty list removes it. `lines` receives the original line. */
export function headerLines(
  label: string,
  name: string,
  lines: (line: string, kit: Kit) => readonly string[],
): Transmission {
  return editedHead(label, (head, kit) => head.flatMap((line) => (isNamed(line, name) ? lines(line, kit) : [line])));
}

/** Replaces the space after the colon of every header line. */
export function headerSpacing(label: string, space: string): Transmission {
  return editedHead(label, ([first = '', ...lines]) => [
    first,
    ...lines.map((line) => line.replace(': ', `:${space}`)),
  ]);
}

/** Adds a header line at the end of the head, without checking it. */
export function headerLineAdded(label: string, line: (kit: Kit) => string): Transmission {
  return editedHead(label, (head, kit) => [...head, line(kit)]);
}

/** Changes the head and writes the body in another framing. */
export function withBody(
  label: string,
  edit: (head: readonly string[]) => readonly string[],
  frame: (body: string) => string,
): Transmission {
  const edited = editedHead(label, edit);
  if (edited.kind !== 'raw') return edited;
  return {
    ...edited,
    make(request, kit) {
      const bytes = edited.make(request, kit);
      const end = bytes.indexOf('\r\n\r\n') + 4;
      return Buffer.concat([
        bytes.subarray(0, end),
        Buffer.from(frame(bytes.subarray(end).toString('latin1')), 'latin1'),
      ]);
    },
  };
}

/** Sends the body in one chunk, followed by a trailer with a random signature. */
export const withTrailer: Transmission = {
  kind: 'raw',
  label: 'a random signature in a trailer',
  make(request, kit) {
    const { signatureHeader: name } = kit;
    const chunked = withBody(
      '',
      (head) => [...withoutLength(head), 'Transfer-Encoding: chunked', `Trailer: ${name}`],
      (body) =>
        `${body.length.toString(16)}\r\n${body}\r\n0\r\n` +
        `${name}: ${signatureHeader(randomSignature(kit), kit)}\r\n\r\n`,
    );
    return chunked.kind === 'raw' ? chunked.make(request, kit) : request;
  },
};
