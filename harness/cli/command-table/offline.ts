/** What sends nothing: looking things up, signing and verifying by hand, files to begin with. */
import { type Command, Option } from 'commander';
import { STACKS } from '../../../contract/stacks.ts';
import { type ActionMaker, collect, withRun } from './shared-options.ts';

export function addOfflineCommands(program: Command, action: ActionMaker): void {
  program
    .command('list')
    .description('scenarios, suites, requirements, known faults and error codes')
    .addOption(
      new Option('--what <kind>', 'what to list')
        .choices(['scenarios', 'suites', 'requirements', 'faults', 'error-codes'])
        .default('scenarios'),
    )
    .option('--suite <name>', 'only this suite (repeatable)', collect)
    .option('--json', 'as JSON')
    .option('--schemas', 'the JSON Schemas of notifications, of the result document and of events (ndjson)')
    .action(action(async () => (await import('../commands/list.ts')).listCommand));

  program
    .command('explain')
    .argument('<id>', 'scenario, suite, requirement, known fault, order status or error code')
    .option('--stack <name>', `the fix of a fault for this stack: ${STACKS.join(', ')}`)
    .description('what it means, why it matters, how to mend it')
    .addHelpText(
      'after',
      '\nExamples:\n  hookproof explain signature/missing\n  hookproof explain hmac-raw-body\n  hookproof explain verifies-reserialised-json --stack flask\n  hookproof explain 352-102-S1',
    )
    .action(action(async () => (await import('../commands/explain.ts')).explainCommand));

  program
    .command('sign')
    .argument('[file]', 'file with the body, "-" or nothing for standard input', '-')
    .description('sign a body, offline')
    .option('--secret-file <file>', 'file with the secret (or HOOKPROOF_SECRET)')
    .option('--as <spelling>', 'another spelling, to reproduce a fault; `--as list` shows them', 'base64')
    .addHelpText('after', '\nExample:\n  hookproof sign body.json --secret-file secret.txt')
    .action(action(async () => (await import('../commands/sign.ts')).signCommand));

  program
    .command('verify')
    .argument('[file]', 'file with the body, "-" or nothing for standard input', '-')
    .description('say why a signature does not match, offline')
    .requiredOption('--signature <value>', 'the signature as it came in the header')
    .option('--secret-file <file>', 'file with the secret (or HOOKPROOF_SECRET)')
    .option('--api-key-file <file>', 'file with the API key, to notice when the two were swapped')
    .option('--url <url>', 'the URL of the endpoint, to notice when it was signed too')
    .option('--json', 'as JSON')
    .addHelpText(
      'after',
      '\nExits 0 when it matches and 1 when it does not.\n\nExample:\n  hookproof verify body.json --signature "$HEADER" --secret-file secret.txt',
    )
    .action(action(async () => (await import('../commands/verify.ts')).verifyCommand));

  program
    .command('certs')
    .argument('<dir>', 'folder to write to; made when it is not there')
    .description('write test certificates for HTTPS and mutual TLS')
    .option('--host <name>', 'host or address of the server certificate (repeatable; default: this machine)', collect)
    .option('--days <n>', 'how long they are valid, 1 to 825 (default: 90)')
    .addOption(new Option('--key <kind>', 'kind of the keys').choices(['p256', 'rsa2048']).default('p256'))
    .option('--client-cn <name>', 'common name of the client certificate (default: hookproof test client)')
    .option('--keep-ca-keys', 'write the keys of the two authorities too')
    .option('--force', 'replace files that are already there')
    .addHelpText(
      'after',
      '\nFor trying things out, never for production. It prints how the files are used.\n\nExamples:\n  hookproof certs certs\n  hookproof certs certs --host partner.test --host 127.0.0.1 --days 90 --key rsa2048',
    )
    .action(action(async () => (await import('../commands/certs.ts')).certsCommand));

  program
    .command('init')
    .argument('[file]', 'file to write (default: hookproof.yaml)')
    .description('write a commented hookproof.yaml')
    .option('--force', 'replace the file when it is already there')
    .action(action(async () => (await import('../commands/init.ts')).initCommand));

  const config = program.command('config').description('show the configuration or its schema');

  withRun(config.command('show').argument('[url]'))
    .description('every setting with its source; secrets are never shown')
    .action(action(async () => (await import('../commands/config.ts')).configShowCommand));

  config
    .command('schema')
    .description('the JSON Schema of hookproof.yaml, for editors')
    .action(action(async () => (await import('../commands/config.ts')).configSchemaCommand));
}
