import { execFileSync, spawnSync } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it, onTestFinished } from 'vitest';
import { emittedNotification, kindOf, NOTIFICATION_KINDS } from '../../contract/index.ts';
import { explainSignature } from '../../contract/signing/index.ts';
import { verifySignature } from '../../receiver/index.ts';
import { lacks } from '../setup/programs.ts';

interface Vector {
  id: number;
  comment: string;
  bodyBase64: string;
  bodyText?: string;
  secret: string;
  signature: string;
  result: 'valid' | 'invalid';
  fault: string | null;
  flags: string[];
}

const FOLDER = join(import.meta.dirname, '../../scenarios/vectors');
const SCHEMA = 'vectors.schema.json';
const NAMES = readdirSync(FOLDER).filter((name) => name.endsWith('.json') && name !== SCHEMA);

function load(name: string): { theme: string; numberOfVectors: number; vectors: Vector[] } {
  return JSON.parse(readFileSync(join(FOLDER, name), 'utf8'));
}

const FILES = NAMES.map((name) => ({ name, file: load(name) }));
const VECTORS = FILES.flatMap(({ file }) => file.vectors);
const body = (vector: Vector): Buffer => Buffer.from(vector.bodyBase64, 'base64');

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'hookproof-vectors-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

describe('the golden vectors', () => {
  it('have unique, ordered ids in the range of their file, and match their count', () => {
    expect(VECTORS.length).toBeGreaterThanOrEqual(200);
    expect(new Set(VECTORS.map(({ id }) => id)).size).toBe(VECTORS.length);
    for (const { name, file } of FILES) {
      const ids = file.vectors.map(({ id }) => id);
      expect(`${file.theme}.json`).toBe(name);
      expect(file.numberOfVectors).toBe(ids.length);
      expect(ids).toEqual(ids.toSorted((a, b) => a - b));
      expect(new Set(ids.map((id) => Math.floor(id / 100))).size).toBe(1);
    }
  });

  it('match their JSON Schema, which rejects invalid vectors', () => {
    const validate = new Ajv2020({ allErrors: true }).compile(JSON.parse(readFileSync(join(FOLDER, SCHEMA), 'utf8')));
    for (const { file } of FILES) expect([validate(file), validate.errors]).toEqual([true, null]);

    const spoilt = (change: Partial<Record<keyof Vector, unknown>>): boolean => {
      const file = load('wrong-bodies.json');
      return validate({ ...file, vectors: [{ ...file.vectors[0], ...change }] });
    };
    expect(spoilt({})).toBe(true);
    expect(spoilt({ fault: null })).toBe(false);
    expect(spoilt({ result: 'valid' })).toBe(false);
    expect(spoilt({ result: 'acceptable' })).toBe(false);
    expect(spoilt({ bodyBase64: 'YQ' })).toBe(false);
    expect(spoilt({ flags: ['unheard-of'] })).toBe(false);
    expect(spoilt({ id: 1 })).toBe(false);
  });

  it.each(FILES)('in $name are correct by an independent HMAC', ({ file }) => {
    const judged = file.vectors.map((vector) => {
      const right = createHmac('sha256', Buffer.from(vector.secret)).update(body(vector)).digest('base64');
      return { id: vector.id, result: right === vector.signature ? 'valid' : 'invalid' };
    });
    expect(judged).toEqual(file.vectors.map(({ id, result }) => ({ id, result })));
  });

  it('get the expected results from the reference receiver', () => {
    const judged = VECTORS.map((vector) => {
      const secrets = [vector.secret];
      return { id: vector.id, ok: verifySignature({ rawBody: body(vector), header: vector.signature, secrets }).ok };
    });
    expect(judged).toEqual(VECTORS.map(({ id, result }) => ({ id, ok: result === 'valid' })));
  });

  it('show a body as text only if the text has the same bytes', () => {
    for (const vector of VECTORS.filter(({ bodyText }) => bodyText !== undefined)) {
      expect([vector.id, Buffer.from(vector.bodyText!).toString('base64')]).toEqual([vector.id, vector.bodyBase64]);
    }
    const hidden = VECTORS.filter(({ bodyText }) => bodyText === undefined).map(({ id }) => id);
    expect(hidden).toEqual(expect.arrayContaining([127, 131, 207, 208, 213, 217]));
  });

  it('contain each type of notification once, as the sender sends it', () => {
    const notifications = VECTORS.filter(({ flags }) => flags.includes('notification'));
    const kinds = notifications.map((vector) => kindOf(emittedNotification.parse(JSON.parse(vector.bodyText!))));
    expect(kinds.toSorted()).toEqual([...NOTIFICATION_KINDS].sort());
  });

  it('use every flag of the schema, and flag what a lenient decoder accepts', () => {
    const schema = JSON.parse(readFileSync(join(FOLDER, SCHEMA), 'utf8'));
    const flags: string[] = schema.$defs.flag.oneOf.map((flag: { const: string }) => flag.const);
    expect(new Set(VECTORS.flatMap((vector) => vector.flags))).toEqual(new Set(flags));

    const lenient = VECTORS.filter((vector) => {
      const digest = createHmac('sha256', vector.secret).update(body(vector)).digest();
      return vector.result === 'invalid' && Buffer.from(vector.signature, 'base64').subarray(0, 32).equals(digest);
    });
    const flagged = VECTORS.filter((vector) => vector.flags.includes('lenient-decoder'));
    expect(lenient.map(({ id }) => id)).toEqual(flagged.map(({ id }) => id));
  });

  it.each(FILES)('in $name have the mistakes that explainSignature finds', ({ file }) => {
    // No known mistake leads to these values, so there is nothing to explain.
    const unexplained = ['other-body', 'other-secret', 'unrelated-value', 'truncated-digest', 'truncated-sha512'];
    for (const vector of file.vectors) {
      const report = explainSignature({ body: body(vector), secret: vector.secret, header: vector.signature });
      const fault = [...unexplained, 'empty-header'].includes(vector.fault ?? '') ? null : vector.fault;
      expect({ id: vector.id, matches: report.matches, fault: report.explanation?.fault ?? null }).toEqual({
        id: vector.id,
        matches: vector.result === 'valid',
        fault,
      });
    }
  });

  it.skipIf(lacks('bash', 'openssl'))('are remade byte for byte by their script', () => {
    const folder = temporaryFolder();
    execFileSync('bash', [join(FOLDER, 'make-vectors.sh'), folder]);
    const remade = Object.fromEntries(
      readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'utf8')]),
    );
    expect(remade).toEqual(Object.fromEntries(NAMES.map((name) => [name, readFileSync(join(FOLDER, name), 'utf8')])));
  });
});

