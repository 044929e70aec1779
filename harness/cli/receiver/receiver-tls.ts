/** Reads the TLS settings of `hookproof receiver` from its flags: the server certificate, and the CAs of clients. */
import { writeFile } from 'node:fs/promises';
import { quickStartCertificate } from '../../../certs/index.ts';
import { HookproofError } from '../../../contract/hookproof-error.ts';
import { readClientCa, readCredential, readServerPair, type ServerPair } from '../../config/index.ts';
import type { ClientCertificateOption, ServerTls } from '../receiver-entry.ts';
import { printAdvice } from '../terminal.ts';

export interface TlsFlags extends ClientCertificateFlags, PairFlags {
  readonly clientCertMode?: string;
}

interface PairFlags {
  readonly tlsCert?: string;
  readonly tlsKey?: string;
  readonly tlsPassphraseFile?: string;
  readonly tlsQuickStart?: boolean;
  readonly tlsQuickStartCa?: string;
}

interface ClientCertificateFlags {
  readonly clientCa?: string;
  readonly allowClient?: string[];
  readonly proxy?: string[];
  readonly proxyClientHeader?: string;
}

/** The content of the TLS files when they were read. */
export interface TlsReading {
  readonly tls: ServerTls;
  /** Advice as sentences, for example about what a correct client would reject. */
  readonly advice: readonly string[];
}

export interface TlsSettings {
  /** Reads the current files; null for plain HTTP. Throws a {@link HookproofError} that names the flag and the file. */
  readonly read: (() => Promise<TlsReading>) | null;
  /** The files that `read` reads, to be watched. */
  readonly files: readonly string[];
  readonly clientCertificate?: ClientCertificateOption;
}

interface PairSource {
  readonly read: () => Promise<ServerPair>;
  /** The files that `read` reads, to be watched. */
  readonly files: readonly string[];
}

/**
 * Checks the flags, and makes a temporary certificate for `--tls-quick-start`. Throws a {@link HookproofError} of kind
 * `usage`.
 */
export async function tlsSettings(flags: TlsFlags): Promise<TlsSettings> {
  const { clientCa, clientCertMode: mode = 'required' } = flags;
  if (clientCa === undefined && flags.clientCertMode !== undefined) {
    throw flagError('`--client-cert-mode` needs `--client-ca`', 'Name the CA that issues the client certificates.');
  }
  if (mode !== 'required' && mode !== 'optional') {
    throw flagError(`\`--client-cert-mode ${mode}\` is not known`, 'Use `required` or `optional`.');
  }
  const clientCertificate = clientCertificateFrom(flags);
  const pair = await serverPair(flags);
  if (clientCa !== undefined && pair === null) {
    throw flagError('`--client-ca` needs HTTPS', 'Give `--tls-cert` and `--tls-key`, or `--tls-quick-start`.');
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

/** Reads the rules for client certificates. Throws a {@link HookproofError} of kind `usage`. */
function clientCertificateFrom(flags: ClientCertificateFlags): ClientCertificateOption | undefined {
  const { allowClient, proxy, proxyClientHeader, clientCa } = flags;
  if (proxy !== undefined || proxyClientHeader !== undefined) {
    if (proxy === undefined || proxyClientHeader === undefined) {
      throw flagError(
        '`--proxy` and `--proxy-client-header` must be given together',
        'Give the address of the proxy and the header that it sets, for example ' +
          "`--proxy 127.0.0.1 --proxy-client-header 'X-SSL-Client-Verify: SUCCESS'`.",
      );
    }
    if (allowClient !== undefined) {
      const hint = 'Behind a proxy, only the proxy sees the names: check them there.';
      throw flagError('`--allow-client` cannot be combined with `--proxy`', hint);
    }
    const [, header, value] = /^([^:\s]+):[ \t]*(\S.*?)[ \t]*$/.exec(proxyClientHeader) ?? [];
    if (header === undefined || value === undefined) {
      throw flagError('`--proxy-client-header` is not a header line', "For example 'X-SSL-Client-Verify: SUCCESS'.");
    }
    return { from: 'proxy', proxies: proxy, header, value };
  }
  if (allowClient === undefined) return undefined;
  if (clientCa === undefined) {
    throw flagError('`--allow-client` needs `--client-ca`', 'Name the CA that issues the client certificates.');
  }
  return { from: 'connection', allowed: allowClient };
}

const PASSPHRASE_HINT =
  'Name the file of its passphrase with `--tls-passphrase-file`, or set HOOKPROOF_TLS_KEY_PASSPHRASE.';

/**
 * Returns how to read the server certificate and key: from files, or as a temporary pair. Returns null for plain HTTP.
 */
async function serverPair(flags: PairFlags): Promise<PairSource | null> {
  const { tlsCert, tlsKey, tlsPassphraseFile, tlsQuickStart, tlsQuickStartCa } = flags;
  if (tlsQuickStart !== true && tlsQuickStartCa !== undefined) {
    const hint = 'It names the file for the CA of the temporary certificate.';
    throw flagError('`--tls-quick-start-ca` needs `--tls-quick-start`', hint);
  }
  if (tlsQuickStart === true) {
    if (tlsCert !== undefined || tlsKey !== undefined) {
      throw flagError('`--tls-quick-start` cannot be combined with `--tls-cert` or `--tls-key`', 'Remove one of them.');
    }
    return quickStart(tlsQuickStartCa);
  }
  if (tlsCert === undefined && tlsKey === undefined) return null;
  if (tlsCert === undefined || tlsKey === undefined) {
    throw new HookproofError('RECEIVER_HALF_TLS', '`--tls-cert` and `--tls-key` must be given together', {
      hint: 'Give both, or `--tls-quick-start` for a temporary pair.',
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
        passphraseHint: PASSPHRASE_HINT,
      }),
    files: [
      tlsCert,
      tlsKey,
      ...(tlsPassphraseFile === undefined || tlsPassphraseFile === '-' ? [] : [tlsPassphraseFile]),
    ],
  };
}

async function quickStart(caFile: string | undefined): Promise<PairSource> {
  const { ca, cert, key } = await quickStartCertificate();
  if (caFile === undefined) {
    printAdvice(['no client trusts the temporary certificate; `--tls-quick-start-ca FILE` writes its CA to a file']);
  } else {
    try {
      await writeFile(caFile, ca.cert);
    } catch (cause) {
      const message = `the file of \`--tls-quick-start-ca ${caFile}\` cannot be written`;
      throw flagError(message, 'Check its path and permissions.', cause);
    }
    process.stderr.write(`the CA of the temporary certificate is in ${caFile}: clients must trust it\n`);
  }
  return { read: async () => ({ cert, key, advice: [] }), files: [] };
}

/**
 * Returns a function that reads the passphrase file at each call, because a new key may have a new passphrase. Standard
 * input is read only once.
 */
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

function flagError(message: string, hint: string, cause?: unknown): HookproofError {
  return new HookproofError('RECEIVER_TLS_FLAGS', message, { hint, cause });
}
