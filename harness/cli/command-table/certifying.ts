/** The commands that certify one partner or many, and those for issued certificates. */
import type { Command } from 'commander';
import {
  type ActionMaker,
  collect,
  type FlagTable,
  OUTPUT_OF_FLEET,
  withEndpoint,
  withFlags,
  withRun,
  withSettings,
  withYes,
} from './shared-options.ts';

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

const REGISTER = 'folder or postgres:// URL of the register (or HOOKPROOF_REGISTER; default: the output folder)';
const EXIT_ON =
  'what decides the exit code: `partners`, the most severe outcome (default), or `harness`, 0 if all were judged';
const MERGE_HELP = `
Exits with the codes of \`certify --partners\`; 2 also if the shards do not belong together or were changed.`;

const RECHECK_HELP = `
Exits 0 if nothing changed, 1 if something did or the certificate is not valid, 3 if there is no verdict.`;

/** Flags of `run` that rule out a certificate. They are accepted so that the error can say why. */
const REFUSED: ReadonlySet<string> = new Set(['--suite', '--scenario', '--grep', '--bail', '--baseline']);

const CERTIFY_FLAGS: FlagTable = {
  '--key <file>':
    'private key to sign the conformance certificate with (or HOOKPROOF_CERTIFY_KEY); `certify keygen` generates one',
  '--passphrase-file <file>': 'file with the passphrase of that key (or HOOKPROOF_CERTIFY_KEY_PASSPHRASE)',
  '--valid-for <duration>': ['validity of the conformance certificate, 1d to 398d', '90d'],
  '--partners <folder>':
    'certify many partners: a folder with one file for each, in the format of hookproof.yaml; --shard then ' +
    'splits the partners',
  '--only <name>': ['certify only this partner from the folder (repeatable)', collect],
  '--parallel <n>': 'partners to certify at the same time, 1 to 64 (default: two per CPU, at most 8)',
  '--per-host <n>': 'partners to certify at the same time on one host (default: 1)',
  '--partner-timeout <duration>':
    'time limit for one partner; a partner that exceeds it gets no verdict (default: 10m)',
  '--previous <file>': 'compare with this fleet.json (default: the latest in the output folder)',
  '--resume': 'continue an interrupted certification of many partners',
  '--check': 'check the files of all partners and print the plan; send nothing',
  '--json': 'with --partners: print a summary as JSON',
  '--register <place>': REGISTER,
  '--exit-on <what>': EXIT_ON,
};

const VERIFY_FLAGS: FlagTable = {
  '--result <file>': 'the JSON report that belongs to the certificate, to check that the two match',
  '--url <url>': 'require that the certificate is for this endpoint',
  '--profile <name>': 'require that the certificate is for this profile',
  '--scheme <name>': 'require that the certificate is for this scheme (default: that of the specification)',
  '--evidence-level <n>': 'require that the certificate has at least this evidence level',
  '--at <time>': 'check validity at this time (default: now)',
  '--strict': 'also reject a superseded revision',
  '--json': 'print JSON',
};

export function addCertifyingCommands(program: Command, action: ActionMaker): void {
  const certify = program.command('certify').argument('[url]', 'endpoint (or HOOKPROOF_URL)');
  withFlags(withSettings(withYes(withRun(certify)), 'certify'), CERTIFY_FLAGS)
    .description('run a profile against an endpoint, and issue a signed conformance certificate if every check passes')
    .addHelpText('after', CERTIFY_HELP)
    .enablePositionalOptions()
    .action(action(async () => (await import('../certify/certify.ts')).certifyCommand));
  for (const option of certify.options) if (REFUSED.has(option.long ?? '')) option.hideHelp();
  addKeyCommand(certify, action);
  addCertificateCommands(certify, action);
}

function addKeyCommand(certify: Command, action: ActionMaker): void {
  const written = 'private key to write; the public key is written next to it, as .pub.pem';
  const passphrase = 'file with the passphrase to encrypt it with (or HOOKPROOF_CERTIFY_KEY_PASSPHRASE)';
  certify
    .command('keygen')
    .argument('[file]', written, 'hookproof-certify.pem')
    .description('generate the Ed25519 key pair that signs and verifies certificates')
    .option('--passphrase-file <file>', passphrase)
    .action(action(async () => (await import('../certify/signing-key.ts')).certifyKeygenCommand));
}

/** Requires the public key that verifies certificates. */
function withIssuer(command: Command): Command {
  return command.requiredOption('--key <file>', 'public key of the issuer (repeatable, for key rotation)', collect);
}

function addCertificateCommands(certify: Command, action: ActionMaker): void {
  withFlags(withIssuer(certify.command('verify').argument('<file>', 'certificate')), VERIFY_FLAGS)
    .description('check whether a certificate is valid, offline')
    .addHelpText('after', VERIFY_HELP)
    .action(action(async () => (await import('../certify/issued.ts')).certifyVerifyCommand));

  const folders = 'output folders of `certify --partners`, one per shard';
  withIssuer(certify.command('merge').argument('<folders...>', folders))
    .description('verify the certificates of the shards of a certification of many partners, and join the shards')
    .requiredOption('-o, --output-dir <folder>', 'folder for the result; it must not exist yet')
    .option('--previous <file>', 'compare with this fleet.json')
    .option('--register <place>', REGISTER)
    .option('--exit-on <what>', EXIT_ON)
    .option('--json', 'print a summary as JSON')
    .addHelpText('after', MERGE_HELP)
    .action(action(async () => (await import('../certify/fleet-folder.ts')).certifyMergeCommand));

  const recheck = certify
    .command('recheck')
    .argument('[file]', 'certificate')
    .argument('[url]', 'endpoint (default: that of the certificate)');
  withIssuer(withSettings(withYes(withEndpoint(recheck)), 'certify'))
    .description('send a few deliveries to a certified endpoint, and report what has changed')
    .option('--partners <folder>', 'recheck every partner that may get traffic, with the files in this folder')
    .option('--only <name>', 'recheck only this partner from the folder (repeatable)', collect)
    .option('--parallel <n>', 'partners to recheck at the same time, 1 to 64 (default: 8)')
    .option('-o, --output-dir <folder>', OUTPUT_OF_FLEET)
    .option('--register <place>', REGISTER)
    .option('--exit-on <what>', EXIT_ON)
    .option('--strict', 'report a superseded revision as a change too')
    .option('--json', 'print JSON')
    .addHelpText('after', RECHECK_HELP)
    .action(action(async () => (await import('../certify/issued.ts')).certifyRecheckCommand));
}
