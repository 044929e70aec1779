/** What the flags of `hookproof receiver` say about TLS: which certificates, from whom, and how they are read again. */
import { readFile, writeFile } from 'node:fs/promises';
import { quickStartCertificate } from '../../certs/index.ts';
import { HookproofError } from '../../contract/hookproof-error.ts';
import { readCredential } from '../config/index.ts';
import { type ClientCertificateFlags, clientCertificateFrom, wrongTlsFlags } from './client-certificate-flags.ts';
import type { ClientCertificateOption, ServerTls } from './receiver-door.ts';

export interface TlsFlags extends ClientCertificateFlags {
  readonly tlsCert?: string;
  readonly tlsKey?: string;
  readonly tlsPassphraseFile?: string;
  readonly tlsQuickStart?: boolean;
  readonly tlsQuickStartCa?: string;
  readonly clientCertMode?: string;
}

export interface TlsSettings {
  /** Reads the files as they are now. null: plain HTTP. */
  readonly read: (() => Promise<ServerTls>) | null;
  /** What is read, to be watched. */
  readonly files: readonly string[];
  readonly clientCertificate?: ClientCertificateOption;
}

/** The one place where certificates and keys are read. */
async function readPem(file: string, flag: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (cause) {
    throw new HookproofError('RECEIVER_UNREADABLE_FILE', `${flag} ${file} cannot be read`, {
      hint: 'Check the path and the permissions.',
      cause,
    });
  }
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
    read:
      pair === null
        ? null
        : async () => ({
            ...(await pair.read()),
            ...(clientCa === undefined ? {} : { ca: await readPem(clientCa, '--client-ca'), clientCertificate: mode }),
          }),
    files: [...(pair?.files ?? []), ...(clientCa === undefined ? [] : [clientCa])],
    ...(clientCertificate === undefined ? {} : { clientCertificate }),
  };
}

interface ServerPair {
  readonly read: () => Promise<Pick<ServerTls, 'cert' | 'key' | 'passphrase'>>;
  readonly files: readonly string[];
}

async function serverPair(flags: TlsFlags): Promise<ServerPair | null> {
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
  const readPassphrase = passphraseReader(tlsPassphraseFile);
  return {
    async read() {
      const passphrase = await readPassphrase();
      const cert = await readPem(tlsCert, '--tls-cert');
      const key = await readPem(tlsKey, '--tls-key');
      return { cert, key, ...(passphrase === undefined ? {} : { passphrase }) };
    },
    files: [
      tlsCert,
      tlsKey,
      ...(tlsPassphraseFile === undefined || tlsPassphraseFile === '-' ? [] : [tlsPassphraseFile]),
    ],
  };
}

async function quickStart(authorityFile: string | undefined): Promise<ServerPair> {
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
  return { read: async () => ({ cert, key }), files: [] };
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
