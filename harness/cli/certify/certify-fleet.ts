/**
 * `hookproof certify --partners FOLDER`: certifies many partners in parallel, and writes one report about all of them.
 */
import { createHmac, createPublicKey, type KeyObject } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { HookproofError } from '../../../contract/hookproof-error.ts';
import { catalogueDigest } from '../../../scenarios/index.ts';
import { configurationBytes } from '../../certify/index.ts';
import { type ConfigFlags, durationOfFlag, numberOfFlag, shardOfFlag } from '../../config/index.ts';
import {
  exitCodeOfFleet,
  type FleetDocument,
  type FleetPartner,
  namesDigest,
  runLimited,
  shownUrl,
  totalsOf,
  withPrevious,
} from '../../fleet.ts';
import { counted } from '../../report/index.ts';
import { version } from '../../version.ts';
import { FLEET_FOLDER } from '../partners/register-input.ts';
import { flagsInShell } from '../repeated-flags.ts';
import { interruptible } from '../stop-signals.ts';
import { flagName } from '../terminal.ts';
import { brokenPartner, certifyPartner, notRun, refusedPartner } from './certify-partner.ts';
import { finishedPartner, openFolder, outputFolder, previousOf, readFleet, writeFleet } from './fleet-folder.ts';
import { createFleetProgress, exitOnOfFlag, printFleet, refusedInWords } from './fleet-output.ts';
import { FleetRegister } from './fleet-register.ts';
import { type FleetMember, hostOf, readPartners } from './partner-files.ts';
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
  readonly register?: string | undefined;
  readonly exitOn?: string | undefined;
}

const DEFAULT_VALID_MS = 90 * 86_400_000;

type FleetConfigFlags = ConfigFlags & { readonly config?: string };

/**
 * Default number of concurrent runs: twice the processors, because a run mostly waits; at most eight, because each run
 * is held in memory.
 */
const DEFAULT_PARALLEL = Math.min(8, 2 * availableParallelism());

/** Reads and checks the partners, certifies them, and writes the report. Returns the exit code. */
export async function certifyFleet(
  flags: FleetFlags,
  given: FleetConfigFlags,
  keyFlags: KeyFlags,
  validForMs: number,
): Promise<number> {
  const planned = await plan(flags, given, validForMs);
  const { broken, folder, limits, members } = planned;
  const exitOn = exitOnOfFlag(flags.exitOn);
  if (flags.check === true) {
    // The key is checked here, because `--check` should also detect an invalid one.
    if (keyFlags.key !== undefined) await signingKey(keyFlags);
    printPlan(planned);
    return broken.length > 0 ? 2 : 0;
  }
  const privateKey = await signingKey(keyFlags);
  const last = await readFleet(folder);
  const begun = flags.resume === true ? resumable(last, planned.document, folder) : null;
  const before = await previousOf(flags.previous, begun === null ? last : null);
  const document = withPrevious(
    { ...planned.document, startedAt: begun?.startedAt ?? planned.document.startedAt },
    before,
  );
  const trend = begun === null ? document : withPreviousOutcomes(document, begun);
  await openFolder(folder);
  const { startedAt } = document;
  const place = { register: flags.register, outputDir: folder };
  const fleetRegister = await FleetRegister.open(place, {
    folder,
    privateKey,
    startedAt,
    catalogue: document.catalogue.digest,
  });

  const keys = new Map(members.map((member) => [member.name, resumeKey(member, privateKey, validForMs)]));
  const keyOf = (name: string) => keys.get(name) ?? '';
  const trusted = [createPublicKey(privateKey)];
  const done = begun === null ? new Map<string, FleetPartner>() : await finishedIn(folder, keys, startedAt, trusted);
  const resumed = done.size;
  const refused = broken.map(refusedPartner);
  for (const partner of refused) done.set(partner.name, partner);
  const whole = (): FleetDocument => {
    const partners = trend.partners.map((one) => ({
      ...(done.get(one.name) ?? one),
      previous: one.previous ?? fleetRegister.previousOf(one.name),
    }));
    const durationMs = Date.now() - Date.parse(startedAt);
    return { ...trend, durationMs, complete: done.size === partners.length, totals: totalsOf(partners), partners };
  };
  await writeFleet(folder, whole());
  await fleetRegister.add([...done.values()]);

  const workers = createWorkers();
  const interruption = interruptible();
  const progress = createFleetProgress(document, { broken: refused, parallel: limits.parallel, resumed });
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
    const limit = { parallel: limits.parallel, perGroup: limits.perHost, groupOf: hostOf, signal: interruption.signal };
    await runLimited(left, limit, async (member) => {
      progress.begun();
      const partner = await certifyPartner(member, keyOf(member.name), certification).catch((error) =>
        brokenPartner(member, error),
      );
      if (partner === null) return;
      done.set(member.name, partner);
      await fleetRegister.add([partner]);
      progress.ended(partner);
    });
  } finally {
    progress.close();
    workers.close();
    interruption.dispose();
    await writeFleet(folder, whole());
    await fleetRegister.close(whole());
  }
  const finished = whole();
  const shown = flagsInShell({ register: flags.register, outputDir: given.outputDir });
  const command = commandAgain(flags, given, keyFlags, validForMs);
  printFleet(finished, folder, { json: flags.json, exitOn, place: shown, command });
  return interruption.exitCode() ?? exitCodeOfFleet(finished, exitOn);
}

