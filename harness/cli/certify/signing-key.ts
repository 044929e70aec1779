/**
 * `hookproof certify keygen`, and the private key that signs certificates. Neither the key nor the passphrase ever
 * appears on a command line, in a message or in a log.
 */
import type { KeyObject } from 'node:crypto';
import { rm, stat } from 'node:fs/promises';
import { HookproofError } from '../../../contract/hookproof-error.ts';
import { makeKeyPair, readPrivateKey, readPublicKey } from '../../certify/index.ts';
import { credential } from '../command-input.ts';
import { printAdvice } from '../terminal.ts';
import { exists, fileExists, readKeyText, writeNew } from './certify-files.ts';

const KEY_VARIABLE = 'HOOKPROOF_CERTIFY_KEY';

export interface KeyFlags {
  readonly key?: string;
  readonly passphraseFile?: string;
}

export async function certifyKeygenCommand(
  file: string,
  { passphraseFile }: { passphraseFile?: string },
): Promise<number> {
  const publicFile = `${file.replace(/\.pem$/, '')}.pub.pem`;
  for (const path of [file, publicFile]) if (await exists(path)) throw fileExists(path);
  const passphrase = await readPassphrase(passphraseFile);
  const { privatePem, publicPem, keyId } = makeKeyPair(passphrase);
  await writeNew(file, privatePem, 0o600);
  try {
    await writeNew(publicFile, publicPem);
  } catch (error) {
    await rm(file, { force: true });
    throw error;
  }
  const locked =
    passphrase === undefined
      ? 'not encrypted; set HOOKPROOF_CERTIFY_KEY_PASSPHRASE to generate an encrypted key'
      : 'encrypted';
  process.stdout.write(
    [
      `wrote ${file}  the private key (${locked}): keep it secret, because it issues certificates`,
      `wrote ${publicFile}  the public key: give it to everyone who verifies certificates`,
      `key id ${keyId}`,
      '',
      `  hookproof certify https://partner.example/hooks --profile staging --key ${file}`,
      `  hookproof certify verify hookproof-certificate/certificate.dsse.json --key ${publicFile}`,
      '',
    ].join('\n'),
  );
  return 0;
}

/** Reads the private key from `--key FILE`, or from HOOKPROOF_CERTIFY_KEY, which contains the path or the PEM text. */
export async function signingKey({ key: file, passphraseFile }: KeyFlags): Promise<KeyObject> {
  const variable = process.env[KEY_VARIABLE];
  if (file === undefined && (variable === undefined || variable === '')) {
    throw new HookproofError('CERTIFY_NO_KEY', 'no key for signing the certificate was given', {
      hint: `Give its file with \`--key\`, or set ${KEY_VARIABLE}. \`hookproof certify keygen\` generates one.`,
    });
  }
  const passphrase = await readPassphrase(passphraseFile);
  if (file === undefined && variable?.includes('-----BEGIN') === true) {
    return readPrivateKey(variable, KEY_VARIABLE, passphrase);
  }
  const [path, place] = file === undefined ? [variable ?? '', KEY_VARIABLE] : [file, '--key'];
  const key = readPrivateKey(await readKeyText(path, place), `${place}: ${path}`, passphrase);
  await adviseOnMode(path);
  return key;
}

/** Reads the public keys of `--key FILE`, which can be repeated during a rotation. */
export function trustedKeys(files: readonly string[]): Promise<KeyObject[]> {
  return Promise.all(files.map(async (path) => readPublicKey(await readKeyText(path, '--key'), `--key: ${path}`)));
}

/** Reads the passphrase from `--passphrase-file` or HOOKPROOF_CERTIFY_KEY_PASSPHRASE; undefined if neither is given. */
function readPassphrase(file: string | undefined): Promise<string | undefined> {
  return credential({
    noun: 'passphrase',
    flag: '--passphrase-file',
    file,
    variable: 'HOOKPROOF_CERTIFY_KEY_PASSPHRASE',
  });
}

/** Advises on a key that other users can read. This is not an error, because some file systems have no permissions. */
async function adviseOnMode(path: string): Promise<void> {
  const user = process.getuid?.();
  if (user === undefined || !isReadByOthers(await stat(path), user)) return;
  printAdvice([`other users of this machine can read ${path}: chmod 600 ${path}`]);
}

/**
 * Whether other users can read a key file. A file that root owns and its group can read is accepted: Kubernetes mounts
 * a secret with `fsGroup` in this way, and this program could not read it otherwise. PostgreSQL applies the same rule
 * to the key of its server.
 */
export function isReadByOthers({ mode, uid }: { readonly mode: number; readonly uid: number }, user: number): boolean {
  const throughGroup = uid === 0 && user !== 0;
  return (mode & (throughGroup ? 0o027 : 0o077)) !== 0;
}
