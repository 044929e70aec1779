/**
 * Performs one job of `hookproof operate`: a partner in a slot, from the partner's file to the record in the register.
 */
import { createPublicKey, type KeyObject } from 'node:crypto';
import { mkdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool } from 'pg';
import * as z from 'zod';
import { HookproofError } from '../../../contract/hookproof-error.ts';
import { catalogueDigest } from '../../../scenarios/index.ts';
import { type ConfigFlags, loadSchedule } from '../../config/index.ts';
import { type FleetPartner, fleetPartner } from '../../fleet.ts';
import {
  certificateBySha,
  hasResult,
  type Job,
  kindOf,
  newestCertificate,
  queueOf,
  quietUntil,
  type Result,
  replaceJob,
  storeResult,
} from '../../operate/index.ts';
import {
  type RegisterRecord,
  recordOfPartner,
  recordsOf,
  refreshStandings,
  type Standing,
  standingsOf,
} from '../../register/index.ts';
import { version } from '../../version.ts';
import { CERTIFICATE_FILES, writeNew } from '../certify/certify-files.ts';
import { refusedPartner, runPartner } from '../certify/certify-partner.ts';
import { type Finished, readFinished } from '../certify/finished-partner.ts';
import { beginPartner, finishPartner, leftBehind, moveIntoPlace } from '../certify/fleet-folder.ts';
import { grantOf } from '../certify/fleet-register.ts';
import { type FleetMember, hostOf, partnersIn, readPartners } from '../certify/partner-files.ts';
import { certificateIn, recheckPartner, recordOfRecheck } from '../certify/recheck-fleet.ts';
import type { Workers } from '../certify/worker-process.ts';

/** The values that all jobs of a worker share. */
export interface Operation {
  /** The folder with the files of the partners. */
  readonly partners: string;
  readonly flags: ConfigFlags;
  /** The output folder for certificates and reports. */
  readonly folder: string;
  readonly privateKey: KeyObject;
  readonly validForMs: number;
  readonly timeoutMs: number;
  /** Replaces `perHost` of the schedule; null uses the schedule. */
  readonly perHost: number | null;
  readonly now: () => Date;
  readonly currentRevision: () => number;
  readonly log: (line: string) => void;
  readonly workers: () => Workers;
  /** Certifies a partner. Default: `runPartner`. */
  readonly certify?: typeof runPartner;
}

interface JobContext extends Operation {
  readonly pool: Pool;
  readonly signal: AbortSignal;
}

const jobPayload = z.strictObject({
  /** Validated because it becomes the name of a folder, and others can write to the queue. */
  partner: fleetPartner.shape.name,
  due: z.iso.datetime(),
  /** How many attempts to reach the partner have failed. */
  attempt: z.int().nonnegative(),
});
export type JobPayload = z.infer<typeof jobPayload>;

/** Returns the job for a slot. All workers give the same slot the same key. */
export function partnerJob(payload: JobPayload, host: string, perHost: number) {
  const { due, partner } = payload;
  return { task: 'partner', key: `${partner} ${due}`, queue: queueOf(partner, host, perHost), payload };
}

/** Stands for the host of a partner whose host is unknown. */
export const NO_HOST = '-';

/** Runs a partner for its slot, and stores the result once. Throws after an internal error. */
export async function runPartnerJob(job: Job, context: JobContext): Promise<void> {
  const payload = jobPayload.parse(job.payload);
  const { due, partner } = payload;
  const { flags, folder, partners, pool } = context;
  await mkdir(folder, { recursive: true });
  const records = await recordsOf(pool, partner);
  await repairFolder(partner, records, context);
  if (hasResult(records, due)) return;
  const { defaultsFile, names } = await partnersIn(partners);
  // The partner's file was removed after the job was planned.
  if (!names.includes(partner)) return;
  const schedule = await loadSchedule(defaultsFile);
  const now = context.now();
  const { broken, members } = await readPartners(partners, flags, [partner]);
  const [member] = members;
  const host = member === undefined ? NO_HOST : hostOf(member);
  const again = partnerJob(payload, host, context.perHost ?? schedule.perHost);
  const quiet = quietUntil(schedule, now);
  if (quiet !== null) return later(again, quiet.getTime() - now.getTime(), context);
  if (member !== undefined && again.queue !== job.queue) return later(again, 0, context);
  const [standing] = standingsOf(records, judging(context, now));
  const kind = kindOf(aboutStanding(standing), schedule, { now, currentRevision: context.currentRevision() });
  if (kind === null) return;
  if (member === undefined) {
    const result = {
      record: recordOf(refusedPartner(broken[0] ?? { name: partner, problems: [] }), due, null, context),
    };
    await store(job, { ...result, certificate: null }, context);
    context.log(`${partner}: refused`);
    return;
  }
  const wait = schedule.retryAfterMs[payload.attempt];
  const isLast = wait === undefined;
  const retry = () => later({ ...again, payload: { ...payload, attempt: payload.attempt + 1 } }, wait ?? 0, context);
  if (kind === 'certify') await certify(job, { member, due, isLast, retry }, context);
  else await recheck(job, { member, due, isLast, retry, standing: standing ?? null }, context);
}

