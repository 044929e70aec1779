/** `hookproof certify`: runs a profile, and issues a certificate if every check passes. */
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { HookproofError } from '../../../contract/hookproof-error.ts';
import {
  CURRENT_REVISION,
  certificationRun,
  exitCodeOfRefusals,
  keyIdOf,
  loadRevision,
  refusalsAfter,
} from '../../certify/index.ts';
import { type ConfigFlags, daysOfFlag, OUTPUT_FILES, type ResolvedConfig } from '../../config/index.ts';
import { type Layout, redactDocument, renderJson } from '../../report/index.ts';
import { commandConfig } from '../command-input.ts';
import { askingOnTerminal, prepareRun, report } from '../conduct.ts';
import { confirmSending } from '../confirm-sending.ts';
import { repeatedFlags, withoutFolders } from '../repeated-flags.ts';
import { interruptible } from '../stop-signals.ts';
import { flagName, shownPath } from '../terminal.ts';
import { CERTIFICATE_FILES, CERTIFICATE_FOLDER, exists, fileExists } from './certify-files.ts';
import type { FleetFlags } from './certify-fleet.ts';
import { certifiable, configurationRefusals, writeCertificate } from './issuing.ts';
import { notCertified, print } from './output.ts';
import { type KeyFlags, signingKey } from './signing-key.ts';

interface CertifyFlags extends ConfigFlags, KeyFlags, Partial<FleetFlags> {
  readonly config?: string;
  readonly validFor: string;
  readonly yes?: boolean;
}

export async function certifyCommand(url: string | undefined, flags: CertifyFlags): Promise<number> {
  const { config: configFile, key, passphraseFile, validFor, yes, ...both } = flags;
  const { partners, only, parallel, perHost, partnerTimeout, previous, resume, check, json, ...rest } = both;
  const { register, exitOn, ...given } = rest;
  const lifetime = daysOfFlag('--valid-for', validFor);
  const many = { only, parallel, perHost, partnerTimeout, previous, resume, check, json, register, exitOn };
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
  for (const place of Object.values(places)) if (await exists(place)) throw fileExists(shownPath(place));
  const revision = loadRevision(config.run.revision ?? CURRENT_REVISION);
  await confirmSending(config, yes);

  const reportLine = ({ safe }: Layout) => `  report       ${safe(shownPath(join(folder, OUTPUT_FILES.html)))}`;
  const interruption = interruptible();
  try {
    const { options, ...outputs } = await prepareRun(config, interruption.signal);
    const certified = await certificationRun({
      ...options,
      flags: withoutFolders(repeatedFlags(flags)),
      advice: options.advice?.map(withoutFolders) ?? [],
      addresses: certifiable(config),
      evidenceSources: askingOnTerminal(options.evidenceSources),
    });
    const { document, identities } = certified;
    await report(config, { ...outputs, document });
    const redacted = redactDocument(document, outputs.redactor);
    const refusals = refusalsAfter({ ...certified, document: redacted }, revision, config.run.evidenceLevel);
    const [identity] = identities;
    if (refusals.length > 0 || identity == null) {
      print(config, (layout) => [...notCertified(refusals)(layout), reportLine(layout)]);
      return interruption.exitCode() ?? exitCodeOfRefusals(refusals);
    }
    const saved = await readFile(join(folder, OUTPUT_FILES.json));
    if (!saved.equals(Buffer.from(renderJson(redacted)))) throw documentChanged(folder);
    const { expiresAt } = await writeCertificate(folder, {
      config,
      document: redacted,
      documentBytes: saved,
      identity,
      validForMs: lifetime,
      privateKey,
    });
    print(config, (layout) => [
      `${layout.sign('pass')} ${layout.paint('CERTIFIED', 'bold', 'green')}  ` +
        `${config.run.profile}, revision ${revision.number}${inScheme(config)}, until ${expiresAt.slice(0, 10)}`,
      `  certificate  ${layout.safe(shownPath(places.certificate))}`,
      `  evidence     ${layout.safe(shownPath(join(folder, OUTPUT_FILES.json)))}, ` +
        `${CERTIFICATE_FILES.configuration}: keep them together`,
      reportLine(layout),
      `  key id       ${keyIdOf(privateKey)}`,
    ]);
    return 0;
  } finally {
    interruption.dispose();
  }
}

function refuseFlagsOfMany(flags: Partial<FleetFlags>): void {
  const given = Object.entries(flags).flatMap(([name, value]) => (value === undefined ? [] : `\`${flagName(name)}\``));
  if (given.length === 0) return;
  throw new HookproofError('CERTIFY_FLAGS', `${given.join(', ')} can only be used with \`--partners\``, {
    hint: 'Give the folder of the partners with `--partners`, or remove the flag.',
  });
}

function inScheme({ partner }: ResolvedConfig): string {
  const { scheme } = partner.signing ?? {};
  return scheme === undefined ? '' : `, in the scheme ${scheme.name}`;
}

/** Throws `CERTIFY_REFUSED` with every reason that rules out a certificate before anything is sent. */
function refuseBefore(config: ResolvedConfig): void {
  const refusals = configurationRefusals(config);
  if (refusals.length === 0) return;
  const list = refusals.map(({ message, fix }) => `\n  ${message}\n    ${fix}`).join('');
  throw new HookproofError('CERTIFY_REFUSED', `no certificate can be issued:${list}`, { hint: 'Nothing was sent.' });
}

/** Adds reporters that write the result document and the HTML report to the folder of the certificate. */
function withFolder(config: ResolvedConfig): { config: ResolvedConfig; folder: string } {
  if (config.run.outputDir !== null) return { config, folder: config.run.outputDir };
  const folder = resolve(CERTIFICATE_FOLDER);
  const saved = (['json', 'html'] as const).map((name) => ({ name, file: join(folder, OUTPUT_FILES[name]) }));
  return { config: { ...config, reporters: [...config.reporters, ...saved] }, folder };
}

function documentChanged(folder: string): HookproofError {
  const message = `${OUTPUT_FILES.json} in ${shownPath(folder)} was changed after it was written`;
  return new HookproofError('CERTIFY_DOCUMENT_CHANGED', message, {
    hint: 'Another command may write to the same folder. Give each its own with `--output-dir`.',
  });
}
