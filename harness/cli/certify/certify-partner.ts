/** Certifies one of many partners, from its configuration to its folder. Nothing here affects other partners. */
import type { KeyObject } from 'node:crypto';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { CURRENT_REVISION, type Refusal } from '../../certify/index.ts';
import { durationText, OUTPUT_FILES } from '../../config/index.ts';
import { type FleetPartner, NO_FACTS, partnerOutcomeOf, shownUrl } from '../../fleet.ts';
import { createRedactor } from '../../report/index.ts';
import type { ResultDocument } from '../../report/result-document.ts';
import { namedSecrets } from '../conduct.ts';
import { CERTIFICATE_FILES } from './certify-files.ts';
import { beginPartner, placePartner } from './fleet-folder.ts';
import { writeCertificate } from './issuing.ts';
import type { BrokenMember, FleetMember } from './partner-files.ts';
import type { WorkerEnd, Workers } from './worker-process.ts';

export interface Certification {
  /** The start time, which also identifies the certification. */
  readonly startedAt: string;
  readonly folder: string;
  readonly privateKey: KeyObject;
  readonly validForMs: number;
  readonly timeoutMs: number;
  readonly workers: Workers;
  readonly signal: AbortSignal;
}

export interface PartnerRun
  extends Pick<Certification, 'privateKey' | 'signal' | 'timeoutMs' | 'validForMs' | 'workers'> {
  /** An empty folder for the partner's files. */
  readonly into: string;
  readonly now?: () => Date;
}

/** Returns the entry of a partner that has not been run. */
export function notRun({ name, config: { partner, run } }: FleetMember): FleetPartner {
  return {
    name,
    url: shownUrl(partner.url),
    profile: run.profile ?? 'basic',
    revision: run.revision ?? CURRENT_REVISION,
    ...(partner.signing?.scheme && { scheme: partner.signing.scheme.name }),
    ...NEVER_RUN,
  };
}

const NEVER_RUN = {
  outcome: 'not-run',
  ...NO_FACTS,
  certificate: null,
  refusals: [],
  files: [],
  startedAt: null,
  durationMs: 0,
  previous: null,
} satisfies Partial<FleetPartner>;

/** Returns the entry of a partner whose file cannot be used. */
export function refusedPartner({ name, problems }: BrokenMember): FleetPartner {
  const refusals = problems.map((problem) => {
    const [message = '', ...fix] = problem.split('\n');
    return { code: 'configuration', message, fix: fix.join(' ').trim() };
  });
  return { ...NEVER_RUN, name, url: '', profile: 'basic', revision: CURRENT_REVISION, outcome: 'refused', refusals };
}

/**
 * Certifies one partner and moves its folder into place. Returns null, and keeps nothing, if the run was interrupted.
 */
export async function certifyPartner(
  member: FleetMember,
  key: string,
  certification: Certification,
): Promise<FleetPartner | null> {
  const { folder, startedAt } = certification;
  const into = await beginPartner(folder, member.name);
  const partner = await runPartner(member, { ...certification, into });
  if (partner === null) await rm(into, { recursive: true, force: true });
  else await placePartner(folder, into, { certification: startedAt, key, partner });
  return partner;
}

/** Certifies one partner and writes its files. Returns null if the run was interrupted. */
export async function runPartner(
  member: FleetMember,
  { into, now = () => new Date(), privateKey, signal, timeoutMs, validForMs, workers }: PartnerRun,
): Promise<FleetPartner | null> {
  const { config } = member;
  const began = now();
  const clock = performance.now();
  const { answer, timedOut } = await workers.run({ kind: 'run', config, folder: into }, { timeoutMs, signal });
  if (signal.aborted) return null;
  let refusals = refusalsOf(answer, timedOut, timeoutMs);
  const files: string[] = [];
  let certificate: FleetPartner['certificate'] = null;
  if (answer.kind === 'done') {
    files.push(...answer.files);
    if (refusals.length === 0 && answer.identity === null)
      refusals = [harnessError('the key of the endpoint is unknown')];
    if (refusals.length === 0 && answer.identity !== null) {
      const documentBytes = await readFile(join(into, OUTPUT_FILES.json));
      const document = JSON.parse(documentBytes.toString()) as ResultDocument;
      const { identity } = answer;
      const issuedAt = now();
      const evidence = { config, document, documentBytes, identity, issuedAt, validForMs, privateKey };
      certificate = await writeCertificate(into, evidence);
      files.push(CERTIFICATE_FILES.certificate, CERTIFICATE_FILES.configuration);
    }
  } else {
    // A process that was killed may have left incomplete files.
    for (const file of Object.values(OUTPUT_FILES)) await rm(join(into, file), { force: true });
  }
  return {
    ...notRun(member),
    outcome: partnerOutcomeOf(refusals),
    ...(answer.kind === 'done' ? answer.facts : {}),
    certificate,
    refusals: refusals.map(({ code, message, fix }) => ({ code, message, fix })),
    files,
    startedAt: began.toISOString(),
    durationMs: Math.round(performance.now() - clock),
  };
}

/**
 * Returns the entry of a partner after an internal error, such as a full disk. The entry is not saved, so `--resume`
 * runs the partner again.
 */
export function brokenPartner(member: FleetMember, error: unknown): FleetPartner {
  const redactor = createRedactor({ values: namedSecrets(member.config.secrets) });
  const { code, message, fix } = harnessError(redactor.text(error instanceof Error ? error.message : String(error)));
  return { ...notRun(member), outcome: 'harness-error', refusals: [{ code, message, fix }] };
}

/**
 * Returns every reason why there is no certificate. A run that was stopped at its time limit is not reported as
 * interrupted.
 */
function refusalsOf(answer: WorkerEnd, timedOut: boolean, timeoutMs: number): readonly Refusal[] {
  const late = timedOut ? [timeoutRefusal(timeoutMs)] : [];
  if (answer.kind === 'done') {
    return [...late, ...answer.refusals.filter(({ code }) => !timedOut || code !== 'interrupted')];
  }
  if (timedOut) return late;
  if (answer.kind === 'refused') return [{ code: 'not-delivered', message: answer.message, fix: answer.fix, exit: 2 }];
  const how = answer.kind === 'gone' ? `its process ended (${answer.how})` : answer.message;
  return [harnessError(`an internal error ended the run of this partner: ${how}`)];
}

function timeoutRefusal(timeoutMs: number): Refusal {
  return {
    code: 'partner-timeout',
    message: `the run did not finish within ${durationText(timeoutMs)}`,
    fix:
      'Examine this endpoint alone: `hookproof doctor URL`, then `hookproof run`. A slow endpoint needs a longer ' +
      '`--partner-timeout`.',
    exit: 3,
  };
}

function harnessError(message: string): Refusal {
  return { code: 'harness-error', message, fix: 'Please report it. Other partners are not affected.', exit: 4 };
}