interface SlotRun {
  readonly member: FleetMember;
  readonly due: string;
  /** Whether no retry follows, so that the result counts even if the partner is not reached. */
  readonly isLast: boolean;
  readonly retry: () => Promise<void>;
}

async function certify(job: Job, { due, isLast, member, retry }: SlotRun, context: JobContext): Promise<void> {
  const { certify: run = runPartner, folder, log, privateKey, signal, timeoutMs, validForMs } = context;
  const { name } = member;
  const into = await beginPartner(folder, name);
  const discard = () => rm(into, { recursive: true, force: true });
  try {
    const workers = context.workers();
    const partner = await run(member, {
      into,
      now: context.now,
      privateKey,
      signal,
      timeoutMs,
      validForMs,
      workers,
    });
    if (partner === null) throw new Error('the run was stopped');
    if (partner.outcome === 'harness-error') throw ownError(name, partner.refusals[0]?.message);
    if (isUnreached(partner) && !isLast) {
      await discard();
      log(`${name}: not reached; will try again later`);
      return await retry();
    }
    const finished: Finished = { certification: due, key: '', partner };
    const certificate = partner.certificate === null ? null : await certificateFiles(into);
    const grant = certificate && grantOf(partner, Buffer.from(certificate.envelope), privateKey);
    // The folder is completed before the record is stored: if the process is killed in between, the next run moves it
    // into place.
    await finishPartner(into, finished);
    const isStored = await store(job, { record: recordOf(partner, due, grant, context, member), certificate }, context);
    if (isStored) await moveIntoPlace(folder, into, finished);
    else await discard();
    log(`${name}: ${partner.outcome}`);
  } catch (error) {
    // The record may be stored even if the database reported an error; then the next run needs the folder.
    if (!(await isComplete(into))) await discard();
    throw error;
  }
}

const isComplete = async (into: string) => (await readFinished(into)) !== null;

async function certificateFiles(folder: string) {
  const text = (name: keyof typeof CERTIFICATE_FILES) => readFile(join(folder, CERTIFICATE_FILES[name]), 'utf8');
  return { envelope: await text('certificate'), configuration: await text('configuration') };
}

/** Whether the endpoint gave no answer that could be judged. */
function isUnreached({ counts, outcome }: FleetPartner): boolean {
  return outcome === 'inconclusive' && (counts === null || counts.pass + counts.fail + counts.warn === 0);
}

async function recheck(
  job: Job,
  { due, isLast, member, retry, standing }: SlotRun & { readonly standing: Standing | null },
  context: JobContext,
): Promise<void> {
  const { folder, log, now, pool, signal } = context;
  const { config, name } = member;
  const grant = standing?.certificate ?? null;
  if (grant === null) throw ownError(name, 'there is no certificate to recheck');
  const found = await recheckPartner(config, grant, {
    keys: [createPublicKey(context.privateKey)],
    signal,
    now,
    certificateOf: async (partner, digest) =>
      (await certificateBySha(pool, partner, digest)) ?? certificateIn(folder, partner, digest),
    missing: `its certificate is neither in the database nor in ${folder}`,
  });
  if (signal.aborted) throw new Error('the run was stopped');
  if (found.event === 'harness-error') throw ownError(name, found.reason ?? undefined);
  if (found.event === 'unreachable' && !isLast) {
    log(`${name}: not reached; will try again later`);
    return retry();
  }
  const record = { ...recordOfRecheck(name, grant, found, config), at: now().toISOString(), due };
  await store(job, { record, certificate: null }, context);
  log(`${name}: ${found.event}`);
}

