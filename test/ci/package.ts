/**
 * Packs the package and uses it as a project does that installs it: its content and size, its package.json (publint),
 * every export with its types, and a run of its command. Checks the licences of its production dependencies, and writes
 * its bill of materials (CycloneDX) to reports/sbom.cdx.json. Run by `npm run package`, which builds first.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';

interface PackedFile {
  readonly path: string;
  readonly size: number;
}

interface LockedPackage {
  readonly version?: string;
  readonly license?: string;
  readonly dev?: boolean;
  readonly devOptional?: boolean;
}

/** The part of CycloneDX that is changed here. */
interface Bill {
  readonly metadata: { readonly component: object };
  readonly components: readonly { readonly 'bom-ref': string; readonly externalReferences?: { type: string }[] }[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
}

const ROOT = new URL('../..', import.meta.url).pathname;
const readJson = (path: string) => JSON.parse(readFileSync(join(ROOT, path), 'utf8'));
const MANIFEST = readJson('package.json');
const LOCKED = readJson('package-lock.json').packages as Readonly<Record<string, LockedPackage>>;
const PRODUCTION = Object.entries(LOCKED).filter(
  ([path, { dev = false, devOptional = false }]) => path !== '' && !dev && !devOptional,
);

/** Bytes as downloaded, and unpacked. */
const MAX_SIZE = { packed: 3_000_000, unpacked: 12_000_000 };
const FOLDERS = /^(?:dist|contract|receiver|docs|scenarios\/(?:vectors|revisions))\//;
const SINGLE_FILES =
  /^(?:scenarios\/fault-\w+\.json|harness\/report\/html\/[\w-]+\.(?:css|js)|[RS]\w+\.md|LICENSE|package\.json)$/;
const NEVER =
  /\.test\.|(?:^|\/)(?:tests?|node_modules|coverage)\/|\.(?:pem|key|env|tgz|map|tsbuildinfo)$|^docs\/.*\.ts$/;
const NEEDED = [
  ...['dist/bin/hookproof.js', 'dist/harness/index.js', 'dist/harness/index.d.ts', 'README.md', 'LICENSE'],
  ...['scenarios/fault-dictionary.json', 'scenarios/revisions/1.json'],
];
/** Accepted SPDX expressions. Read a licence before you add it. */
const ALLOWED_LICENCES: ReadonlySet<string> = new Set([
  ...['MIT', 'MIT-0', 'ISC', '0BSD', 'BSD-2-Clause', 'BSD-3-Clause', 'Apache-2.0', 'BlueOak-1.0.0', 'CC0-1.0'],
  ...['Unlicense', 'Zlib', 'Python-2.0'],
]);

const problems: string[] = [];
const folder = mkdtempSync(join(tmpdir(), 'hookproof-package-'));
try {
  const place = install(pack());
  await lint(place);
  importAll(place);
  runCommand();
  runExample();
} finally {
  rmSync(folder, { recursive: true, force: true });
}
checkLicences();
writeBill();
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
    if (!(FOLDERS.test(path) || SINGLE_FILES.test(path)) || NEVER.test(path))
      problems.push(`${path} does not belong in it`);
  for (const path of NEEDED) if (!paths.includes(path)) problems.push(`${path} is missing`);
  if (size > MAX_SIZE.packed) problems.push(`${size} bytes packed; at most ${MAX_SIZE.packed} are allowed`);
  if (unpacked > MAX_SIZE.unpacked)
    problems.push(`${unpacked} bytes unpacked; at most ${MAX_SIZE.unpacked} are allowed`);
  console.log(`content: ${files.length} files, ${(size / 1024).toFixed(0)} kB packed`);
  return join(folder, filename);
}

