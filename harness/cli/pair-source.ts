/** Where the certificate and the key of `hookproof receiver` come from: files that are read again and again, or made once. */
import { writeFile } from 'node:fs/promises';
import { quickStartCertificate } from '../../certs/index.ts';
import { HookproofError } from '../../contract/hookproof-error.ts';
import { readCredential, readServerPair, type ServerPair } from '../config/index.ts';
import { wrongTlsFlags } from './client-certificate-flags.ts';

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
