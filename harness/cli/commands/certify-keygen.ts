/** `hookproof certify keygen`: makes the pair of keys that certificates are signed and verified with. */
import { rm } from 'node:fs/promises';
import { makeKeyPair } from '../../certify/index.ts';
import { exists, inTheWay, writeNew } from '../certify-files.ts';
import { readPassphrase } from '../certify-key.ts';

export async function certifyKeygenCommand(
  file: string,
  { passphraseFile }: { passphraseFile?: string },
): Promise<number> {
  const publicFile = `${file.replace(/\.pem$/, '')}.pub.pem`;
  for (const path of [file, publicFile]) if (await exists(path)) throw inTheWay(path);
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
    passphrase === undefined ? 'not encrypted; set HOOKPROOF_CERTIFY_KEY_PASSPHRASE to have one that is' : 'encrypted';
  process.stdout.write(
    [
      `wrote ${file}  the private key (${locked}): keep it to yourself, it issues certificates`,
      `wrote ${publicFile}  the public key: give it to everybody who verifies them`,
      `key id ${keyId}`,
      '',
      `  hookproof certify https://partner.example/hooks --profile staging --key ${file}`,
      `  hookproof certify verify certificate.dsse.json --key ${publicFile}`,
      '',
    ].join('\n'),
  );
  return 0;
}