describe('the runners in the README', () => {
  const README = readFileSync(join(FOLDER, 'README.md'), 'utf8');

  function snippet(language: string): string {
    const code = new RegExp(`\`\`\`${language}\\n(.*?)\`\`\``, 's').exec(README)?.[1];
    if (code === undefined) throw new Error(`The README has no ${language} runner`);
    return code;
  }

  /** Runs a program in the folder of the vectors, as the README says. */
  function run(program: string, file: string, code: string): { status: number | null; output: string } {
    const script = join(temporaryFolder(), file);
    writeFileSync(script, code);
    const { status, stdout, stderr } = spawnSync(program, [script], { cwd: FOLDER, encoding: 'utf8' });
    return { status, output: stdout + stderr };
  }

  const RIGHT = { status: 0, output: `${VECTORS.length} of ${VECTORS.length} passed\n` };
  const INVALID = VECTORS.filter(({ result }) => result === 'invalid');

  it.skipIf(lacks('python3'))('for Python agrees, and says where a check that accepts everything is wrong', () => {
    expect(run('python3', 'runner.py', snippet('python'))).toEqual(RIGHT);

    const gullible = run(
      'python3',
      'runner.py',
      snippet('python').replace(/return hmac.compare_digest.*/, 'return True'),
    );
    expect(gullible.status).toBe(1);
    expect(gullible.output).toContain(`${VECTORS.length - INVALID.length} of ${VECTORS.length} passed`);
    expect(gullible.output).toContain('431 should be invalid: The URL-safe alphabet without padding');
  });

  it('for Node passes, and reports what a lenient decoder gets wrong', () => {
    expect(run(process.execPath, 'runner.mjs', snippet('js'))).toEqual(RIGHT);

    const code = snippet('js').replace(
      'Buffer.from(signature)',
      "Buffer.from(Buffer.from(signature, 'base64').toString('base64'))",
    );
    const lenient = run(process.execPath, 'runner.mjs', code);
    expect(lenient.status).toBe(1);
    expect(lenient.output.match(/^\d+(?= should)/gm)).toEqual(
      expect.arrayContaining(['417', '424', '431', '432', '440']),
    );
  });

  it('exist for the common languages', () => {
    const languages = [...README.matchAll(/^### (.+)$/gm)].map(([, language]) => language);
    expect(languages).toEqual(['Python', 'Node', 'Go', 'Java', 'PHP', 'Ruby', 'C#']);
    expect(README).toMatch(/secrets in these files are public/);
  });

  it('come with a table of all files', () => {
    for (const name of NAMES) expect(README).toContain(`[${name}](${name})`);
  });
});
