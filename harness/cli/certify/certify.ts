/** `hookproof certify`: runs a profile, and issues a certificate when nothing speaks against it. */
import { mkdir, readFile, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { HookproofError } from '../../../contract/hookproof-error.ts';
import {
  type CertificationRun,
  CURRENT_REVISION,
  certificationRun,
  configurationBytes,
  exitCodeOfRefusals,
  issueCertificate,
  keyIdOf,
  loadRevision,
  refusalsAfter,
  refusalsBefore,
} from '../../certify/index.ts';
import { type ConfigFlags, OUTPUT_FILES, type ResolvedConfig } from '../../config/index.ts';
import { redactDocument, renderJson } from '../../report/index.ts';
import { featuresOf } from '../../run/index.ts';
import { commandConfig } from '../command-config.ts';
import { perform, report } from '../conduct.ts';
import { flagName } from '../flag-name.ts';
import { interruptible } from '../stop-signals.ts';
import { CERTIFICATE_FILES, CERTIFICATE_FOLDER, exists, inTheWay, writeNew } from './certify-files.ts';
import type { FleetFlags } from './certify-fleet.ts';
import { certifiable, notCertified, print, shownPath } from './output.ts';
import { type KeyFlags, signingKey } from './signing-key.ts';

interface CertifyFlags extends ConfigFlags, KeyFlags, Partial<FleetFlags> {
  readonly config?: string;
  readonly validFor: string;
}

const DAY_MS = 86_400_000;
/** As long as a public authority may vouch for a server, and no longer. */
const MOST_DAYS = 398;

function validForMs(text: string): number {
  const days = /^(\d{1,3})d$/.test(text) ? Number.parseInt(text, 10) : Number.NaN;
  if (days >= 1 && days <= MOST_DAYS) return days * DAY_MS;
  throw new HookproofError('CERTIFY_VALID_FOR', '--valid-for is not a number of days', {
    hint: `Write it with its unit, from 1d to ${MOST_DAYS}d: --valid-for 90d.`,
  });
}

/** All that is wrong with what was asked for, before anything is sent. */
function refuseBefore(config: ResolvedConfig): void {
  const { run, partner, clientFixtures } = config;
  const refusals = refusalsBefore({
    profile: run.profile,
    features: featuresOf(partner, clientFixtures),
    selected: [...run.suites, ...run.scenarios, ...run.greps],
    shard: run.shard !== null,
    bail: run.bail,
    baseline: run.baseline !== null,
    extraCa: partner.tls?.ca !== undefined,
    environment: process.env,
  });
  if (refusals.length === 0) return;
  const list = refusals.map(({ message, fix }) => `\n  ${message}\n    ${fix}`).join('');
  throw new HookproofError('CERTIFY_REFUSED', `no certificate can come of this:${list}`, {
    hint: 'Nothing was sent. All reasons are listed, so one pass can mend them.',
  });
}

/** Into the folder of the certificate go the result document and whatever else was asked for. */
function withFolder(config: ResolvedConfig): { config: ResolvedConfig; folder: string } {
  if (config.run.outputDir !== null) return { config, folder: config.run.outputDir };
  const folder = resolve(CERTIFICATE_FOLDER);
  const saved = { name: 'json', file: join(folder, OUTPUT_FILES.json) } as const;
  return { config: { ...config, reporters: [...config.reporters, saved] }, folder };
}

function refuseFlagsOfMany(flags: Partial<FleetFlags>): void {
  const given = Object.entries(flags).flatMap(([name, value]) => (value === undefined ? [] : flagName(name)));
  if (given.length === 0) return;
  throw new HookproofError('CERTIFY_FLAGS', `${given.join(', ')} is for many partners`, {
    hint: 'Name their folder with --partners, or leave it out.',
  });
}

export async function certifyCommand(url: string | undefined, flags: CertifyFlags): Promise<number> {
  const { config: configFile, key, passphraseFile, validFor, ...both } = flags;
  const { partners, only, parallel, perHost, partnerTimeout, previous, resume, check, json, ...given } = both;
  const lifetime = validForMs(validFor);
  const many = { only, parallel, perHost, partnerTimeout, previous, resume, check, json };
  const keyFlags = { ...(key && { key }), ...(passphraseFile && { passphraseFile }) };
  if (partners !== undefined) {
    const { certifyFleet } = await import('./certify-fleet.ts');
    const own = {
      ...given,
      ...(url !== undefined && { url }),
      ...(configFile !== undefined && { config: configFile }),
    };
    return certifyFleet({ partners, ...many }, own, keyFlags, lifetime);
  }
  refuseFlagsOfMany(many);
  const { config, folder } = withFolder(await commandConfig(url, configFile, given));
  refuseBefore(config);
  const privateKey = await signingKey(keyFlags);
  const places = {
    certificate: join(folder, CERTIFICATE_FILES.certificate),
    configuration: join(folder, CERTIFICATE_FILES.configuration),
  };
  for (const place of Object.values(places)) if (await exists(place)) throw inTheWay(shownPath(place));
  const revision = loadRevision(config.run.revision ?? CURRENT_REVISION);

  const interruption = interruptible();
  try {
    let watched: Omit<CertificationRun, 'document'> | undefined;
    const performed = await perform(config, interruption, async (options) => {
      const { document, ...rest } = await certificationRun({ ...options, addresses: certifiable(config) });
      watched = rest;
      return document;
    });
    await report(config, performed);
    const { document, redactor } = performed;
    if (watched === undefined) throw new TypeError('the run was not watched');
    const redacted = redactDocument(document, redactor);
    const refusals = refusalsAfter({ document: redacted, ...watched }, revision);
    const [identity] = watched.identities;
    if (refusals.length > 0 || identity == null) {
      print(config, notCertified(refusals));
      return interruption.exitCode() ?? exitCodeOfRefusals(refusals);
    }
    const saved = await readFile(join(folder, OUTPUT_FILES.json));
    if (!saved.equals(Buffer.from(renderJson(redacted)))) throw changed(folder);
    const settings = configurationBytes(config.settings);
    const issuedAt = new Date();
    const certificate = issueCertificate({
      document: redacted,
      documentBytes: saved,
      url: config.partner.url,
      leafKey: identity.leafKey,
      trust: identity.publiclyTrusted ? 'public' : 'configured',
      configurationBytes: settings,
      issuedAt,
      validForMs: lifetime,
      privateKey,
    });
    await mkdir(folder, { recursive: true });
    await writeNew(places.configuration, settings);
    await writeNew(places.certificate, certificate).catch(async (error) => {
      await rm(places.configuration, { force: true });
      throw error;
    });
    const until = new Date(issuedAt.getTime() + lifetime).toISOString().slice(0, 10);
    print(config, (layout) => [
      `${layout.sign('pass')} ${layout.paint('CERTIFIED', 'bold', 'green')}  ${config.run.profile}, revision ${revision.number}, until ${until}`,
      `  certificate  ${layout.safe(shownPath(places.certificate))}`,
      `  evidence     ${layout.safe(shownPath(join(folder, OUTPUT_FILES.json)))}, ${CERTIFICATE_FILES.configuration}: keep them together`,
      `  key id       ${keyIdOf(privateKey)}`,
    ]);
    return 0;
  } finally {
    interruption.dispose();
  }
}

function changed(folder: string): HookproofError {
  return new HookproofError(
    'CERTIFY_DOCUMENT_CHANGED',
    `${OUTPUT_FILES.json} in ${shownPath(folder)} is not what was written a moment ago`,
    {
      hint: 'Two commands write to the same folder. Give each its own with --output-dir.',
    },
  );
}
