/** What the flags of `hookproof receiver` say about TLS: which certificates, from whom, and how they are read again. */

import { writeFile } from 'node:fs/promises';
import { quickStartCertificate } from '../../../certs/index.ts';
import { HookproofError } from '../../../contract/hookproof-error.ts';
import { readClientCa, readCredential, readServerPair, type ServerPair } from '../../config/index.ts';
import type { ClientCertificateOption, ServerTls } from '../receiver-entry.ts';

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

/** The flags of `hookproof receiver` about the certificates of clients: whose, and who says so. */

interface ClientCertificateFlags {
  readonly clientCa?: string;
  readonly allowClient?: string[];
  readonly proxy?: string[];
  readonly proxyClientHeader?: string;
}

export function wrongTlsFlags(message: string, hint: string, cause?: unknown): HookproofError {
  return new HookproofError('RECEIVER_TLS_FLAGS', message, { hint, cause });
}

/** What the flags say about who is let in, beside the authority. Throws a {@link HookproofError} of kind `usage`. */
function clientCertificateFrom(flags: ClientCertificateFlags): ClientCertificateOption | undefined {
  const { allowClient, proxy, proxyClientHeader, clientCa } = flags;
  if (proxy !== undefined || proxyClientHeader !== undefined) {
    if (proxy === undefined || proxyClientHeader === undefined) {
      throw wrongTlsFlags(
        '--proxy and --proxy-client-header go together',
        "Give the proxy's address and the header that it sets, for example --proxy 127.0.0.1 --proxy-client-header 'X-SSL-Client-Verify: SUCCESS'.",
      );
    }
    if (allowClient !== undefined) {
      throw wrongTlsFlags(
        '--allow-client stands beside --proxy',
        'Behind a proxy, it is the proxy that knows the names: check them there.',
      );
    }
    const [, header, value] = /^([^:\s]+):[ \t]*(\S.*?)[ \t]*$/.exec(proxyClientHeader) ?? [];
    if (header === undefined || value === undefined) {
      throw wrongTlsFlags('--proxy-client-header is no header line', "For example 'X-SSL-Client-Verify: SUCCESS'.");
    }
    return { from: 'proxy', proxies: proxy, header, value };
  }
  if (allowClient === undefined) return undefined;
  if (clientCa === undefined) {
    throw wrongTlsFlags(
      '--allow-client stands without --client-ca',
      'Name the authority that issues the certificates.',
    );
  }
  return { from: 'connection', allowed: allowClient };
}

/** Where the certificate and the key of `hookproof receiver` come from: files that are read again and again, or made once. */

export interface PairFlags {
  readonly tlsCert?: string;
  readonly tlsKey?: string;
  readonly tlsPassphraseFile?: string;
  readonly tlsQuickStart?: boolean;
  readonly tlsQuickStartCa?: string;
}

export interface PairSource {
  /** As they are now. */
  readonly read: () => Promise<ServerPair>;
  /** What is read, to be watched. */
  readonly files: readonly string[];
}

const HOW_TO_GIVE_PASSPHRASE =
  'Name a file that holds its passphrase with --tls-passphrase-file, or set HOOKPROOF_TLS_KEY_PASSPHRASE.';

/** Checks the flags, and makes the throw-away certificate if asked. null: plain HTTP. Throws a {@link HookproofError} of kind `usage`. */
export async function serverPair(flags: PairFlags): Promise<PairSource | null> {
  const { tlsCert, tlsKey, tlsPassphraseFile, tlsQuickStart, tlsQuickStartCa } = flags;
  if (tlsQuickStart !== true && tlsQuickStartCa !== undefined) {
    throw wrongTlsFlags(
      '--tls-quick-start-ca stands without --tls-quick-start',
      'It names where that writes its authority.',
    );
  }
  if (tlsQuickStart === true) {
    if (tlsCert !== undefined || tlsKey !== undefined) {
      throw wrongTlsFlags('--tls-quick-start stands beside --tls-cert or --tls-key', 'Leave out one or the other.');
    }
    return quickStart(tlsQuickStartCa);
  }
  if (tlsCert === undefined && tlsKey === undefined) return null;
  if (tlsCert === undefined || tlsKey === undefined) {
    throw new HookproofError('RECEIVER_HALF_TLS', '--tls-cert and --tls-key go together', {
      hint: 'Give both, or --tls-quick-start for a throw-away pair.',
    });
  }
  const cwd = process.cwd();
  const readPassphrase = passphraseReader(tlsPassphraseFile);
  return {
    read: async () =>
      readServerPair({
        cert: { flag: '--tls-cert', file: tlsCert, cwd },
        key: { flag: '--tls-key', file: tlsKey, cwd },
        passphrase: await readPassphrase(),
        passphraseHint: HOW_TO_GIVE_PASSPHRASE,
      }),
    files: [
      tlsCert,
      tlsKey,
      ...(tlsPassphraseFile === undefined || tlsPassphraseFile === '-' ? [] : [tlsPassphraseFile]),
    ],
  };
}

async function quickStart(authorityFile: string | undefined): Promise<PairSource> {
  const { ca, cert, key } = await quickStartCertificate();
  if (authorityFile === undefined) {
    process.stderr.write(
      'advice: no client trusts the throw-away certificate; --tls-quick-start-ca FILE writes its authority to a file for them\n',
    );
  } else {
    try {
      await writeFile(authorityFile, ca.cert);
    } catch (cause) {
      throw wrongTlsFlags(
        `--tls-quick-start-ca ${authorityFile} cannot be written`,
        'Check the path and the permissions.',
        cause,
      );
    }
    process.stderr.write(
      `the authority of the throw-away certificate is in ${authorityFile}: clients have to trust it\n`,
    );
  }
  return { read: async () => ({ cert, key, advice: [] }), files: [] };
}

/** Reads the file again at each call, because a new key may have a new passphrase. Standard input can be read only once. */
function passphraseReader(file: string | undefined): () => Promise<string | undefined> {
  const read = async () => {
    const { value } = await readCredential({
      noun: 'passphrase of the key',
      flag: '--tls-passphrase-file',
      file,
      variable: 'HOOKPROOF_TLS_KEY_PASSPHRASE',
      env: process.env,
      cwd: process.cwd(),
      stdin: process.stdin,
    });
    return value;
  };
  let once: Promise<string | undefined> | undefined;
  return () => {
    if (file !== '-') return read();
    once ??= read();
    return once;
  };
}
