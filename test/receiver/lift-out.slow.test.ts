/** The receiver as an example: `createReceiver` and every file that it imports work in another project. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { isBuiltin } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, normalize } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { run } from '../../harness/index.ts';
import { API_KEY, SECRET } from './deliveries.ts';

const ROOT = join(import.meta.dirname, '../..');
const ENTRY = 'receiver/create-receiver.ts';
const MAX_FILES = 42;

/** The only code that a project has to write: it serves the app on a free port and prints the port. */
const MAIN = `
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createReceiver } from './${ENTRY}';

const { SECRET = '', API_KEY = '' } = process.env;
const receiver = createReceiver({ signing: { secrets: [SECRET] }, apiKey: { keys: [API_KEY] }, path: '/webhooks' });
const server = createServer(receiver.app);
server.listen(0, '127.0.0.1', () => console.log((server.address() as AddressInfo).port));
`;

const TSCONFIG = {
  compilerOptions: {
    target: 'es2023',
    module: 'nodenext',
    types: ['node'],
    strict: true,
    noUncheckedIndexedAccess: true,
    exactOptionalPropertyTypes: true,
    rewriteRelativeImportExtensions: true,
    outDir: 'dist',
  },
  include: ['main.ts'],
};

interface Closure {
  readonly files: readonly string[];
  readonly packages: readonly string[];
}

/** Returns every file that a file imports, directly or indirectly, and the packages that they need. */
async function closureOf(entry: string): Promise<Closure> {
  const files = new Set<string>();
  const packages = new Set<string>();
  const visit = async (file: string) => {
    if (files.has(file)) return;
    files.add(file);
    const source = await readFile(join(ROOT, file), 'utf8');
    for (const [, specifier = ''] of source.matchAll(/(?<!\.)(?:\bfrom|\bimport)\s*\(?\s*'([^']+)'/g)) {
      if (specifier.startsWith('.')) await visit(normalize(join(dirname(file), specifier)));
      else if (!isBuiltin(specifier)) packages.add(specifier);
    }
  };
  await visit(entry);
  return { files: [...files].sort(), packages: [...packages].sort() };
}

async function createProject(folder: string, { files, packages }: Closure): Promise<void> {
  for (const file of files) await cp(join(ROOT, file), join(folder, file));
  const { dependencies } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'));
  const needed = Object.fromEntries(packages.map((name) => [name, dependencies[name]]));
  await writeFile(join(folder, 'package.json'), JSON.stringify({ type: 'module', dependencies: needed }));
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(TSCONFIG));
  await writeFile(join(folder, 'main.ts'), MAIN);
  // Only these packages are linked, so that an import of any other does not resolve.
  for (const name of [...packages, '@types/express', '@types/node']) {
    const link = join(folder, 'node_modules', name);
    await mkdir(dirname(link), { recursive: true });
    await symlink(join(ROOT, 'node_modules', name), link);
  }
}

let folder: string;
let closure: Closure;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'lift-out-'));
  closure = await closureOf(ENTRY);
  await createProject(folder, closure);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

it(`consists of at most ${MAX_FILES} files, without inspector, database or metrics`, () => {
  expect(closure.packages).toEqual(['express', 'secure-json-parse', 'zod']);
  expect(closure.files.filter((file) => /inspector|faults|observe|sql/.test(file))).toEqual([]);
  expect(closure.files.length).toBeLessThanOrEqual(MAX_FILES);
});

it('compiles under strict TypeScript, starts, and passes the whole catalogue', { timeout: 300_000 }, async () => {
  const tsc = join(ROOT, 'node_modules/.bin/tsc');
  await promisify(execFile)(tsc, ['-p', folder]).catch(({ stdout }) => expect.fail(stdout));

  const main = spawn(process.execPath, [join(folder, 'dist/main.js')], {
    env: { SECRET, API_KEY },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    const [port] = await once(createInterface(main.stdout), 'line');
    const url = `http://127.0.0.1:${port}/webhooks`;
    const document = await run({ partner: { url, signing: { secret: SECRET }, apiKey: { value: API_KEY } } });
    const findings = document.results.filter(({ verdict }) => verdict !== 'pass' && verdict !== 'not-applicable');
    expect(findings.map(({ id, verdict, reason }) => `${verdict} ${id}: ${reason}`)).toEqual([]);
    expect(document.verdict).toBe('conformant');
  } finally {
    main.kill();
  }
});
