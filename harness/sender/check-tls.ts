/** Whether the TLS material of a partner can be used. Specification: TLS. */
import {
  certificatesPem,
  type MaterialFile,
  type MaterialFinding,
  readCertificates,
  readIdentity,
  sentence,
} from '../../certs/index.ts';
import { HookproofError } from '../../contract/index.ts';
import type { Partner } from './partner.ts';

/** The material as OpenSSL wants it: the chain in order, the key opened. */
export interface UsableTls {
  readonly cert?: string;
  readonly key?: string;
  readonly ca?: string;
  /** Why a right server would refuse the certificate, a sentence each. */
  readonly advice: readonly string[];
}

/**
 * Node takes a key of another certificate, and an authority that is no certificate, without a word; the handshake would
 * fail later and say something else. So both are looked at here. A certificate that has expired or is for another purpose
 * can be presented, and is for the server to refuse.
 *
 * @throws HookproofError PARTNER_TLS
 */
export function usableTls({ clientCert, clientKey, passphrase, ca }: NonNullable<Partner['tls']>): UsableTls {
  const authorities = ca === undefined ? undefined : readCertificates(Buffer.from(ca), { name: 'the extra authority' });
  if (authorities !== undefined && authorities.value === undefined) throw refusal(authorities.problems[0]);
  const trusted = authorities?.value && { ca: certificatesPem(authorities.value) };
  if (clientCert === undefined && clientKey === undefined) return { ...trusted, advice: [] };
  if (clientCert === undefined) throw lone('There is a client key and no client certificate.');
  if (clientKey === undefined) throw lone('There is a client certificate and no client key.');
  const cert = material(clientCert, 'the client certificate');
  const key = material(clientKey, 'the client key');
  const { value, problems } = readIdentity({ cert, key, passphrase, purpose: 'client' });
  if (value === undefined) throw refusal(problems[0]);
  const advice = problems.map(({ what, hint }) => `${sentence(what)} ${hint}`);
  return { ...trusted, cert: certificatesPem(value.chain), key: value.keyPem, advice };
}

function material(pem: string, name: string): MaterialFile {
  return { bytes: Buffer.from(pem), source: { name } };
}

function lone(message: string): HookproofError {
  return new HookproofError('PARTNER_TLS', message, { hint: 'Give both.' });
}

function refusal(problem: MaterialFinding | undefined): HookproofError {
  const { what, hint } = problem ?? { what: 'the TLS material cannot be used', hint: 'Give it as PEM.' };
  return new HookproofError('PARTNER_TLS', sentence(what), { hint });
}
