/** Certification: one partner or many, and the commands for certificates. */
import type { Command } from 'commander';
import { type ActionMaker, collect, withEndpoint, withRun, withSettings, withYes } from './shared-options.ts';

const CERTIFY_HELP = `
The certificate, its evidence and an HTML report are written to one folder: hookproof-certificate, or --output-dir.
A certificate is issued only if the run is complete and every scored check passes. Otherwise every reason is listed.

Examples:
  hookproof certify keygen
  hookproof certify https://partner.example/hooks --profile production --key hookproof-certify.pem
  hookproof certify --partners partners --key hookproof-certify.pem
  hookproof certify verify hookproof-certificate/certificate.dsse.json --key hookproof-certify.pub.pem

Exit codes:
  0 certified, 1 not certified because of the endpoint, 2 not certified because of the options or this machine, 3 no
  verdict, 4 internal error, 130/143 interrupted`;

const VERIFY_HELP = `
Exits 0 if it is valid, 1 if it is not, 2 if it could not be checked.

Example:
  hookproof certify verify certificate.dsse.json --key hookproof-certify.pub.pem --url https://partner.example/hooks`;

/** Flags of a run that prevent a certificate. They are known, so that the refusal can say why. */
const REFUSED: ReadonlySet<string> = new Set(['--suite', '--scenario', '--grep', '--bail', '--baseline']);

export function addCertifyingCommands(program: Command, action: ActionMaker): void {
  const certify = withSettings(
    withYes(withRun(program.command('certify').argument('[url]', 'endpoint (or HOOKPROOF_URL)'))),
    'certify',
  )
    .description('run a profile against an endpoint, and issue a signed conformance certificate if every check passes')
    .option(
      '--key <file>',
      'private key to sign the conformance certificate with (or HOOKPROOF_CERTIFY_KEY); `certify keygen` generates one',
    )
    .option('--passphrase-file <file>', 'file with the passphrase of that key (or HOOKPROOF_CERTIFY_KEY_PASSPHRASE)')
    .option('--valid-for <duration>', 'validity of the conformance certificate, 1d to 398d', '90d')
    .option(
      '--partners <folder>',
      'certify many partners: a folder with one file for each, in the format of hookproof.yaml; --shard then ' +
        'splits the partners',
    )
    .option('--only <name>', 'certify only this partner from the folder (repeatable)', collect)
    .option('--parallel <n>', 'partners to certify at the same time, 1 to 64 (default: two per CPU, at most 8)')
    .option('--per-host <n>', 'partners to certify at the same time on one host (default: 1)')
    .option(
      '--partner-timeout <duration>',
      'time limit for one partner; a partner that exceeds it gets no verdict (default: 10m)',
    )
    .option('--previous <file>', 'compare with this fleet.json (default: the latest in the output folder)')
    .option('--resume', 'continue an interrupted certification of many partners')
    .option('--check', 'check the files of all partners and print the plan; send nothing')
    .option('--json', 'with --partners: print a summary as JSON')
    .addHelpText('after', CERTIFY_HELP)
    .enablePositionalOptions()
    .action(action(async () => (await import('../certify/certify.ts')).certifyCommand));

  for (const option of certify.options) if (REFUSED.has(option.long ?? '')) option.hideHelp();

  certify
    .command('keygen')
    .argument(
      '[file]',
      'private key to write; the public key is written next to it, as .pub.pem',
      'hookproof-certify.pem',
    )
    .description('generate the Ed25519 key pair that signs and verifies certificates')
    .option(
      '--passphrase-file <file>',
      'file with the passphrase to encrypt it with (or HOOKPROOF_CERTIFY_KEY_PASSPHRASE)',
    )
    .action(action(async () => (await import('../certify/signing-key.ts')).certifyKeygenCommand));

  certify
    .command('verify')
    .argument('<file>', 'certificate')
    .description('check whether a certificate is valid, offline')
    .requiredOption('--key <file>', 'public key of the issuer (repeatable, for key rotation)', collect)
    .option('--result <file>', 'the JSON report that belongs to the certificate, to check that the two match')
    .option('--url <url>', 'require that the certificate is for this endpoint')
    .option('--profile <name>', 'require that the certificate is for this profile')
    .option('--evidence-level <n>', 'require that the certificate has at least this evidence level')
    .option('--at <time>', 'check validity at this time (default: now)')
    .option('--strict', 'also reject a superseded revision')
    .option('--json', 'print JSON')
    .addHelpText('after', VERIFY_HELP)
    .action(action(async () => (await import('../certify/issued.ts')).certifyVerifyCommand));

  certify
    .command('merge')
    .argument('<folders...>', 'output folders of `certify --partners`, one per shard')
    .description('verify the certificates of the shards of a certification of many partners, and join the shards')
    .requiredOption('--key <file>', 'public key of the issuer (repeatable, for key rotation)', collect)
    .requiredOption('-o, --output-dir <folder>', 'folder for the result; it must not exist yet')
    .option('--previous <file>', 'compare with this fleet.json')
    .option('--json', 'print a summary as JSON')
    .addHelpText(
      'after',
      '\nExits with the codes of `certify --partners`; 2 also if the shards do not belong together or were changed.',
    )
    .action(action(async () => (await import('../certify/fleet-folder.ts')).certifyMergeCommand));

  withSettings(
    withYes(
      withEndpoint(
        certify
          .command('recheck')
          .argument('<file>', 'certificate')
          .argument('[url]', 'endpoint (default: that of the certificate)'),
      ),
    ),
    'certify',
  )
    .description('send a few deliveries to a certified endpoint, and report what has changed')
    .requiredOption('--key <file>', 'public key of the issuer (repeatable, for key rotation)', collect)
    .option('--strict', 'report a superseded revision as a change too')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nExits 0 if nothing changed, 1 if something did or the certificate is not valid, 3 if there is no verdict.',
    )
    .action(action(async () => (await import('../certify/issued.ts')).certifyRecheckCommand));
}
