/** The bytes of a certificate or a key: from a file, or from a variable that holds PEM text itself. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { MaterialFile } from '../../../certs/index.ts';
import { advice, type DoctorFinding, problem } from '../findings/finding.ts';
import { readFileBytes } from '../told/read-file-bytes.ts';
import type { Told } from '../told/told.ts';
import { isOpenToAll } from './read-credential.ts';

/** As many as `run` reads. */
const MOST_BYTES = 1024 * 1024;

export interface MaterialBytes {
  readonly file: MaterialFile | undefined;
  readonly findings: readonly DoctorFinding[];
}

/** `prefix` begins the codes: `client-cert`, `client-key`, `ca`. Of a private key it is also said when everybody may read it. */
export async function materialOf({ value, layer, where, base }: Told, prefix: string): Promise<MaterialBytes> {
  const wrong = (what: string, title: string, fix: string): MaterialBytes => ({
    file: undefined,
    findings: [problem(`${prefix}-${what}`, title, fix)],
  });
  if (value === '') return wrong('empty', `${where} is empty.`, 'Give the path of a PEM or DER file, or leave it out.');
  if (isMaterial(value, base)) {
    if (layer === 'environment') {
      return { file: { bytes: Buffer.from(value), source: { name: `the value of ${where}` } }, findings: [] };
    }
    const fix = 'Put it into a file and give its path, or put it into the environment variable.';
    return wrong('is-no-path', `${where} holds a key or a certificate itself, and the path of a file is wanted.`, fix);
  }
  const path = resolve(base, value);
  const content = await readFileBytes(path, MOST_BYTES);
  if ('reason' in content) {
    const fix = 'Give the path of a PEM or DER file that this user may read.';
    return wrong('unreadable', `${where}: the file ${value} ${content.reason}.`, fix);
  }
  const open = prefix === 'client-key' && (await isOpenToAll(path));
  const findings = open
    ? [
        advice(
          'client-key-file-open',
          `Every user of this machine may read the private key in ${value}.`,
          'Let only its owner read it: chmod 600 FILE.',
        ),
      ]
    : [];
  return { file: { bytes: content.bytes, source: { file: value } }, findings };
}

/** Whether a value is the material itself and no path, as the configuration tells: it must not be repeated then. */
function isMaterial(value: string, base: string): boolean {
  if (/BEGIN [A-Z0-9 ]+/.test(value) || /[\r\n]/.test(value)) return true;
  return /^[A-Za-z0-9+/=_-]{40,}$/.test(value) && !existsSync(resolve(base, value));
}