/** Returns the command that certifies again, without the selection of partners. */
function commandAgain(flags: FleetFlags, given: FleetConfigFlags, keyFlags: KeyFlags, validForMs: number): string {
  const { shard: _part, ...shared } = given;
  const { previous: _compared, resume: _resumed, only: _some, partners, ...kept } = flags;
  const validFor = validForMs === DEFAULT_VALID_MS ? undefined : `${validForMs / 86_400_000}d`;
  return `hookproof certify ${flagsInShell({ partners, ...keyFlags, ...shared, ...kept, validFor })}`;
}

/** Returns the partners that the resumed certification finished with the same configuration, by name. */
async function finishedIn(
  folder: string,
  keys: ReadonlyMap<string, string>,
  certification: string,
  trusted: readonly KeyObject[],
): Promise<Map<string, FleetPartner>> {
  const done = new Map<string, FleetPartner>();
  for (const [name, key] of keys) {
    const found = await finishedPartner(folder, name, { certification, key, keys: trusted });
    if (found !== null) done.set(name, found);
  }
  return done;
}

type Plan = Awaited<ReturnType<typeof plan>>;

/** Checks the flags and reads the partners. Sends and writes nothing. */
async function plan(flags: FleetFlags, given: FleetConfigFlags, validForMs: number) {
  refuseFlagsOfOne(given);
  const { shard: shardText, outputDir = FLEET_FOLDER, ...shared } = given;
  const limits = {
    parallel: flags.parallel === undefined ? DEFAULT_PARALLEL : numberOfFlag('--parallel', flags.parallel, [1, 64]),
    perHost: flags.perHost === undefined ? 1 : numberOfFlag('--per-host', flags.perHost, [1, 64]),
    timeoutMs: durationOfFlag('--partner-timeout', flags.partnerTimeout ?? '10m', [1000, 7_200_000]),
  };
  const shard = shardText === undefined ? null : shardOfFlag(shardText);
  const read = await readPartners(flags.partners, shared, flags.only ?? []);
  const all = [...read.members, ...read.broken].toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const part = partnersOfShard(all, shard);
  const members = part.flatMap((one) => ('config' in one ? [one] : []));
  const broken = part.flatMap((one) => ('config' in one ? [] : [one]));
  const names = all.map(({ name }) => name);
  const document: FleetDocument = {
    schemaVersion: 1,
    kind: 'hookproof-fleet',
    tool: { name: 'hookproof', version },
    // Every partner has the same scheme, because only the operator sets it.
    catalogue: { digest: catalogueDigest(read.members[0]?.config.partner.signing?.scheme) },
    settings: {
      profile: given.profile ?? null,
      revision: given.revision ?? null,
      evidenceLevel: given.evidenceLevel ?? null,
      strict: given.strict === true,
      validForDays: validForMs / 86_400_000,
      partners: all.length,
      names: namesDigest(names),
    },
    shard,
    startedAt: new Date().toISOString(),
    durationMs: 0,
    complete: false,
    previous: null,
    totals: totalsOf([]),
    partners: part.map((one) => ('config' in one ? notRun(one) : refusedPartner(one))),
  };
  return { folder: outputFolder(outputDir), limits, members, broken, document };
}

