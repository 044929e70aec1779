/** The check of client certificates as pure functions: on the connection itself, or as a declared proxy reports it. Specification: Mutual TLS. */
import { type BlockList, isIP } from 'node:net';
import type { PeerCertificate } from 'node:tls';

/** Why a delivery is refused. For the log, never for the answer; `detail` says more where there is more to say. */
export type ClientCertificateCheck =
  | { readonly ok: true }
  | {
      readonly ok: false;
      readonly reason: 'missing' | 'untrusted' | 'not-allowed' | 'malformed' | 'mismatch' | 'not-from-proxy';
      readonly detail?: string;
    };

/** What `node:tls` says about the client of a connection: a `TLSSocket` of a server that asks for certificates has these. */
export interface ClientConnection {
  readonly authorized: boolean;
  /** From `socket.getPeerCertificate()`. An empty object when there is none, which its type does not say. */
  readonly certificate: Partial<Pick<PeerCertificate, 'raw' | 'subject' | 'subjectaltname'>>;
}

/** Characters of names that go into a log line. */
const MAX_NAMES_LENGTH = 200;

/**
 * Checks the client of a connection. `connection` is undefined when it is no TLS connection, and then nobody is let in. With
 * `allowed`, one of the certificate's names has to be in that list, exactly as it stands in the certificate. Never throws.
 */
export function checkClientCertificate(input: {
  readonly connection: ClientConnection | undefined;
  readonly allowed?: readonly string[] | undefined;
}): ClientCertificateCheck {
  const { connection, allowed } = input;
  // `authorized` alone does not do: Node sets it on a TLS 1.3 connection that resumes a session in which there was no certificate.
  if (connection?.certificate.raw === undefined) return { ok: false, reason: 'missing' };
  if (connection.authorized !== true) return { ok: false, reason: 'untrusted' };
  if (allowed === undefined) return { ok: true };
  const names = certificateNames(connection.certificate);
  if (names.some((name) => allowed.includes(name))) return { ok: true };
  return { ok: false, reason: 'not-allowed', detail: names.join(', ').slice(0, MAX_NAMES_LENGTH) };
}

/**
 * Checks what a proxy in front reports about the client. The header counts only when the TCP connection comes from a declared proxy:
 * everyone else can write it too. A repeated header (an array) is refused, because one of the copies may be the client's own.
 * Never throws.
 */
export function checkForwardedCertificate(input: {
  /** The address of the other end of the TCP connection. */
  readonly peer: string | undefined;
  readonly proxies: BlockList;
  readonly header: string | readonly string[] | undefined;
  /** What the proxy writes after it has verified a certificate. */
  readonly value: string;
}): ClientCertificateCheck {
  const { peer = '', proxies, header, value } = input;
  const family = isIP(peer);
  // The list knows that ::ffff:192.0.2.1 is 192.0.2.1, which is how a server on :: sees it. It does not look at zones (fe80::1%eth0).
  if (family === 0 || peer.includes('%') || !proxies.check(peer, family === 4 ? 'ipv4' : 'ipv6')) {
    return { ok: false, reason: 'not-from-proxy', detail: peer };
  }
  if (header === undefined || header === '') return { ok: false, reason: 'missing' };
  if (typeof header !== 'string') return { ok: false, reason: 'malformed' };
  return header === value ? { ok: true } : { ok: false, reason: 'mismatch' };
}

/** The common names and the subject alternative names, without their types. */
function certificateNames({ subject, subjectaltname }: ClientConnection['certificate']): string[] {
  return [...commonNames(subject), ...alternativeNames(subjectaltname ?? '')];
}

function commonNames(subject: PeerCertificate['subject'] | undefined): string[] {
  // An array when the subject has several, which its type does not say.
  const names: string | string[] | undefined = subject?.CN;
  return names === undefined ? [] : [names].flat();
}

/** Reads `DNS:a.example, URI:"..."`. A name that could be taken for several is quoted as JSON, so it cannot pose as another one. */
function alternativeNames(text: string): string[] {
  const names: string[] = [];
  for (const [, quoted, plain] of text.matchAll(/(?:^|, )[^:",]+:(?:("(?:[^"\\]|\\.)*")|([^,]*))(?=, |$)/g)) {
    names.push(quoted === undefined ? (plain ?? '') : String(JSON.parse(quoted)));
  }
  return names;
}
