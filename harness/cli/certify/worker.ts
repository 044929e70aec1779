/**
 * A worker process of `certify --partners`: it runs one partner at a time. A hostile endpoint can crash it, fill its
 * heap or block its event loop without affecting other partners. It never holds the key that signs certificates.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { HookproofError } from '../../../contract/hookproof-error.ts';
import { CURRENT_REVISION, certificationRun, loadRevision, refusalsAfter } from '../../certify/index.ts';
import { OUTPUT_FILES } from '../../config/index.ts';
import { factsOf } from '../../fleet.ts';
import { createRedactor, redactDocument, renderHtml, renderJson } from '../../report/index.ts';
import { namedSecrets, runOptions } from '../conduct.ts';
import { repeatedFlags, withoutFolders } from '../repeated-flags.ts';
import { certifiable } from './issuing.ts';
import type { Order, Reply } from './worker-process.ts';

let stop = new AbortController();
let redact = (text: string) => text;

/** Runs orders until the channel to the parent process closes, even if the parent was killed. */
export function serveAsWorker(): Promise<number> {
  const die = (error: unknown) => {
    void send({ kind: 'broken', message: describe(error) }).then(() => process.exit(4));
  };
  process.on('uncaughtException', die);
  process.on('unhandledRejection', die);
  // In a terminal, Ctrl-C reaches every process of the group. The parent decides when this process stops.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => {});
  process.on('message', (order: Order) => void handle(order));
  return new Promise((resolve) => {
    process.on('disconnect', () => {
      resolve(0);
      process.exit(0);
    });
  });
}

async function handle(order: Order): Promise<void> {
  if (order.kind === 'stop') return stop.abort();
  stop = new AbortController();
  await send(
    await certify(order).catch((error): Reply => {
      if (!(error instanceof HookproofError) || error.kind !== 'usage')
        return { kind: 'broken', message: describe(error) };
      return { kind: 'refused', message: describe(error), fix: redact(error.hint) };
    }),
  );
}

async function certify({ config, folder }: Extract<Order, { kind: 'run' }>): Promise<Reply> {
  const redactor = createRedactor({ values: namedSecrets(config.secrets) });
  redact = (text) => redactor.text(text);
  const revision = loadRevision(config.run.revision ?? CURRENT_REVISION);
  const run = await certificationRun({
    ...runOptions(config),
    // The partner gets the report, and repeats a check with its own settings.
    flags: repeatedFlags({ profile: config.run.profile ?? undefined }),
    addresses: certifiable(config),
    revision,
    signal: stop.signal,
    onSignature: (signature) => redactor.addSignature(signature),
  });
  const advice = run.document.advice.map(withoutFolders);
  const document = redactDocument({ ...run.document, advice }, redactor);
  const refusals = refusalsAfter({ ...run, document }, revision, config.run.evidenceLevel);
  await writeFile(join(folder, OUTPUT_FILES.json), renderJson(document), { flag: 'wx' });
  await writeFile(join(folder, OUTPUT_FILES.html), await renderHtml(document), { flag: 'wx' });
  const files = [OUTPUT_FILES.json, OUTPUT_FILES.html];
  return { kind: 'done', facts: factsOf(document), refusals, identity: run.identities[0] ?? null, files };
}

function describe(error: unknown): string {
  return redact(error instanceof Error ? error.message : String(error)).slice(0, 500);
}

function send(reply: Reply): Promise<void> {
  return new Promise((resolve) => {
    process.send?.(reply, undefined, {}, () => resolve());
  });
}