/** Flags for settings that belong in the file of each partner. */
const PARTNER_SETTINGS: readonly (keyof FleetConfigFlags)[] = [
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

function refuseFlagsOfOne(flags: FleetConfigFlags): void {
  const given = PARTNER_SETTINGS.filter((name) => flags[name] !== undefined).map((name) =>
    name === 'url' ? 'a URL' : `\`${flagName(name)}\``,
  );
  if (given.length === 0) return;
  throw new HookproofError('FLEET_FLAGS', `\`--partners\` cannot be combined with ${given.join(', ')}`, {
    hint:
      flags.reporter === undefined
        ? 'Write the settings of a partner in its file. A certificate always covers the whole catalogue.'
        : 'Afterwards, run `hookproof report NAME/run.json --reporter badge=badge.svg` for each partner.',
  });
}

/** Returns the items of one shard: every n-th of a sorted list. */
function partnersOfShard<T>(items: readonly T[], shard: { index: number; of: number } | null): T[] {
  return items.filter((_, at) => shard === null || at % shard.of === shard.index - 1);
}

function printPlan({ broken, document, folder, limits, members }: Plan): void {
  const { partners, shard } = document;
  const part = shard === null ? '' : ` of ${document.settings.partners} (shard ${shard.index} of ${shard.of})`;
  const longest = Math.max(0, ...partners.map(({ name }) => name.length));
  const longestUrl = Math.max(0, ...partners.map(({ url }) => url.length));
  const lines = members.map(
    ({ name, config: { partner, run } }) =>
      `  ${name.padEnd(longest)}  ${shownUrl(partner.url).padEnd(longestUrl)}  ${run.profile}`,
  );
  const refused = broken.map(({ name, problems }) => `  ${name.padEnd(longest)}  refused: ${problems.join('\n    ')}`);
  process.stdout.write(
    `${counted(partners.length, 'partner')}${part}${refusedInWords(broken.length)}: ${limits.parallel} at a time, ` +
      `${limits.perHost} per host; output folder ${folder}\n` +
      `${[...lines, ...refused].join('\n')}\nNothing was sent.\n`,
  );
}

/**
 * Returns the certification to resume. Throws `FLEET_RESUME` unless it was started with the same partners and flags.
 */
function resumable(begun: FleetDocument | null, now: FleetDocument, folder: string): FleetDocument {
  if (begun === null) {
    const hint = 'Remove `--resume` to start one, or give its folder with `--output-dir`.';
    throw new HookproofError('FLEET_RESUME', `${folder} contains no certification to resume`, { hint });
  }
  const same = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b);
  if (!same(begun.settings, now.settings)) throw differentCertification('the list of partners or a flag');
  if (!same(begun.shard, now.shard)) throw differentCertification('the shard');
  return begun;
}

function differentCertification(what: string): HookproofError {
  return new HookproofError('FLEET_RESUME', `the certification to resume is a different one: ${what} differs`, {
    hint: 'Use the same partners and flags, or remove `--resume` to start a new one; the old one is not deleted.',
  });
}

/** Restores the outcomes with which the interrupted certification was compared. */
function withPreviousOutcomes(document: FleetDocument, begun: FleetDocument): FleetDocument {
  const earlier = new Map(begun.partners.map(({ name, previous }) => [name, previous]));
  const partners = document.partners.map((one) => ({
    ...one,
    previous: one.previous ?? earlier.get(one.name) ?? null,
  }));
  return { ...document, previous: document.previous ?? begun.previous, partners };
}

/**
 * Returns a digest of everything that a partner's result depends on, so that `--resume` repeats the partner if any of
 * it has changed. It includes secrets; a key derived from the private key prevents guessing them.
 */
function resumeKey({ config }: FleetMember, privateKey: KeyObject, validForMs: number): string {
  const own = createHmac('sha256', privateKey.export({ type: 'pkcs8', format: 'der' }))
    .update('hookproof fleet 1')
    .digest();
  const parts = [
    version,
    catalogueDigest(config.partner.signing?.scheme),
    String(validForMs),
    configurationBytes(config.settings).toString(),
    ...config.secrets,
  ];
  return createHmac('sha256', own).update(JSON.stringify(parts)).digest('hex');
}
