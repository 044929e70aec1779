/** `hookproof certify recheck --partners FOLDER`: sends a few deliveries to every partner that may get traffic. */
import type { KeyObject } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { HookproofError } from '../../../contract/hookproof-error.ts';
import { catalogueDigest } from '../../../scenarios/index.ts';
import {
  type Drift,
  KNOWN_REVISIONS,
  missingFeatures,
  schemeMismatch,
  sha256,
  verifyCertificate,
} from '../../certify/index.ts';
import { type ConfigFlags, numberOfFlag, type ResolvedConfig } from '../../config/index.ts';
import { readFile } from '../../config/read-file.ts';
import { runLimited } from '../../fleet.ts';
import {
  type Grant,
  makeRecord,
  type RegisterEvent,
  type RegisterRecord,
  type Standing,
} from '../../register/index.ts';
import { counted, createRedactor } from '../../report/index.ts';
import { featuresOf } from '../../run/index.ts';
import { version } from '../../version.ts';
import { namedSecrets } from '../conduct.ts';
import { writePartnersPage } from '../partners/partners-page.ts';
import {
  appendRecords,
  FLEET_FOLDER,
  type RegisterFlags,
  readStandings,
  registerOf,
} from '../partners/register-input.ts';
import { standingLines } from '../partners/standing-lines.ts';
import { interruptible } from '../stop-signals.ts';
import { CERTIFICATE_FILES } from './certify-files.ts';
import { EARLIER } from './fleet-folder.ts';
import { exitOnOfFlag } from './fleet-output.ts';
import { recheckConfigured } from './issuing.ts';
import { outputLayout } from './output.ts';
import { hostOf, readPartners } from './partner-files.ts';
import { trustedKeys } from './signing-key.ts';

export interface RecheckFleetFlags extends RegisterFlags {
  readonly partners: string;
  readonly only?: readonly string[] | undefined;
  readonly key: readonly string[];
  readonly parallel?: string | undefined;
  readonly strict?: boolean | undefined;
  readonly exitOn?: string | undefined;
  readonly json?: boolean | undefined;
}

/** Default number of concurrent rechecks. Each partner gets about twenty requests. */
const DEFAULT_PARALLEL = 8;
const MAX_CERTIFICATE_BYTES = 1024 * 1024;

export type Checked = Pick<RegisterRecord, 'event' | 'reason'> & Partial<Pick<RegisterRecord, 'drift'>>;
const EXIT_OF = { unchanged: 0, drifted: 1, refused: 2, unreachable: 3, 'harness-error': 4 } as const;
const PRECEDENCE = [4, 1, 2, 3, 0] as const;

/** Rechecks each partner that may get traffic now, and adds a record for each. Returns the exit code. */
export async function recheckFleet(flags: RecheckFleetFlags, given: ConfigFlags): Promise<number> {
  const keys = await trustedKeys(flags.key);
  const exitOn = exitOnOfFlag(flags.exitOn);
  const parallel =
    flags.parallel === undefined ? DEFAULT_PARALLEL : numberOfFlag('--parallel', flags.parallel, [1, 64]);
  const { members, broken } = await readPartners(flags.partners, given, flags.only ?? []);
  const register = await registerOf(flags);
  const interruption = interruptible();
  try {
    const before = await readStandings(register, keys);
    const due = before.filter(({ mayGetTraffic }) => mayGetTraffic);
    const configs = new Map(members.map(({ name, config }) => [name, config]));
    const files = new Map(broken.map(({ name, problems }) => [name, problems[0] ?? '']));
    const wanted = due.filter(({ partner }) => configs.has(partner) || files.has(partner));
    const checked = new Map<string, Checked>();
    const folder = flags.outputDir ?? FLEET_FOLDER;
    const about = {
      keys,
      strict: flags.strict === true,
      certificateOf: (partner: string, digest: string) => certificateIn(folder, partner, digest),
      missing: `its certificate is not in ${folder}`,
    };
    const groupOf = ({ partner }: Standing) => {
      const config = configs.get(partner);
      return config === undefined ? partner : hostOf({ config });
    };
    await runLimited(wanted, { parallel, perGroup: 1, groupOf, signal: interruption.signal }, async (standing) => {
      const { certificate, partner } = standing;
      const config = configs.get(partner);
      const found =
        config === undefined || certificate === null
          ? { event: 'refused' as const, reason: files.get(partner) ?? null }
          : await recheckPartner(config, certificate, { ...about, signal: interruption.signal });
      if (interruption.signal.aborted) return;
      checked.set(partner, found);
      await appendRecords(register, keys, [recordOfRecheck(partner, certificate, found, config)]);
    });
    const after = await readStandings(register, keys);
    await writePartnersPage(flags, after);
    print(after, checked, flags.json === true);
    return interruption.exitCode() ?? exitCodeOf([...checked.values()], exitOn === 'harness');
  } finally {
    interruption.dispose();
    await register.close();
  }
}