function ownError(name: string, message = 'no reason was reported'): HookproofError {
  return new HookproofError('OPERATE_RUN', `${name}: ${message}`, {
    hint: '`hookproof operate --status` lists it when all attempts have failed.',
    kind: 'internal',
  });
}

function recordOf(
  partner: FleetPartner,
  due: string,
  grant: string | null,
  { now }: Operation,
  member?: FleetMember,
): RegisterRecord {
  const catalogue = catalogueDigest(member?.config.partner.signing?.scheme);
  const record = recordOfPartner(partner, { catalogue, version, due, grant });
  if (record === null) throw ownError(partner.name, 'it was not run');
  return { ...record, at: now().toISOString() };
}

function judging({ currentRevision, privateKey }: Operation, now: Date) {
  return { keys: [createPublicKey(privateKey)], at: now, now, currentRevision: currentRevision() };
}

/**
 * Stores the result, and retries while the database is unavailable. Returns false if the slot already has another
 * result. Throws if another worker has taken over the job.
 */
async function store(job: Job, result: Result, context: JobContext): Promise<boolean> {
  const { pool, signal } = context;
  const { due, partner } = result.record;
  const about = judging(context, context.now());
  const isStored = await whileConnecting(() => storeResult(pool, job, result), signal);
  if (!isStored && !hasResult(await recordsOf(pool, partner), due ?? '')) {
    throw new Error('another worker has taken the job over');
  }
  await refreshStandings(pool, about.keys, about, [partner]);
  return isStored;
}

const RECONNECT_MS = 500;

/** Repeats `work` while the database cannot be reached, until the worker must stop. */
async function whileConnecting<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? String(error.code) : '';
      // A five-character code is an answer from the server; classes 08 and 57 mean that the connection or the server is
      // going away.
      if (signal.aborted || (/^[0-9A-Z]{5}$/.test(code) && !/^(?:08|57)/.test(code))) throw error;
      await sleep(RECONNECT_MS);
    }
  }
}

/** Replaces the job with one that starts in `ms` milliseconds. */
async function later(job: ReturnType<typeof partnerJob>, ms: number, { pool, signal }: JobContext): Promise<void> {
  await whileConnecting(() => replaceJob(pool, { ...job, runAt: new Date(Date.now() + ms) }), signal);
}

/** Returns the properties of a standing that the schedule depends on. */
function aboutStanding(standing: Standing | undefined) {
  const { certificate, last, state, until } = standing ?? {};
  return {
    state: state ?? null,
    until: until == null ? null : new Date(until),
    revision: certificate?.revision ?? null,
    drift: last?.find(({ event }) => event === 'drifted')?.drift ?? null,
  };
}

/**
 * Makes the folder of a partner agree with the register, because a process may have been killed after updating only one
 * of them. Folders without a record are removed.
 */
async function repairFolder(
  name: string,
  records: readonly RegisterRecord[],
  { folder, pool }: JobContext,
): Promise<void> {
  for (const { finished, place } of await leftBehind(folder, name)) {
    const started = finished?.partner.startedAt ?? null;
    const isRecorded = started !== null && records.some(({ run }) => run?.startedAt === started);
    const current = await readFinished(join(folder, name));
    if (finished !== null && isRecorded && (current?.partner.startedAt ?? '') < (started ?? '')) {
      await moveIntoPlace(folder, place, finished);
    } else await rm(place, { recursive: true, force: true });
  }
  const newest = await newestCertificate(pool, name);
  if (newest === null || (await certificateIn(folder, name, newest.sha256)) !== null) return;
  if ((await readFinished(join(folder, name))) !== null) return;
  await mkdir(join(folder, name), { recursive: true });
  for (const [file, text] of [
    [CERTIFICATE_FILES.configuration, newest.configuration],
    [CERTIFICATE_FILES.certificate, newest.envelope],
  ] as const) {
    await rm(join(folder, name, file), { force: true });
    await writeNew(join(folder, name, file), text);
  }
}
