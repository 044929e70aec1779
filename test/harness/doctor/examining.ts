/** Runs the doctor in this process, and reads its findings. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { onTestFinished } from 'vitest';
import { namedSecrets } from '../../../harness/cli/conduct.ts';
import { testNotification } from '../../../harness/cli/sample-events.ts';
import type { ConfigFlags } from '../../../harness/config/index.ts';
import { type DoctorDocument, type DoctorSection, examine, type SectionId } from '../../../harness/doctor/index.ts';
import { createRedactor } from '../../../harness/report/index.ts';

export interface Inputs {
  readonly flags?: ConfigFlags;
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly configFile?: string;
  readonly deliver?: boolean;
  readonly stdin?: string;
  readonly signal?: AbortSignal;
}

export function examineWith(url: string | null, inputs: Inputs = {}): Promise<DoctorDocument> {
  const { flags = {}, env = {}, cwd = tmpdir(), configFile, deliver = false, stdin = '', signal } = inputs;
  return examine({
    sources: {
      flags: { timeout: '5s', ...flags, ...(url === null ? {} : { url }) },
      env,
      cwd,
      configFile,
      stdin: Readable.from([stdin]),
    },
    makeNotification: deliver ? testNotification : null,
    createRedactor: (secrets) => createRedactor({ values: namedSecrets(secrets) }),
    onStage: () => {},
    signal: signal ?? new AbortController().signal,
  });
}

export function sectionOf<Id extends SectionId>(document: DoctorDocument, id: Id): Extract<DoctorSection, { id: Id }> {
  const found = document.sections.find((section) => section.id === id);
  if (found === undefined) throw new Error(`There is no section ${id}`);
  return found as Extract<DoctorSection, { id: Id }>;
}

export function factsOf<Id extends SectionId>(document: DoctorDocument, id: Id) {
  const { facts } = sectionOf(document, id);
  if (facts === null) throw new Error(`The section ${id} has no facts`);
  return facts as NonNullable<Extract<DoctorSection, { id: Id }>['facts']>;
}

/** Returns `severity code` for every finding of one section or of all sections. */
export function found(document: DoctorDocument, id?: SectionId): string[] {
  const sections = document.sections.filter((section) => id === undefined || section.id === id);
  return sections.flatMap(({ findings }) => findings.map(({ severity, code }) => `${severity} ${code}`));
}

export const problems = (document: DoctorDocument, id?: SectionId) =>
  found(document, id).filter((finding) => finding.startsWith('problem '));

/** Creates a folder with these files until the end of the test. */
export async function folderWith(files: Readonly<Record<string, string | Uint8Array>>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'hookproof-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  for (const [name, content] of Object.entries(files)) await writeFile(join(folder, name), content, { mode: 0o600 });
  return folder;
}
