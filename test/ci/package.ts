/**
 * Packs the package and uses it like a project that installs it: its content and size, its package.json (publint),
 * every export with its types, and its commands. Checks the licences of what is installed or bundled, and writes the
 * bill of materials (CycloneDX) to reports/sbom.cdx.json. Run by `npm run package`, which builds first; `npm run
 * package -- --node PATH` runs the package with another Node.
 */
import { execFileSync } from 'node:child_process';
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { useCommands } from './installed-commands.ts';

interface PackedFile {
  readonly path: string;
  readonly size: number;
}

interface LockedPackage {
  readonly version?: string;
  readonly license?: string;
}

/** The part of a CycloneDX document that this program changes. */
interface Bill {
  readonly metadata: { readonly component: object };
  readonly components: readonly { readonly 'bom-ref': string; readonly externalReferences?: { type: string }[] }[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
}

const ROOT = new URL('../..', import.meta.url).pathname;
const readJson = (path: string) => JSON.parse(readFileSync(join(ROOT, path), 'utf8'));
const MANIFEST = readJson('package.json');
const LOCKED = readJson('package-lock.json').packages as Readonly<Record<string, LockedPackage>>;
/** The packages whose code is in the package, as paths in the lock file. */
const BUNDLED: readonly string[] = readJson('dist/bundled.json');

/**
 * Maximum size of the package in bytes, packed and unpacked, and of its dependencies: number of packages, and MB on
 * disk.
 */
const MAX = { packed: 3_000_000, unpacked: 7_500_000, packages: 110, megabytes: 35 };
const FOLDERS = /^(?:dist|receiver\/inspector\/page|recipes|docs|scenarios\/(?:vectors|revisions))\/|^receiver\/README/;
const SINGLE_FILES = /^(?:scenarios\/fault-\w+\.json|harness\/(?:console|report\/html)\/[\w-]+\.(?:css|js|svg))$/;
const PAGES = /^(?:[RS]\w+\.md|LICENSE|package\.json|llms\.txt)$/;
const NEVER =
  /\.test\.|(?:^|\/)(?:tests?|node_modules|coverage)\/|\.(?:pem|key|env|tgz|map|tsbuildinfo)$|^docs\/.*\.ts$/;
const NEEDED = [
  ...['dist/bin/hookproof.js', 'dist/harness/index.js', 'dist/harness/index.d.ts', 'README.md', 'LICENSE'],
  ...['dist/third-party-licences.txt', 'scenarios/fault-dictionary.json', 'scenarios/revisions/1.json'],
];
/** Accepted SPDX expressions. Read a licence before you add it. */
const ALLOWED_LICENCES: ReadonlySet<string> = new Set([
  ...['MIT', 'MIT-0', 'ISC', '0BSD', 'BSD-2-Clause', 'BSD-3-Clause', 'Apache-2.0', 'BlueOak-1.0.0', 'CC0-1.0'],
  ...['Unlicense', 'Zlib', 'Python-2.0'],
]);

const { values } = parseArgs({ options: { node: { type: 'string', default: process.execPath } } });
const problems: string[] = [];
const folder = mkdtempSync(join(tmpdir(), 'hookproof-package-'));
/** The environment for commands of the package: the chosen Node, and no secrets of this shell. */
const ENV = { PATH: [dirname(values.node), process.env.PATH].join(delimiter), HOME: folder };
try {
  const { place, installed } = install(pack());
  await lint(place);
  importAll(place);
  problems.push(...(await useCommands({ folder, node: values.node, env: ENV, version: MANIFEST.version })));
  runExample();
  runMatcher();
  const parts = [...new Set([...installed, ...BUNDLED])];
  checkLicences(parts);
  writeBill(parts);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
for (const problem of problems) console.error(`the package: ${problem}`);
process.exitCode = problems.length === 0 ? 0 : 1;

/** Packs the package, checks its content, and returns the path of the tarball. */
function pack(): string {
  const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', folder];
  const [packed] = JSON.parse(execFileSync('npm', args, { cwd: ROOT, encoding: 'utf8' })) as [
    { filename: string; files: readonly PackedFile[]; size: number },
  ];
  const { filename, files, size } = packed;
  const paths = files.map(({ path }) => path);
  const unpacked = files.reduce((sum, file) => sum + file.size, 0);
  for (const path of paths)
    if (![FOLDERS, SINGLE_FILES, PAGES].some((known) => known.test(path)) || NEVER.test(path))
      problems.push(`${path} does not belong in it`);
  for (const path of NEEDED) if (!paths.includes(path)) problems.push(`${path} is missing`);
  limit('bytes packed', size, MAX.packed);
  limit('bytes unpacked', unpacked, MAX.unpacked);
  console.log(`content: ${files.length} files, ${size} bytes packed, ${unpacked} unpacked`);
  return join(folder, filename);
}

function limit(what: string, value: number, max: number): void {
  if (value > max) problems.push(`${value} ${what}; at most ${max} are allowed`);
}

/**
 * Installs the versions of the lock file, from npm's cache if they are there, and unpacks the tarball next to them.
 * Returns the folder of the package, and the paths of the other packages in the lock file.
 */
function install(tarball: string): { place: string; installed: string[] } {
  for (const file of ['package.json', 'package-lock.json', '.npmrc'])
    copyFileSync(join(ROOT, file), join(folder, file));
  const quiet = ['--no-audit', '--no-fund', '--loglevel=error'];
  execFileSync('npm', ['ci', '--omit=dev', '--ignore-scripts', '--prefer-offline', ...quiet], { cwd: folder });
  const modules = join(folder, 'node_modules');
  const installed = Object.keys(JSON.parse(readFileSync(join(modules, '.package-lock.json'), 'utf8')).packages);
  const megabytes = Number.parseInt(execFileSync('du', ['-sm', modules], { encoding: 'utf8' }), 10);
  limit('packages are installed', installed.length, MAX.packages);
  limit('MB are installed', megabytes, MAX.megabytes);
  console.log(`dependencies: ${installed.length} packages, ${megabytes} MB`);

  const place = join(modules, 'hookproof');
  mkdirSync(place);
  execFileSync('tar', ['-xzf', tarball, '-C', place, '--strip-components=1']);
  // With hookproof's own manifest, the name of the package would refer to this folder.
  writeFileSync(join(folder, 'package.json'), '{}');
  mkdirSync(join(modules, '.bin'), { recursive: true });
  symlinkSync('../hookproof/dist/bin/hookproof.js', join(modules, '.bin', 'hookproof'));
  return { place, installed };
}

async function lint(place: string): Promise<void> {
  const { messages, pkg } = await publint({ pkgDir: place, pack: false, strict: true });
  problems.push(...messages.map((message) => formatMessage(message, pkg, { color: false }) ?? message.code));
  console.log(`publint: ${messages.length} findings`);
}

/** Imports every export by its name, as code and as types. */
function importAll(place: string): void {
  const names = Object.keys(MANIFEST.exports).map((path) => path.replace(/^\./, 'hookproof'));
  // The matcher needs Vitest, so `runMatcher` tests it.
  const others = /\*|\.json$|\/vitest$/;
  const modules = names.filter((name) => !others.test(name));
  const vectors = readdirSync(join(place, 'scenarios/vectors')).map((file) => `hookproof/vectors/${file}`);
  const script = `
    for (const name of ${JSON.stringify(modules)}) {
      if (Object.keys(await import(name)).length === 0) throw new Error(name + ' exports nothing');
    }
    const { readFileSync } = await import('node:fs');
    const files = ${JSON.stringify(['hookproof/package.json', ...vectors])};
    for (const name of files) readFileSync(new URL(import.meta.resolve(name)));`;
  writeFileSync(join(folder, 'all.mjs'), script);
  inProject(values.node, ['all.mjs']);
  writeFileSync(join(folder, 'all.cjs'), `for (const name of ${JSON.stringify(modules)}) require(name);`);
  inProject(values.node, ['--no-warnings', 'all.cjs']);
  // A module without types is `any`, which has every key.
  const types = modules.flatMap((name, at) => [
    `import * as m${at} from '${name}';`,
    '// @ts-expect-error',
    `export const k${at}: keyof typeof m${at} = 'no such name';`,
  ]);
  for (const file of ['consumer.mts', 'consumer.cts']) writeFileSync(join(folder, file), types.join('\n'));
  const compiler = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');
  const options = ['--noEmit', '--strict', '--exactOptionalPropertyTypes', '--target', 'es2023', '--types', ''];
  inProject(process.execPath, [compiler, ...options, '--module', 'nodenext', 'consumer.mts', 'consumer.cts']);
  inProject(process.execPath, [compiler, ...options, '--moduleResolution', 'bundler', 'consumer.mts']);
  console.log(`exports: ${modules.length} modules with types, ${vectors.length + 1} files`);
}

/** Runs the program on the page about the sender against the receiver of the package. */
function runExample(): void {
  const page = readFileSync(join(ROOT, 'docs', 'sender.md'), 'utf8');
  writeFileSync(join(folder, 'send.mjs'), /```js\n(.*?)```/s.exec(page)?.[1] ?? '');
  const script = `
    import { startReceiver } from 'hookproof/receiver';
    process.env.HOOKPROOF_SECRET = 'secret-of-the-example';
    const { port, close } = await startReceiver({ signing: { secrets: [process.env.HOOKPROOF_SECRET] } });
    process.env.PARTNER_URL = 'http://127.0.0.1:' + port + '/';
    await import('./send.mjs');
    await close();`;
  writeFileSync(join(folder, 'example.mjs'), script);
  const printed = inProject(values.node, ['example.mjs']).trim();
  const isPrinted = page.includes(`It prints \`${printed}\``);
  if (!isPrinted) problems.push(`the program of docs/sender.md prints ${JSON.stringify(printed)}`);
  console.log(`docs/sender.md: ${printed}`);
}

/** Runs the test on the page about the library with the Vitest of this checkout, and checks its types. */
function runMatcher(): void {
  const page = readFileSync(join(ROOT, 'docs', 'library.md'), 'utf8');
  writeFileSync(join(folder, 'conformance.test.ts'), /```ts\n(.*?)```/s.exec(page)?.[1] ?? '');
  symlinkSync(join(ROOT, 'node_modules', 'vitest'), join(folder, 'node_modules', 'vitest'));
  const compiler = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');
  const options = ['--noEmit', '--strict', '--skipLibCheck', '--module', 'nodenext', '--target', 'es2023'];
  inProject(process.execPath, [compiler, ...options, '--types', 'node', 'conformance.test.ts']);
  const vitest = join('node_modules', 'vitest', 'vitest.mjs');
  const printed = inProject(values.node, [vitest, 'run', '--root', '.', '--reporter', 'json']);
  const { numPassedTests, numTotalTests } = JSON.parse(printed.slice(printed.indexOf('{')));
  if (numPassedTests !== 1 || numTotalTests !== 1) problems.push('the test of docs/library.md does not pass');
  console.log(`docs/library.md: ${numPassedTests} of ${numTotalTests} tests passed`);
}

/** Runs a program in the project that has installed the package. */
function inProject(program: string, args: readonly string[]): string {
  return execFileSync(program, args, { cwd: folder, stdio: 'pipe', encoding: 'utf8', env: ENV });
}

/** Checks that every licence is accepted, and that the package contains the licence texts of bundled packages. */
function checkLicences(parts: readonly string[]): void {
  const texts = readFileSync(join(ROOT, 'dist', 'third-party-licences.txt'), 'utf8').split(/^(?==== )/m);
  for (const path of parts) {
    const license = LOCKED[path]?.license;
    if (license === undefined || !ALLOWED_LICENCES.has(license)) problems.push(`${path}: licence ${license}`);
  }
  const short = texts.filter((text) => text.length < 500);
  problems.push(...short.map((text) => `dist/third-party-licences.txt has no text for ${text.split('\n', 1)}`));
  if (texts.length !== BUNDLED.length) problems.push(`${BUNDLED.length} packages, ${texts.length} licences`);
  console.log(`licences: ${parts.length} packages, of which ${BUNDLED.length} are bundled`);
}

/**
 * Writes the bill of materials: the packages that are installed or bundled. `npm sbom` also lists tools and the
 * registry of this machine, which are left out.
 */
function writeBill(parts: readonly string[]): void {
  const args = ['sbom', '--sbom-format=cyclonedx', '--loglevel=error'];
  const whole: Bill = JSON.parse(execFileSync('npm', args, { cwd: ROOT, encoding: 'utf8', maxBuffer: 2 ** 26 }));
  const refs = new Set(parts.map((path) => `${path.replace(/^.*node_modules\//, '')}@${LOCKED[path]?.version}`)).add(
    `${MANIFEST.name}@${MANIFEST.version}`,
  );
  const components = whole.components
    .filter((component) => refs.has(component['bom-ref']))
    .map(({ externalReferences = [], ...component }) => ({
      ...component,
      externalReferences: externalReferences.filter(({ type }) => type !== 'distribution'),
    }));
  const dependencies = whole.dependencies
    .filter(({ ref }) => refs.has(ref))
    .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((one) => refs.has(one)) }));
  const metadata = { ...whole.metadata, component: { ...whole.metadata.component, name: MANIFEST.name } };
  mkdirSync(join(ROOT, 'reports'), { recursive: true });
  const bill = { ...whole, metadata, components, dependencies };
  writeFileSync(join(ROOT, 'reports', 'sbom.cdx.json'), `${JSON.stringify(bill, null, 2)}\n`);
  console.log(`bill of materials: ${components.length} components`);
}
