/** `hookproof operate`: certifies and rechecks partners when they are due, as one of any number of workers. */
import { createPublicKey } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { HookproofError } from '../../../contract/hookproof-error.ts';
import { visible } from '../../../contract/visible.ts';
import { CURRENT_REVISION } from '../../certify/index.ts';
import { type ConfigFlags, daysOfFlag, durationOfFlag, loadSchedule, numberOfFlag } from '../../config/index.ts';
import {
  addJobs,
  deliverNotice,
  dueNotices,
  dueSlots,
  noticeJob,
  type OperatorOptions,
  operate,
  planNotices,
  plannedPartners,
  type Session,
  type Slot,
} from '../../operate/index.ts';
import { refreshStandings } from '../../register/index.ts';
import { outputFolder } from '../certify/fleet-folder.ts';
import { hostOf, noticesOfPartner, partnersIn, readPartners } from '../certify/partner-files.ts';
import { type KeyFlags, signingKey } from '../certify/signing-key.ts';
import { createWorkers } from '../certify/worker-process.ts';
import { namedSecrets } from '../conduct.ts';
import { databaseUrl, FLEET_FOLDER } from '../partners/register-input.ts';
import { interruptible } from '../stop-signals.ts';
import { NO_HOST, type Operation, partnerJob, runPartnerJob } from './partner-job.ts';
import { retryCommand, showStatus } from './status.ts';

export interface OperateFlags extends KeyFlags, Pick<ConfigFlags, 'allowPrivate'> {
  readonly partners?: string;
  readonly register?: string;
  readonly outputDir?: string;
  readonly concurrency?: string;
  readonly perHost?: string;
  readonly validFor: string;
  readonly partnerTimeout: string;
  readonly status?: boolean;
  readonly retry?: string;
  readonly json?: boolean;
}

/** Default number of concurrent runs. A run mostly waits, but each run is held in memory. */
const DEFAULT_CONCURRENCY = Math.min(8, 2 * availableParallelism());
/** Maximum number of partners to plan at a time; the others are planned in the next minute. */
const MAX_PLANNED = 5000;

/** Works until SIGINT or SIGTERM. Returns the exit code. */
export async function operateCommand(flags: OperateFlags): Promise<number> {
  const url = databaseUrl(flags.register);
  if (flags.status === true) return showStatus(url, flags.json === true);
  if (flags.retry !== undefined) return retryCommand(url, flags.retry);
  const { allowPrivate, concurrency, outputDir = FLEET_FOLDER, partners, perHost } = flags;
  if (partners === undefined) {
    throw new HookproofError('OPERATE_PARTNERS', 'no folder of partners is named', {
      hint: 'Give it with `--partners`: it has one file for each partner, in the format of hookproof.yaml.',
    });
  }
  const limits = {
    concurrency: concurrency === undefined ? DEFAULT_CONCURRENCY : numberOfFlag('--concurrency', concurrency, [1, 64]),
    perHost: perHost === undefined ? null : numberOfFlag('--per-host', perHost, [1, 64]),
  };
  await loadSchedule((await partnersIn(partners)).defaultsFile);
  const log = (line: string) => void process.stderr.write(`${new Date().toISOString()}  ${visible(line)}\n`);
  const interruption = interruptible('stopping: runs in progress are completed or returned to the queue');
  let workers = createWorkers();
  const operation: Operation = {
    partners,
    flags: allowPrivate === undefined ? {} : { allowPrivate },
    folder: outputFolder(outputDir),
    privateKey: await signingKey(flags),
    validForMs: daysOfFlag('--valid-for', flags.validFor),
    timeoutMs: durationOfFlag('--partner-timeout', flags.partnerTimeout, [1000, 7_200_000]),
    perHost: limits.perHost,
    now: () => new Date(),
    currentRevision: () => CURRENT_REVISION,
    log,
    workers: () => workers,
  };
  try {
    log(`works on partners, at most ${limits.concurrency} at a time`);
    await operate({
      url,
      concurrency: limits.concurrency,
      tasks: (session) => tasksOf(operation, session),
      kill: () => {
        workers.close();
        workers = createWorkers();
      },
      signal: interruption.signal,
      log,
    });
    return 0;
  } finally {
    workers.close();
    interruption.dispose();
  }
}

/** Returns the handler of each kind of job. */
export function tasksOf(operation: Operation, { pool, signal }: Session): ReturnType<OperatorOptions['tasks']> {
  let noticesSince = new Date(operation.now().getTime() - FIRST_NOTICES_MS);
  return {
    plan: async () => {
      const now = operation.now();
      await plan(operation, pool, noticesSince);
      noticesSince = new Date(now.getTime() - NOTICES_OVERLAP_MS);
    },
    partner: (job) => runPartnerJob(job, { ...operation, pool, signal }),
    notice: async ({ payload }) => {
      const { id } = payload as { id: string };
      await deliverNotice(pool, id, {
        policy: { reach: 'public-only', allowPrivate: operation.flags.allowPrivate ?? [] },
        destinationsOf: async (partner) => {
          const { notices, secrets } = await noticesOfPartner(operation.partners, partner);
          return { notices, secrets: namedSecrets(secrets) };
        },
        now: () => operation.now().getTime(),
        signal,
      });
    },
  };
}

/** How far back a new worker considers records, because their notices may not have been planned. */
const FIRST_NOTICES_MS = 86_400_000;
/** How far back records are considered again, because clocks differ and transactions take time. */
const NOTICES_OVERLAP_MS = 600_000;

/**
 * Stores the notices that have become due, and adds a job for each of them and for each due slot. Returns the slots.
 */
export async function plan(operation: Operation, pool: Session['pool'], noticesSince: Date): Promise<Slot[]> {
  const { currentRevision, partners, perHost, privateKey } = operation;
  const now = operation.now();
  const { defaultsFile, names } = await partnersIn(partners);
  const schedule = await loadSchedule(defaultsFile);
  const about = { now, currentRevision: currentRevision() };
  const keys = [createPublicKey(privateKey)];
  // Notices are planned before the standings are refreshed: a certificate that has just expired must still be stored as
  // valid.
  await planNotices(pool, { keys, currentRevision: about.currentRevision, since: noticesSince, at: now });
  await refreshStandings(pool, keys, about);
  const planned = await plannedPartners(pool, names);
  const slots = dueSlots(planned, schedule, about).slice(0, MAX_PLANNED);
  const known = new Map(planned.map(({ host, partner }) => [partner, host && new URL(`http://${host}`).hostname]));
  const unknown = slots.filter(({ partner }) => known.get(partner) == null).map(({ partner }) => partner);
  const read = unknown.length === 0 ? [] : (await readPartners(partners, operation.flags, unknown)).members;
  const hosts = new Map(read.map((member) => [member.name, hostOf(member)]));
  const jobs = slots.map(({ due, partner }) => {
    const host = known.get(partner) ?? hosts.get(partner) ?? NO_HOST;
    return partnerJob({ partner, due: due.toISOString(), attempt: 0 }, host, perHost ?? schedule.perHost);
  });
  await addJobs(pool, jobs);
  await addJobs(
    pool,
    (await dueNotices(pool, now)).map((id) => noticeJob({ id })),
  );
  return slots;
}
