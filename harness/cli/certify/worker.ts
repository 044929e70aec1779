/**
 * The process that runs one partner at a time. What a hostile endpoint can do to it (a crash, a heap that is full, a loop without end) ends
 * with this process and is none of the others' business. It holds no key that certificates are signed with.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { HookproofError } from '../../../contract/hookproof-error.ts';
import { CURRENT_REVISION, certificationRun, loadRevision, refusalsAfter } from '../../certify/index.ts';
import { OUTPUT_FILES, type ResolvedConfig } from '../../config/index.ts';
import { factsOf } from '../../fleet.ts';
import { createRedactor, redactDocument, renderHtml, renderJson } from '../../report/index.ts';
import { namedSecrets, runOptions } from '../conduct.ts';
import { certifiable } from './output.ts';
import type { Order, Reply } from './worker-process.ts';

let stop = new AbortController();
let clean = (text: string) => text;

function say(reply: Reply): Promise<void> {
  return new Promise((resolve) => {
    process.send?.(reply, undefined, {}, () => resolve());
  });
}

function describe(error: unknown): string {
  return clean(error instanceof Error ? error.message : String(error)).slice(0, 500);
}

async function certify(config: ResolvedConfig, folder: string): Promise<Reply> {
  const redactor = createRedactor({ values: namedSecrets(config.secrets) });
  clean = (text) => redactor.text(text);
  const revision = loadRevision(config.run.revision ?? CURRENT_REVISION);
  const run = await certificationRun({
    ...runOptions(config),
    addresses: certifiable(config),
    revision,
    signal: stop.signal,
    onSignature: (signature) => redactor.addSignature(signature),
  });
  const document = redactDocument(run.document, redactor);
  const refusals = refusalsAfter({ ...run, document }, revision);
  await writeFile(join(folder, OUTPUT_FILES.json), renderJson(document), { flag: 'wx' });
  await writeFile(join(folder, OUTPUT_FILES.html), await renderHtml(document), { flag: 'wx' });
  const files = [OUTPUT_FILES.json, OUTPUT_FILES.html];
  return { kind: 'done', facts: factsOf(document), refusals, identity: run.identities[0] ?? null, files };
}

async function obey(order: Order): Promise<void> {
  if (order.kind === 'stop') return stop.abort();
  stop = new AbortController();
  await say(
    await certify(order.config, order.folder).catch((error): Reply => {
      if (!(error instanceof HookproofError) || error.kind !== 'usage')
        return { kind: 'broken', message: describe(error) };
      return { kind: 'refused', message: describe(error), fix: clean(error.hint) };
    }),
  );
}

/** Serves until the channel closes, which it does when the process that asks is gone, however it went. */
export function serveAsWorker(): Promise<number> {
  const die = (error: unknown) => {
    void say({ kind: 'broken', message: describe(error) }).then(() => process.exit(4));
  };
  process.on('uncaughtException', die);
  process.on('unhandledRejection', die);
  // Ctrl-C in a terminal reaches every process of the group. The one that asks decides what becomes of it.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => {});
  process.on('message', (order: Order) => void obey(order));
  return new Promise((resolve) => {
    process.on('disconnect', () => {
      resolve(0);
      process.exit(0);
    });
  });
}
