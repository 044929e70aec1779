/** What the flags of `hookproof receiver` say about TLS: which certificates, from whom, and how they are read again. */
import { readClientCa } from '../config/index.ts';
import { type ClientCertificateFlags, clientCertificateFrom, wrongTlsFlags } from './client-certificate-flags.ts';
import { type PairFlags, type PairSource, serverPair } from './pair-source.ts';
import type { ClientCertificateOption, ServerTls } from './receiver-door.ts';

export interface TlsFlags extends ClientCertificateFlags, PairFlags {
  readonly clientCertMode?: string;
}

/** What the files hold at one moment. */
export interface TlsReading {
  readonly tls: ServerTls;
  /** What a right client would not like about it, and other things worth knowing; one sentence each. */
  readonly advice: readonly string[];
}

export interface TlsSettings {
  /** Reads the files as they are now. Throws a {@link HookproofError} that names the flag and the file. null: plain HTTP. */
  readonly read: (() => Promise<TlsReading>) | null;
  /** What is read, to be watched. */
  readonly files: readonly string[];
  readonly clientCertificate?: ClientCertificateOption;
}

/** Checks the flags, and makes the throw-away certificate if asked. Throws a {@link HookproofError} of kind `usage`. */
export async function tlsSettings(flags: TlsFlags): Promise<TlsSettings> {
  const { clientCa, clientCertMode: mode = 'required' } = flags;
  if (clientCa === undefined && flags.clientCertMode !== undefined) {
    throw wrongTlsFlags(
      '--client-cert-mode stands without --client-ca',
      'Name the authority that issues the certificates.',
    );
  }
  if (mode !== 'required' && mode !== 'optional') {
    throw wrongTlsFlags(`--client-cert-mode ${mode} is neither required nor optional`, 'Say one of the two.');
  }
  const clientCertificate = clientCertificateFrom(flags);
  const pair = await serverPair(flags);
  if (clientCa !== undefined && pair === null) {
    throw wrongTlsFlags('--client-ca stands without HTTPS', 'Give --tls-cert and --tls-key, or --tls-quick-start.');
  }
  return {
    read: pair === null ? null : () => readTls(pair, clientCa, mode),
    files: [...(pair?.files ?? []), ...(clientCa === undefined ? [] : [clientCa])],
    ...(clientCertificate === undefined ? {} : { clientCertificate }),
  };
}

async function readTls(
  pair: PairSource,
  clientCa: string | undefined,
  clientCertificate: 'required' | 'optional',
): Promise<TlsReading> {
  const { cert, key, advice } = await pair.read();
  if (clientCa === undefined) return { tls: { cert, key }, advice };
  const clients = await readClientCa({ flag: '--client-ca', file: clientCa, cwd: process.cwd() });
  return { tls: { cert, key, ca: clients.ca, clientCertificate }, advice: [...advice, ...clients.advice] };
}