export function recordOfRecheck(
  partner: string,
  certificate: Grant | null,
  { event, reason, drift = null }: Checked,
  config: Pick<ResolvedConfig, 'partner'> | undefined,
): RegisterRecord {
  return makeRecord({
    partner,
    event,
    url: certificate?.url ?? null,
    reason: reason?.slice(0, 1000) ?? null,
    drift,
    catalogue: catalogueDigest(config?.partner.signing?.scheme),
    version,
  });
}

export interface RecheckAbout {
  readonly keys: readonly KeyObject[];
  readonly signal: AbortSignal;
  readonly strict?: boolean;
  /** Returns a certificate of a partner by its digest; null if it cannot be found, which `missing` explains. */
  readonly certificateOf: (partner: string, digest: string) => Promise<Buffer | null>;
  readonly missing: string;
  readonly now?: () => Date;
}

/** Rechecks one partner. Never rejects: an error becomes the outcome of its partner. */
export async function recheckPartner(
  config: ResolvedConfig,
  { certificate, partner }: Grant,
  { certificateOf, keys, missing: notFound, now = () => new Date(), signal, strict = false }: RecheckAbout,
): Promise<Checked> {
  try {
    const bytes = await certificateOf(partner, certificate);
    if (bytes === null) return { event: 'refused', reason: notFound };
    const options = { keys, at: now(), revisions: KNOWN_REVISIONS, url: config.partner.url, strict };
    const { statement, reasons } = verifyCertificate(bytes, options);
    const [first] = reasons;
    if (statement === null || first !== undefined) return { event: 'drifted', reason: first?.message ?? null };
    const mismatch = schemeMismatch(statement, config.partner);
    if (mismatch !== null) return { event: 'refused', reason: mismatch };
    const missing = missingFeatures(statement, featuresOf(config.partner, config.clientFixtures));
    if (missing.length > 0) return { event: 'refused', reason: `its file does not configure ${missing.join(', ')}` };
    return outcomeOfDrift((await recheckConfigured(config, statement, signal)).drift);
  } catch (error) {
    const event: RegisterEvent = error instanceof HookproofError ? 'refused' : 'harness-error';
    const redactor = createRedactor({ values: namedSecrets(config.secrets) });
    return { event, reason: redactor.text(error instanceof Error ? error.message : String(error)) };
  }
}

/** Finds a partner's certificate by its digest, even in folders that a later run has moved aside. */
export async function certificateIn(folder: string, partner: string, digest: string): Promise<Buffer | null> {
  const earlier = join(folder, EARLIER);
  const asides = await readdir(earlier).catch(() => []);
  const newestFirst = asides.toSorted().toReversed();
  for (const place of [folder, ...newestFirst.map((name) => join(earlier, name))]) {
    const content = await readFile(join(place, partner, CERTIFICATE_FILES.certificate), MAX_CERTIFICATE_BYTES);
    if ('bytes' in content && sha256(content.bytes) === digest) return content.bytes;
  }
  return null;
}

function outcomeOfDrift(drift: readonly Drift[]): Checked {
  const worst = drift.find(({ exit }) => exit === 1) ?? drift[0];
  if (worst === undefined) return { event: 'unchanged', reason: null };
  const { code, message: reason } = worst;
  return code === 'unreachable' ? { event: code, reason } : { event: 'drifted', reason, drift: code };
}

function exitCodeOf(checked: readonly Checked[], onlyHarness: boolean): number {
  const codes = checked.map(({ event }) => EXIT_OF[event as keyof typeof EXIT_OF]);
  const kept = onlyHarness ? codes.filter((code) => code === 4) : codes;
  return PRECEDENCE.find((code) => kept.includes(code)) ?? 0;
}

function print(after: readonly Standing[], checked: ReadonlyMap<string, Checked>, json: boolean): void {
  const own = after.filter(({ partner }) => checked.has(partner));
  if (json) {
    const partners = own.map((standing) => ({ ...checked.get(standing.partner), standing }));
    process.stdout.write(`${JSON.stringify({ schemaVersion: 1, partners }, null, 2)}\n`);
    return;
  }
  const layout = outputLayout();
  const of = (event: RegisterEvent) => [...checked.values()].filter((one) => one.event === event).length;
  const changed = own.filter(({ partner }) => checked.get(partner)?.event !== 'unchanged');
  const lines = [
    ...changed.flatMap((standing) => standingLines(standing, layout)),
    `${counted(checked.size, 'partner')} rechecked: ${of('unchanged')} unchanged, ${of('drifted')} drifted, ` +
      `${of('unreachable')} unreachable, ${of('refused') + of('harness-error')} not checked`,
  ];
  process.stdout.write(`${lines.join('\n')}\n`);
}
