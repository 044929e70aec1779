import { readdir, readFile } from 'node:fs/promises';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { renderJson, resultSchema } from '../../../harness/report/index.ts';
import { resultDocument } from '../../../harness/report/result-document.ts';
import { documentWith, exchangeWith, resultWith } from './documents.ts';

const document = documentWith({ results: [resultWith({ verdict: 'fail', exchanges: [exchangeWith()] })] });

describe('the published JSON Schema', () => {
  it('takes what the zod schema takes, and refuses what it refuses', async () => {
    const validate = new Ajv2020({ strict: true, allErrors: true }).compile(await resultSchema());
    const seen = { answerTimesMs: [1.5], leaks: [], outages: [], failedControls: [] };
    const cases: [unknown, boolean][] = [
      [document, true],
      [JSON.parse(renderJson(document)), true],
      [{ ...document, scoring: { revision: 1, digest: 'x', notScored: [] }, retried: ['valid/plain'] }, true],
      [{ ...document, scoring: { revision: 0, digest: 'x', notScored: [] } }, false],
      [{ ...document, scoring: null }, false],
      [{ ...document, shardRecord: { gate: null, stackGiven: null, entries: null, seen } }, true],
      [{ ...document, shardRecord: { gate: null, stackGiven: 'cobol', entries: null, seen } }, false],
      [{ ...document, schemaVersion: 2 }, false],
      [{ ...document, extra: 1 }, false],
      [{ ...document, verdict: 'fine' }, false],
      [{ ...document, durationMs: -1 }, false],
      [{ ...document, planned: 1.5 }, false],
      [{ ...document, results: [{ ...document.results[0], verdict: undefined }] }, false],
    ];
    for (const [value, valid] of cases) {
      expect([validate(value), resultDocument.safeParse(value).success]).toEqual([valid, valid]);
    }
  });
});

describe('the cost of a report', () => {
  it('does not include zod: no rendering imports it, or the module of the schema, at run time', async () => {
    const folder = new URL('../../../harness/report/', import.meta.url);
    for (const file of await readdir(folder, { recursive: true })) {
      if (!file.endsWith('.ts') || file === 'result-document.ts') continue;
      const source = await readFile(new URL(file, folder), 'utf8');
      const imports = source.match(/^(?:import|export) (?!type ).*from '(?:zod|[^']*\/result-document\.ts)';$/gm);
      expect([file, imports]).toEqual([file, null]);
    }
  });
});
