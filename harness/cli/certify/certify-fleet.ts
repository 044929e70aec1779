/** `hookproof certify --partners DIR`: every partner side by side, one page about all of them. */
import { createHash, createHmac, type KeyObject } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import { HookproofError } from '../../../contract/hookproof-error.ts';
import { catalogueDigest } from '../../../scenarios/index.ts';
import { configurationBytes } from '../../certify/index.ts';
import { type ConfigFlags, durationOfFlag, numberOfFlag, shardOfFlag } from '../../config/index.ts';
import { against, exitCodeOfFleet, type FleetDocument, type FleetPartner, sideBySide, totalsOf } from '../../fleet.ts';
import { version } from '../../version.ts';
import { flagName } from '../flag-name.ts';
import { interruptible } from '../stop-signals.ts';
import { brokenPartner, certifyPartner, notRun } from './certify-partner.ts';
import { finishedPartner, openFolder, previousOf, readFleet, writeFleet } from './fleet-folder.ts';
import { createFleetProgress, sayFleet } from './fleet-output.ts';
import { type FleetMember, readPartners } from './partner-files.ts';
import { type KeyFlags, signingKey } from './signing-key.ts';
import { createWorkers } from './worker-process.ts';

export interface FleetFlags {
  readonly partners: string;
  readonly only?: readonly string[] | undefined;
  readonly parallel?: string | undefined;
  readonly perHost?: string | undefined;
  readonly partnerTimeout?: string | undefined;
  readonly previous?: string | undefined;
  readonly resume?: boolean | undefined;
  readonly check?: boolean | undefined;
  readonly json?: boolean | undefined;
}

/** Where it all goes when nothing else is said. */
const FLEET_FOLDER = 'hookproof-partners';

/** What is of one partner has its place in the partner's file. */
const OF_ONE_PARTNER: readonly (keyof FleetConfigFlags)[] = [
  'config',
  'url',
  'secretFile',
  'signatureHeader',
  'apiKeyFile',
  'apiKeyHeader',
  'header',
  'clientCert',
  'clientKey',
  'suite',
  'scenario',
  'grep',
  'baseline',
  'bail',
  'reporter',
];

type FleetConfigFlags = ConfigFlags & { readonly config?: string };

function refuseFlagsOfOne(flags: FleetConfigFlags): void {
  const given = OF_ONE_PARTNER.filter((name) => flags[name] !== undefined).map((name) =>
    name === 'url' ? 'a URL' : flagName(name),
  );
  if (given.length === 0) return;
  throw new HookproofError('FLEET_FLAGS', `--partners does not go with ${given.join(', ')}`, {
    hint: 'What is about one partner stands in the file of that partner; a certificate is about the whole catalogue.',
  });
}

/** Twice the processors, since a run mostly waits; and no more than eight, each of which may be a whole run in memory. */
const USUAL_PARALLEL = Math.min(8, 2 * availableParallelism());

/** The i-th of n parts of a sorted list, dealt out one by one. */
function partOf<T>(items: readonly T[], shard: { index: number; of: number } | null): T[] {
  return items.filter((_, at) => shard === null || at % shard.of === shard.index - 1);
}

/**
 * What a finished partner has been certified under. It covers the secrets, and cannot be guessed at: it is made with a key that comes from the
 * one which signs certificates.
 */
function finishedUnder({ config }: FleetMember, privateKey: KeyObject, validForMs: number): string {
  const own = createHmac('sha256', privateKey.export({ type: 'pkcs8', format: 'der' }))
    .update('hookproof fleet 1')
    .digest();
  const parts = [
    version,
    catalogueDigest(),
    String(validForMs),
    configurationBytes(config.settings).toString(),
    ...config.secrets,
  ];
  return createHmac('sha256', own).update(JSON.stringify(parts)).digest('hex');
}

function nothingToResume(folder: string): HookproofError {
  return new HookproofError('FLEET_RESUME', `${folder} holds no certification that could be resumed`, {
    hint: 'Leave out --resume to begin one, or name the folder with --output-dir.',
  });
}

function otherCertification(what: string): HookproofError {
  return new HookproofError('FLEET_RESUME', `the certification that was begun is another one: ${what} differs`, {
    hint: 'Resume it with the same partners and flags, or leave out --resume to begin a new one. Nothing of it is deleted.',
  });
}

/** The one that was begun, when it is to be resumed: all that is asked for has to be the same. */
function resumable(begun: FleetDocument | null, now: FleetDocument, folder: string): FleetDocument {
  if (begun === null) throw nothingToResume(folder);
  const same = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b);
  if (!same(begun.asked, now.asked)) throw otherCertification('what was asked for, or the list of partners,');
  if (!same(begun.shard, now.shard)) throw otherCertification('the shard');
  return begun;
}

