/** What several commands have in common. Nothing is loaded here before it is needed. */
import type { Command } from 'commander';

/** As `harness/diagnose/stack.ts` has them, which a test holds against this: here nothing is loaded before it is needed. */
export const STACKS = 'express, fastify, django, flask, spring, rails, laravel, go, dotnet';

/** Those of `--reporter`. */
export const REPORTERS = 'human, html, json, junit, ctrf, github, ndjson, badge';

type Action = (...given: never[]) => Promise<number>;

/** Makes what commander calls of what loads the command: the command is loaded when it is called, and its exit code is that of the program. */
export type ActionMaker = (load: () => Promise<Action>) => (...given: unknown[]) => Promise<void>;

export const EXIT_CODES = `
Exit codes:
  0 conformant, 1 failures, 2 usage or configuration error, 3 no verdict, 4 internal error, 130/143 interrupted`;

export const ALLOW_PRIVATE =
  'a host that may have a loopback or private address (repeatable); without it only public ones are delivered to';

/** For an option that can be given several times. */
export function collect(value: string, before: string[] = []): string[] {
  return [...before, value];
}

/** The options that say how an endpoint is reached and with which credentials: the same in every command that sends. */
export function withPartnerOptions(command: Command): Command {
  return command
    .option('--config <file>', 'configuration file (default: hookproof.yaml, when there is one)')
    .option(
      '--secret-file <file>',
      'file with the HMAC secret, "-" for standard input (or HOOKPROOF_SECRET); turns HMAC on',
    )
    .option('--signature-header <name>', 'header of the signature (default: X-Service-Signature)')
    .option('--api-key-file <file>', 'file with the API key (or HOOKPROOF_API_KEY); turns the API key on')
    .option('--api-key-header <name>', 'header of the API key (default: X-API-Key)')
    .option('--header <line>', "custom header on every delivery, 'Name: value' (repeatable)", collect)
    .option('--client-cert <file>', 'client certificate, PEM or DER (or HOOKPROOF_CLIENT_CERT)')
    .option('--client-key <file>', 'its private key, PEM or DER (or HOOKPROOF_CLIENT_KEY)')
    .option('--ca <file>', "authorities to trust beside the system's, PEM or DER (or HOOKPROOF_CA)")
    .option('--timeout <duration>', 'for one delivery: 500ms, 10s, 1m (default: 10s)');
}

/** What a run takes, beside how the endpoint is reached. */
export function withRunOptions(command: Command): Command {
  return command
    .option('--profile <name>', 'features that must be on: basic, staging, production')
    .option('--revision <n>', 'with a profile: the revision of the catalogue that is scored (default: the newest)')
    .option('--suite <name>', 'only this suite (repeatable)', collect)
    .option('--scenario <id>', 'only this scenario (repeatable)', collect)
    .option('--grep <pattern>', 'only what matches in id or title (repeatable)', collect)
    .option('--concurrency <n>', 'deliveries in flight, 1 to 64 (default: 8)')
    .option('--recovery <duration>', 'how long to wait for a receiver that went down (default: 10s)')
    .option('--max-time <duration>', 'end the run after this (default: by the number of checks and --timeout)')
    .option('--seed <text>', 'repeat the values of an earlier run')
    .option('--shard <i/n>', 'run the i-th of n parts')
    .option('--strict', 'warnings fail')
    .option('--baseline <file>', 'known failures, which do not fail the run; `hookproof baseline update` writes it')
    .option('--stack <name>', `tell fixes for this stack: ${STACKS} (default: guessed from the answers)`)
    .option('--bail', 'stop after the first failure')
    .option('--evidence', 'keep the exchanges of passes too')
    .option('--reporter <name[=file]>', `${REPORTERS}; "-" is standard output (repeatable)`, collect)
    .option('-o, --output-dir <folder>', 'write run.json, junit.xml and report.html there');
}
