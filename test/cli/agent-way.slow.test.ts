/**
 * The workflow of a coding agent as SKILL.md describes it, with the client of the official SDK: run, fix the first
 * cause, call `run_failed`, and finally run everything. The mistake that the server names decides what is fixed.
 */
import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { recipeOf, type Stack, titleOfStack } from '../../contract/index.ts';
import {
  copyRecipe,
  type RecipeProcess,
  removeCopy,
  sourceOf,
  startRecipe,
  whyNotRun,
} from '../recipes/recipe-process.ts';
import { markdownTable } from '../setup/markdown-table.ts';
import { inTurn } from '../setup/turn.ts';
import { type StartedMcp, startedMcp } from './mcp-client.ts';

const SECRET = randomBytes(32).toString('base64');

/** A faulty line of a receiver, the correct line, and the mistake whose fix changes one to the other. */
interface Repair {
  readonly mistake: RegExp;
  readonly wrong: string;
  readonly right: string;
}

const CASES: readonly { readonly stack: Stack; readonly repairs: readonly Repair[] }[] = [
  {
    stack: 'express',
    repairs: [
      {
        mistake: /^reserialised-body$/,
        wrong: '.update(JSON.stringify(JSON.parse(rawBody)))',
        right: '.update(rawBody)',
      },
    ],
  },
  {
    stack: 'fastify',
    repairs: [
      {
        mistake: /^absent-signature-passes$/,
        wrong: "matches.includes(true) || !headers['x-service-signature']",
        right: 'matches.includes(true)',
      },
    ],
  },
  {
    stack: 'flask',
    repairs: [
      {
        mistake: /^absent-signature-passes$/,
        wrong: 'if request.headers.get("X-Service-Signature") and not is_authentic(request.headers, body):',
        right: 'if not is_authentic(request.headers, body):',
      },
      { mistake: /^payload-not-validated$/, wrong: 'except KeyError:', right: 'except ValueError:' },
    ],
  },
  {
    stack: 'fastapi',
    repairs: [{ mistake: /^wrong-refusal-status$/, wrong: 'HTTPException(403)', right: 'HTTPException(401)' }],
  },
  {
    stack: 'go',
    repairs: [
      {
        mistake: /^secret-taken-otherwise$|./,
        wrong: 'mac.Sum(nil))[:len(header.Get("X-Service-Signature"))%45]',
        right: 'mac.Sum(nil))',
      },
    ],
  },
  {
    stack: 'ruby',
    repairs: [{ mistake: /^wrong-success-status$/, wrong: "answer(202, 'ok')", right: "answer(200, 'ok')" }],
  },
];

const clean: (() => unknown)[] = [];
const rows: (string | number)[][] = [];
afterEach(async () => {
  for (const one of clean.splice(0).toReversed()) await one();
});
afterAll(() => console.log(markdownTable(['receiver', 'language', 'mistakes', 'calls', 'bytes of text'], rows)));

/** Starts a receiver with all faulty lines. `correct` fixes one of them and restarts the receiver. */
async function faultyReceiver(stack: Stack, repairs: readonly Repair[]) {
  const [file = ''] = recipeOf(stack).files;
  let source = sourceOf(stack);
  for (const { right, wrong } of repairs) {
    expect(source.split(right)).toHaveLength(2);
    source = source.replace(right, () => wrong);
  }
  const folder = copyRecipe(stack, source);
  clean.push(() => removeCopy(folder));
  let process: RecipeProcess = await startRecipe(stack, { folder, secret: SECRET });
  clean.push(() => process.kill());
  const { url } = process;
  const correct = async ({ right, wrong }: Repair) => {
    const path = join(folder, file);
    writeFileSync(
      path,
      readFileSync(path, 'utf8').replace(wrong, () => right),
    );
    await process.kill();
    process = await startRecipe(stack, { folder, secret: SECRET, port: Number(new URL(url).port) });
  };
  return { url, correct };
}

const MAX_ROUNDS = 6;

const played = inTurn(CASES, 3);
describe.each(played)('the way from a faulty receiver', ({ repairs, stack }) => {
  const reason = whyNotRun(stack);
  if (reason !== null) console.log(`Skipped the agent's way for ${stack}: ${reason}`);

  it.skipIf(reason !== null)(`leads ${stack} to green`, async () => {
    const { correct, url } = await faultyReceiver(stack, repairs);
    const mcp: StartedMcp = await startedMcp({ env: { HOOKPROOF_SECRET: SECRET, HOOKPROOF_URL: url } });
    clean.push(() => mcp.close());
    let answer = await mcp.call('run');
    const left = new Set(repairs);
    for (let round = 0; round < MAX_ROUNDS && left.size > 0; round += 1) {
      const { causes } = answer.data as { causes: { mistake: string | null }[] };
      const [first] = causes;
      const repair = [...left].find(({ mistake }) => mistake.test(first?.mistake ?? ''));
      expect(repair, `a repair for ${first?.mistake}`).toBeDefined();
      if (repair === undefined) return;
      await correct(repair);
      left.delete(repair);
      answer = await mcp.call('run_failed');
    }
    expect(answer.data).toMatchObject({ counts: { fail: 0 } });
    const whole = await mcp.call('run');
    expect(whole.data).toMatchObject({ verdict: 'conformant' });
    const bytes = mcp.answers.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0);
    rows.push([titleOfStack(stack).title, titleOfStack(stack).language, repairs.length, mcp.answers.length, bytes]);
  });
});
