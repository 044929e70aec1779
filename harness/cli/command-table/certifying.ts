/** Certification: one partner or many, and what is done with certificates. */
import type { Command } from 'commander';
import { type ActionMaker, collect, withEndpoint, withRun, withSettings } from './shared-options.ts';

const CERTIFY_HELP = `
The certificate and its evidence go into one folder: hookproof-certificate, or --output-dir. It is refused, with every reason, unless the run
is whole and every scored check is judged and green.

Examples:
  hookproof certify keygen
  hookproof certify https://partner.example/hooks --profile production --key hookproof-certify.pem
  hookproof certify --partners partners --key hookproof-certify.pem
  hookproof certify verify hookproof-certificate/certificate.dsse.json --key hookproof-certify.pub.pem

Exit codes:
  0 certified, 1 the endpoint is in the way, 2 what was asked for or this machine is, 3 no verdict, 4 internal error, 130/143 interrupted`;

export function addCertifyingCommands(program: Command, action: ActionMaker): void {
  const certify = withSettings(
    withRun(program.command('certify').argument('[url]', 'endpoint (or HOOKPROOF_URL)')),
    'certify',
  )
    .description('run a profile against an endpoint, and issue a signed certificate when nothing speaks against it')
    .option('--key <file>', 'private key that signs it (or HOOKPROOF_CERTIFY_KEY); `certify keygen` makes one')
    .option('--passphrase-file <file>', 'passphrase of that key (or HOOKPROOF_CERTIFY_KEY_PASSPHRASE)')
    .option('--valid-for <days>', 'how long it is good, 1d to 398d', '90d')
    .option(
      '--partners <folder>',
      'many partners: one file each, written as hookproof.yaml; --shard is then by partner',
    )
    .option('--only <name>', 'of these, this partner (repeatable)', collect)
    .option('--parallel <n>', 'partners at the same time, 1 to 64 (default: twice the processors, at most 8)')
    .option('--per-host <n>', 'partners at the same time on one host (default: 1)')
    .option('--partner-timeout <duration>', 'for one partner; it then has no verdict (default: 10m)')
    .option('--previous <place>', 'compare with this fleet.json (default: the last one in the output folder)')
    .option('--resume', 'go on with a certification of many that was interrupted')
    .option('--check', 'check the files of all partners and show the plan; sends nothing')
    .option('--json', 'with --partners: a summary as JSON')
    .addHelpText('after', CERTIFY_HELP)
    .enablePositionalOptions()
    .action(action(async () => (await import('../certify/certify.ts')).certifyCommand));

  certify
    .command('keygen')
    .argument('[file]', 'private key to write; the public key goes beside it, as .pub.pem', 'hookproof-certify.pem')
    .description('make the pair of Ed25519 keys that certificates are signed and verified with')
    .option('--passphrase-file <file>', 'encrypt it with this passphrase (or HOOKPROOF_CERTIFY_KEY_PASSPHRASE)')
    .action(action(async () => (await import('../certify/signing-key.ts')).certifyKeygenCommand));

  certify
    .command('verify')
    .argument('<file>', 'certificate')
    .description('say whether a certificate is good, offline')
    .requiredOption('--key <file>', 'public key of the issuer (repeatable during a rotation)', collect)
    .option('--result <file>', 'the result document that lies beside it, to be sure that it is the one')
    .option('--url <url>', 'the endpoint that it has to be for')
    .option('--profile <name>', 'the profile that it has to be for')
    .option('--at <time>', 'judge the dates at this time (default: now)')
    .option('--strict', 'a superseded revision refuses too')
    .option('--json', 'as JSON')
    .addHelpText(
      'after',
      '\nExits 0 when it is good, 1 when it is not, 2 when it could not be looked at.\n\nExample:\n  hookproof certify verify certificate.dsse.json --key hookproof-certify.pub.pem --url https://partner.example/hooks',
    )
    .action(action(async () => (await import('../certify/issued.ts')).certifyVerifyCommand));

  certify
    .command('merge')
    .argument('<folders...>', 'what `certify --partners` has written for each shard')
    .description('join the shards of a certification of many partners')
    .requiredOption('-o, --output-dir <folder>', 'where the whole goes; a folder that is not there yet')
    .option('--previous <place>', 'compare with this fleet.json')
    .option('--json', 'a summary as JSON')
    .addHelpText('after', '\nExits as `certify --partners` would have, and with 2 when they do not belong together.')
    .action(action(async () => (await import('../certify/fleet-folder.ts')).certifyMergeCommand));

  withSettings(
    withEndpoint(
      certify
        .command('recheck')
        .argument('<file>', 'certificate')
        .argument('[url]', 'endpoint (default: that of the certificate)'),
    ),
    'certify',
  )
    .description('send a short canary to a certified endpoint, and report what has drifted')
    .requiredOption('--key <file>', 'public key of the issuer (repeatable during a rotation)', collect)
    .option('--strict', 'a superseded revision counts as drift')
    .option('--json', 'as JSON')
    .addHelpText(
      'after',
      '\nExits 0 when it is as certified, 1 when it has drifted or the certificate is not good, 3 when that could not be told.',
    )
    .action(action(async () => (await import('../certify/issued.ts')).certifyRecheckCommand));
}
