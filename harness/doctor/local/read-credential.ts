/** Reads a secret, an API key or a passphrase as `run` would, and says what is wrong in findings. */
import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { HookproofError } from '../../../contract/index.ts';
import { readCredential } from '../../config/index.ts';
import { advice, type DoctorFinding, info, problem } from '../findings/finding.ts';
import type { Told } from '../told/told.ts';

export interface CredentialReading {
  readonly value: string | undefined;
  readonly findings: readonly DoctorFinding[];
}

const REFERENCE = /^\$\{(env|file):([^{}]+)\}$/;

/** `noun` is what texts call it: "signature secret". `prefix` begins the codes of the findings. */
export async function credentialOf(
  told: Told,
  { noun, prefix, env }: { noun: string; prefix: string; env: Readonly<Record<string, string | undefined>> },
): Promise<CredentialReading> {
  const { value, layer, where, base } = told;
  if (value === '') return { value: undefined, findings: [empty()] };
  if (layer === 'environment') return { value, findings: [] };
  if (layer === 'flag') return fromFile(value);
  const [, kind, target = ''] = REFERENCE.exec(value) ?? [];
  if (kind === 'file') return fromFile(target);
  if (kind === 'env') {
    const set = env[target];
    if (set !== undefined && set !== '') return { value: set, findings: [] };
    const state = set === undefined ? 'is not set' : 'is set and empty';
    const title = `${where}: the environment variable ${target} ${state}.`;
    return { value: undefined, findings: [problem(`${prefix}-missing`, title, `Set it to the ${noun}.`)] };
  }
  const title = `The ${noun} stands in the configuration file itself (${where}), where everyone sees it who sees the file.`;
  const fix = `Move it out: write \${env:NAME} for an environment variable, or \${file:PATH} for a file. Then change the ${noun}: it was exposed.`;
  return { value, findings: [problem(`${prefix}-in-config-file`, title, fix)] };

  function empty(): DoctorFinding {
    const fix = `Set it to the ${noun}, or leave it out. An empty one turns nothing off.`;
    return problem(`${prefix}-empty`, `${where} is empty.`, fix);
  }

  async function fromFile(file: string): Promise<CredentialReading> {
    try {
      const source = { noun, flag: where, file, variable: '', env: {}, cwd: base, stdin: process.stdin };
      const read = await readCredential(source);
      const dropped = read.advice.some((sentence) => sentence.includes('the newline at the end'));
      const note = info(
        `${prefix}-newline-dropped`,
        `The newline at the end of the file is not taken as a part of the ${noun}.`,
        'Make sure that the receiver leaves it out too, if it reads such a file.',
      );
      return { value: read.value, findings: [...(dropped ? [note] : []), ...(await openness(file))] };
    } catch (error) {
      if (!(error instanceof HookproofError)) throw error;
      const title = `${error.message.replace(/\.$/, '')}.`;
      return { value: undefined, findings: [problem(`${prefix}-unreadable`, title, error.hint)] };
    }
  }

  async function openness(file: string): Promise<DoctorFinding[]> {
    return (await isOpenToAll(resolve(base, file)))
      ? [
          advice(
            `${prefix}-file-open`,
            `Every user of this machine may read the file of the ${noun}.`,
            'Let only its owner read it: chmod 600 FILE.',
          ),
        ]
      : [];
  }
}

/** Whether everybody may read a file. Windows has no such bit. */
export async function isOpenToAll(path: string): Promise<boolean> {
  if (process.platform === 'win32') return false;
  return stat(path).then(
    (found) => found.isFile() && (found.mode & 0o004) !== 0,
    () => false,
  );
}