/** Unpacks it to the place where npm installs it, next to its production dependencies. */
function install(tarball: string): string {
  const place = join(folder, 'node_modules', 'hookproof');
  mkdirSync(place, { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{}');
  execFileSync('tar', ['-xzf', tarball, '-C', place, '--strip-components=1']);
  const direct = PRODUCTION.map(([path]) => path).filter((path) => /^node_modules\/(?:@[^/]+\/)?[^/]+$/.test(path));
  for (const path of direct) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    symlinkSync(join(ROOT, path), join(folder, path));
  }
  mkdirSync(join(folder, 'node_modules', '.bin'));
  symlinkSync('../hookproof/dist/bin/hookproof.js', join(folder, 'node_modules', '.bin', 'hookproof'));
  return place;
}

async function lint(place: string): Promise<void> {
  const { messages, pkg } = await publint({ pkgDir: place, pack: false, strict: true });
  problems.push(...messages.map((message) => formatMessage(message, pkg, { color: false }) ?? message.code));
  console.log(`publint: ${messages.length} findings`);
}

/** Imports every export by its name, as code and as types. */
function importAll(place: string): void {
  const names = Object.keys(MANIFEST.exports).map((path) => path.replace(/^\./, 'hookproof'));
  const modules = names.filter((name) => !name.includes('*') && !name.endsWith('.json'));
  const vectors = readdirSync(join(place, 'scenarios/vectors')).map((file) => `hookproof/vectors/${file}`);
  const script = `
    for (const name of ${JSON.stringify(modules)}) {
      if (Object.keys(await import(name)).length === 0) throw new Error(name + ' exports nothing');
    }
    const { readFileSync } = await import('node:fs');
    const files = ${JSON.stringify(['hookproof/package.json', ...vectors])};
    for (const name of files) readFileSync(new URL(import.meta.resolve(name)));`;
  writeFileSync(join(folder, 'all.mjs'), script);
  inProject(process.execPath, ['all.mjs']);
  // A module without types is `any`, which has every key.
  const types = modules.flatMap((name, at) => [
    `import * as m${at} from '${name}';`,
    '// @ts-expect-error',
    `export const k${at}: keyof typeof m${at} = 'no such name';`,
  ]);
  writeFileSync(join(folder, 'consumer.mts'), types.join('\n'));
  const compiler = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');
  const options = ['--noEmit', '--strict', '--skipLibCheck', '--module', 'nodenext', '--target', 'es2023'];
  inProject(process.execPath, [compiler, ...options, '--types', '', 'consumer.mts']);
  console.log(`exports: ${modules.length} modules with types, ${vectors.length + 1} files`);
}

function runCommand(): void {
  const program = join('node_modules', '.bin', 'hookproof');
  const version = inProject(program, ['--version']).trim();
  if (version !== MANIFEST.version) problems.push(`the command prints version ${version}, not ${MANIFEST.version}`);
  inProject(program, ['demo', '--suite', 'signature', '--output-dir', 'out']);
  const { counts } = JSON.parse(readFileSync(join(folder, 'out', 'run.json'), 'utf8'));
  if (counts.fail > 0 || counts.pass === 0) problems.push(`a run of the installed command: ${JSON.stringify(counts)}`);
  console.log(`command: version ${version}, a run of one suite with ${counts.pass} checks passed`);
}

/** The program of the page about the sender, against a receiver of the package. */
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
  const printed = inProject(process.execPath, ['example.mjs']).trim();
  const isPrinted = page.includes(`It prints \`${printed}\``);
  if (!isPrinted) problems.push(`the program of docs/sender.md prints ${JSON.stringify(printed)}`);
  console.log(`docs/sender.md: ${printed}`);
}

/** Runs a program in the project that has installed the package. */
function inProject(program: string, args: readonly string[]): string {
  const env = { PATH: process.env.PATH, HOME: folder };
  return execFileSync(program, args, { cwd: folder, stdio: 'pipe', encoding: 'utf8', env });
}

function checkLicences(): void {
  for (const [path, { license }] of PRODUCTION) {
    if (license === undefined || !ALLOWED_LICENCES.has(license)) problems.push(`${path}: licence ${license}`);
  }
  console.log(`licences: ${PRODUCTION.length} production dependencies`);
}

/**
 * `npm sbom --omit=dev` leaves out production dependencies too (npm 11), so the lock file decides which components
 * stay. The registry of this machine is left out.
 */
function writeBill(): void {
  const args = ['sbom', '--sbom-format=cyclonedx', '--loglevel=error'];
  const whole: Bill = JSON.parse(execFileSync('npm', args, { cwd: ROOT, encoding: 'utf8', maxBuffer: 2 ** 26 }));
  const refs = new Set(
    PRODUCTION.map(([path, { version }]) => `${path.replace(/^.*node_modules\//, '')}@${version}`),
  ).add(`${MANIFEST.name}@${MANIFEST.version}`);
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
