import { randomBytes } from 'node:crypto';
import { access, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { SIGNING_MISTAKES } from '../../contract/signing/index.ts';
import { explanationOf } from '../../harness/cli/commands/explain.ts';
import { knownNames } from '../../harness/cli/known-names.ts';
import { loadDictionary } from '../../harness/diagnose/index.ts';
import { doctorSchema, examine } from '../../harness/doctor/index.ts';
import { DRIFTS, EVENTS } from '../../harness/register/record.ts';
import { STATES } from '../../harness/register/standing.ts';
import { createRedactor, resultSchema } from '../../harness/report/index.ts';
import type { ResultDocument } from '../../harness/report/result-document.ts';
import { run } from '../../harness/run/index.ts';
import { FAULTS, startFaultyReceiver } from '../../mutants/index.ts';
import { serve } from '../endpoints/listen.ts';
import { hookproof } from './hookproof.ts';

const ROOT = new URL('../..', import.meta.url).pathname;

/** The codes with which the product throws its own errors. */
async function ownCodes(): Promise<string[]> {
  const found = new Set<string>();
  for (const folder of ['harness', 'contract', 'receiver', 'scenarios', 'mutants', 'certs']) {
    for (const name of await readdir(join(ROOT, folder), { recursive: true })) {
      if (!name.endsWith('.ts')) continue;
      const source = await readFile(join(ROOT, folder, name), 'utf8');
      for (const [, code = ''] of source.matchAll(/HookproofError\(\s*'([A-Z_]+)'/g)) found.add(code);
    }
  }
  return [...found];
}

const SECRET = randomBytes(32).toString('base64');
const KEY = randomBytes(24).toString('base64url');

/** Rejects valid deliveries, crashes, accepts forgeries, leaks. */
const MUTANTS = [
  'expects-hex',
  'tiny-bodies-not-verified',
  'missing-signature-accepted',
  'shows-stack-trace-of-large-bodies',
];

const documents: ResultDocument[] = [];
const selection = { suites: ['valid', 'signature', 'leaks'] };
const runOn = async (url: string) => {
  const partner = { url, signing: { secret: SECRET }, apiKey: { value: KEY } };
  documents.push(await run({ partner, selection, limits: { timeoutMs: 5000, recoveryMs: 100 }, seed: 'names' }));
};

async function refusingUrl(): Promise<string> {
  const { url, close } = await serve((_request, response) => response.end());
  await close();
  return url;
}

beforeAll(async () => {
  for (const fault of FAULTS.filter(({ name }) => MUTANTS.includes(name))) {
    const receiver = await startFaultyReceiver(fault, { signing: { secrets: [SECRET] }, apiKey: { keys: [KEY] } });
    await runOn(receiver.url);
    await receiver.close();
  }
  await runOn(await refusingUrl());
});

/** Returns the names in a document, without texts for people. */
function namesIn({ diagnosis, preflightFinding, results, target, verdict }: ResultDocument): string[] {
  return [
    verdict,
    ...target.features,
    ...(preflightFinding === undefined ? [] : [preflightFinding]),
    ...diagnosis.flatMap(({ fault, alike }) => [fault, ...alike]),
    ...results.flatMap((result) => [
      result.suite,
      result.verdict,
      ...result.requirements,
      result.decidedBy,
      ...(result.outcome?.split(', ') ?? []),
      ...(result.expectedOutcomes ?? []),
      ...(result.answered === undefined ? [] : [result.answered.class]),
      ...result.exchanges.flatMap(({ error }) => (error === null ? [] : [error.code])),
    ]),
  ];
}

/** Returns the values of every enumeration in a JSON Schema. */
function enumsIn(schema: unknown): string[] {
  if (typeof schema !== 'object' || schema === null) return [];
  const own = 'enum' in schema && Array.isArray(schema.enum) ? schema.enum : [];
  const words = own.filter((value): value is string => typeof value === 'string');
  return [...words, ...Object.values(schema).flatMap(enumsIn)];
}

async function unknownOf(names: Iterable<string>): Promise<string[]> {
  const unknown: string[] = [];
  for (const name of new Set(names)) {
    const text = await explanationOf(name, null).catch(() => '');
    if (!text.startsWith(`${name}: `)) unknown.push(name);
  }
  return unknown;
}

/** Returns the wanted names that are missing. */
function lacking(names: readonly string[], wanted: readonly string[]): string[] {
  return wanted.filter((name) => !names.includes(name));
}

/** Values that the document itself explains in a text next to them, or that are settings. */
const NOT_NAMES = [
  ...['control', 'probe', 'main', 'also', 'must', 'should', 'info', 'express', 'fastify'],
  ...['old', 'both', 'new', 'command', 'person'],
];

describe('explain knows every name', () => {
  it('in the documents of runs', async () => {
    expect(documents).toHaveLength(MUTANTS.length + 1);
    const names = documents.flatMap(namesIn);
    expect(lacking(names, ['hex', 'forgery-accepted', 'leak', 'ECONNREFUSED', 'closed'])).toEqual([]);
    expect(await unknownOf(names)).toEqual([]);
  });

  it('in the outcomes of the known faults', async () => {
    const { faults } = await loadDictionary();
    const outcomes = faults.flatMap((fault) => Object.values(fault.outcomes).map((text) => text.replace(/^\w+ /, '')));
    expect(await unknownOf(outcomes.flatMap((outcome) => outcome.split(', ')))).toEqual([]);
  });

  it('that a document may hold by its schema', async () => {
    const values = enumsIn(resultSchema()).filter((value) => !NOT_NAMES.includes(value));
    expect(lacking(values, ['credential-part', 'interruption', 'fixture-revoked', 'passes'])).toEqual([]);
    const { STACKS } = await import('../../contract/stacks.ts');
    expect(await unknownOf(values.filter((value) => !STACKS.some((stack) => stack === value)))).toEqual([]);
  });

  it('in the document of the doctor', async () => {
    const document = await examine({
      sources: {
        flags: { url: await refusingUrl() },
        env: { HOOKPROOF_SECRET: 'changeme' },
        cwd: process.cwd(),
        configFile: undefined,
        stdin: process.stdin,
      },
      makeNotification: null,
      createRedactor: () => createRedactor({ values: [] }),
      onStage: () => {},
      signal: new AbortController().signal,
    });
    const names = document.sections.flatMap(({ id, findings }) => [id, ...findings.map(({ code }) => code)]);
    expect(lacking(names, ['nothing-listens', 'loopback-address', 'secret-placeholder', 'dns'])).toEqual([]);
    expect(await unknownOf(names)).toEqual([]);
    expect(JSON.stringify(doctorSchema())).toContain('"dns"');
  });

  it('that the proxy and the receiver print about deliveries, and where to look for the id of one', async () => {
    const printed = ['signature-mismatch', 'api-key-missing', 'inbox-failed', 'accepted-although-invalid'];
    expect(await unknownOf(printed)).toEqual([]);
    const { code, stderr } = await hookproof(['explain', 'adb5fa-4']);
    expect([code, stderr]).toEqual([2, expect.stringContaining('The page of the proxy')]);
  });

  it('in the register of partners', async () => {
    expect(await unknownOf([...STATES, ...EVENTS, ...DRIFTS])).toEqual([]);
    expect(await explanationOf('drifted', null)).toContain('Kind       a state of a partner\n');
  });

  it('of signing mistakes, alone and together', async () => {
    expect(await unknownOf(SIGNING_MISTAKES.map(({ name }) => name))).toEqual([]);
    expect(await explanationOf('reserialised-json+hex', null)).toContain('Kind       several signing mistakes');
    const { code, stdout } = await hookproof(['explain', 'base64-of-hex']);
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: expect.stringContaining('Try it     hookproof sign FILE --as base64-of-hex'),
    });
  });

  it('and every one that it suggests', async () => {
    expect(await unknownOf(knownNames())).toEqual([]);
  });

  it('and no other, for which it suggests names', async () => {
    for (const name of ['base64-of-hax', 'forgery-acepted', 'constructor', '', 'ENOENT']) {
      await expect(explanationOf(name, null)).rejects.toMatchObject({ code: 'EXPLAIN_UNKNOWN' });
    }
    const { code, stderr } = await hookproof(['explain', 'base64-of-hax']);
    expect(code).toBe(2);
    expect(stderr).toContain('Did you mean "base64-of-hex"?');
  });
});

describe("the codes of hookproof's own errors", () => {
  it('are explained with their area and the place that describes it', async () => {
    const codes = await ownCodes();
    expect(codes.length).toBeGreaterThan(100);
    const texts = await Promise.all(codes.map((code) => explanationOf(code, null)));
    for (const text of texts) {
      expect(text).toMatch(/^[A-Z_]+: an error about .*\n\nKind {7}an error that hookproof reports, /);
    }
    const pages = new Set(texts.flatMap((text) => text.match(/[\w/]+\.md/) ?? []));
    await Promise.all([...pages].map((page) => access(join(ROOT, page))));
  });

  it('are not invented', async () => {
    await expect(explanationOf('NO_SUCH_', null)).rejects.toThrow('unknown id');
    await expect(explanationOf('OTHER_CODE', null)).rejects.toThrow('unknown id');
  });
});