/** The partners that are asked for, and the flags checked: nothing is sent, and nothing is written. */
async function plan(flags: FleetFlags, given: FleetConfigFlags, validForMs: number) {
  refuseFlagsOfOne(given);
  const { shard: shardText, outputDir = FLEET_FOLDER, ...shared } = given;
  const limits = {
    parallel: flags.parallel === undefined ? USUAL_PARALLEL : numberOfFlag('--parallel', flags.parallel, [1, 64]),
    perHost: flags.perHost === undefined ? 1 : numberOfFlag('--per-host', flags.perHost, [1, 64]),
    timeoutMs: durationOfFlag('--partner-timeout', flags.partnerTimeout ?? '10m', [1000, 7_200_000]),
  };
  const shard = shardText === undefined ? null : shardOfFlag(shardText);
  const all = await readPartners(flags.partners, shared, flags.only ?? []);
  const members = partOf(all, shard);
  const names = all.map(({ name }) => name);
  const document: FleetDocument = {
    schemaVersion: 1,
    kind: 'hookproof-fleet',
    tool: { name: 'hookproof', version },
    catalogue: { digest: catalogueDigest() },
    asked: {
      profile: given.profile ?? null,
      revision: given.revision ?? null,
      strict: given.strict === true,
      validForDays: validForMs / 86_400_000,
      partners: all.length,
      names: createHash('sha256').update(names.join('\n')).digest('hex'),
    },
    shard,
    startedAt: new Date().toISOString(),
    durationMs: 0,
    complete: false,
    previous: null,
    totals: totalsOf([]),
    partners: members.map(notRun),
  };
  return { folder: resolve(outputDir), limits, members, document };
}

type Plan = Awaited<ReturnType<typeof plan>>;

const hostOf = ({ config }: FleetMember) => new URL(config.partner.url).hostname;

function sayPlan({ document, folder, limits, members }: Plan): void {
  const { index, of } = document.shard ?? { index: 1, of: 1 };
  const lines = members.map(
    ({ name, config: { partner, run } }) => `  ${name}  ${new URL(partner.url).origin}  ${run.profile}`,
  );
  const hosts = new Set(members.map(hostOf)).size;
  process.stdout.write(
    `${members.length} of ${document.asked.partners} partners (shard ${index} of ${of}) on ${hosts} hosts, ${limits.parallel} at a time, ${limits.perHost} at a host, into ${folder}:\n${lines.join('\n')}\nNothing was sent.\n`,
  );
}

/** Reads, checks, certifies, writes. Gives the exit code. */
export async function certifyFleet(
  flags: FleetFlags,
  given: FleetConfigFlags,
  keyFlags: KeyFlags,
  validForMs: number,
): Promise<number> {
  const planned = await plan(flags, given, validForMs);
  const { folder, limits, members } = planned;
  if (flags.check === true) {
    sayPlan(planned);
    return 0;
  }
  const privateKey = await signingKey(keyFlags);
  const last = await readFleet(folder);
  const begun = flags.resume === true ? resumable(last, planned.document, folder) : null;
  const before = await previousOf(flags.previous, begun === null ? last : null);
  const document = against({ ...planned.document, startedAt: begun?.startedAt ?? planned.document.startedAt }, before);
  const trend = begun === null ? document : withTrendOf(document, begun);
  await openFolder(folder);

  const { startedAt } = document;
  const done = new Map<string, FleetPartner>();
  const keys = new Map(members.map((member) => [member.name, finishedUnder(member, privateKey, validForMs)]));
  const keyOf = (name: string) => keys.get(name) ?? '';
  if (begun !== null) {
    for (const { name } of members) {
      const found = await finishedPartner(folder, name, { certification: startedAt, key: keyOf(name) });
      if (found !== null) done.set(name, found);
    }
  }
  const whole = (): FleetDocument => {
    const partners = trend.partners.map((one) => ({ ...(done.get(one.name) ?? one), previous: one.previous }));
    const durationMs = Date.now() - Date.parse(startedAt);
    return { ...trend, durationMs, complete: done.size === members.length, totals: totalsOf(partners), partners };
  };
  await writeFleet(folder, whole(), false);

  const workers = createWorkers();
  const interruption = interruptible();
  const progress = createFleetProgress(members.length, done.size, limits.parallel);
  try {
    const certification = {
      startedAt,
      folder,
      privateKey,
      validForMs,
      workers,
      signal: interruption.signal,
      timeoutMs: limits.timeoutMs,
    };
    const left = members.filter(({ name }) => !done.has(name));
    const politeness = {
      parallel: limits.parallel,
      perGroup: limits.perHost,
      groupOf: hostOf,
      signal: interruption.signal,
    };
    await sideBySide(left, politeness, async (member) => {
      progress.begun();
      const partner = await certifyPartner(member, keyOf(member.name), certification).catch((error) =>
        brokenPartner(member, error),
      );
      if (partner === null) return;
      done.set(member.name, partner);
      progress.ended(partner);
    });
  } finally {
    progress.close();
    workers.close();
    interruption.dispose();
    await writeFleet(folder, whole(), true);
  }
  sayFleet(whole(), folder, flags.json === true);
  return interruption.exitCode() ?? exitCodeOfFleet(whole());
}

/** A certification that is resumed keeps what it knew of the one before it. */
function withTrendOf(document: FleetDocument, begun: FleetDocument): FleetDocument {
  const earlier = new Map(begun.partners.map(({ name, previous }) => [name, previous]));
  const partners = document.partners.map((one) => ({
    ...one,
    previous: one.previous ?? earlier.get(one.name) ?? null,
  }));
  return { ...document, previous: document.previous ?? begun.previous, partners };
}
