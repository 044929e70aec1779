/**
 * Packs the package and looks at it as whoever installs it does: what is in it, whether its package.json is right (publint), and, unpacked beside its
 * production dependencies alone, that every export can be imported, has types, and that the command runs. It needs the built program.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { wrongWith } from './package-rules.ts';

const ROOT = new URL('../..', import.meta.url).pathname;
const folder = mkdtempSync(join(tmpdir(), 'hookproof-package-'));
const wrong: string[] = [];

/** Runs a program in the folder of the one who installs. Nothing of ours is near. */
function there(program: string, args: readonly string[]): string {
  return execFileSync(program, args, {
    cwd: folder,
    stdio: 'pipe',
    encoding: 'utf8',
    env: { PATH: process.env.PATH, HOME: folder },
  });
}

/** The content, and the name of the tarball. */
function pack(): string {
  const asked = ['pack', '--json', '--ignore-scripts', '--pack-destination', folder];
  const [{ filename, files, size }] = JSON.parse(
    execFileSync('npm', asked, { cwd: ROOT, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] }),
  );
  wrong.push(...wrongWith(files, size));
  console.log(`content: ${files.length} files, ${(size / 1024).toFixed(0)} kB packed`);
  return join(folder, filename);
}

/** Unpacks it to where npm would put it, with what npm would put beside it. */
function install(tarball: string): string {
  const place = join(folder, 'node_modules', 'hookproof');
  mkdirSync(place, { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{}');
  execFileSync('tar', ['-xzf', tarball, '-C', place, '--strip-components=1']);
  const { packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8'));
  for (const [path, { dev = false, devOptional = false }] of Object.entries(packages as Record<string, Locked>)) {
    const top = /^node_modules\/(?:@[^/]+\/)?[^/]+$/.test(path);
    if (!top || dev || devOptional) continue;
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    symlinkSync(join(ROOT, path), join(folder, path));
  }
  const bin = join(folder, 'node_modules', '.bin');
  mkdirSync(bin);
  symlinkSync('../hookproof/dist/bin/hookproof.js', join(bin, 'hookproof'));
  return place;
}

interface Locked {
  readonly dev?: boolean;
  readonly devOptional?: boolean;
}

async function lint(place: string): Promise<void> {
  const { messages, pkg } = await publint({ pkgDir: place, pack: false, strict: true });
  const told = messages.map((message) => formatMessage(message, pkg, { color: false }) ?? message.code);
  wrong.push(...told);
  console.log(`publint: ${told.length} findings`);
}

/** Imports every export by its name, as code and as types. */
function importAll(place: string): void {
  const { exports } = JSON.parse(readFileSync(join(place, 'package.json'), 'utf8'));
  const names = Object.keys(exports).map((path) => path.replace(/^\./, 'hookproof'));
  const files = names.flatMap((name) =>
    name.endsWith('/*')
      ? readdirSync(join(place, exports[name.replace('hookproof', '.')].replace(/\*$/, ''))).map((file) =>
          name.replace('*', file),
        )
      : name.endsWith('.json')
        ? [name]
        : [],
  );
  const modules = names.filter((name) => !name.includes('*') && !name.endsWith('.json'));
  const script = `
    for (const name of ${JSON.stringify(modules)}) {
      const count = Object.keys(await import(name)).length;
      if (count === 0) throw new Error(name + ' exports nothing');
      console.log(name + ' ' + count);
    }
    const { readFileSync } = await import('node:fs');
    for (const name of ${JSON.stringify(files)}) readFileSync(new URL(import.meta.resolve(name)));`;
  writeFileSync(join(folder, 'all.mjs'), script);
  console.log(
    `exports: ${there(process.execPath, ['all.mjs']).trim().replaceAll('\n', ', ')}, and ${files.length} files`,
  );

  // A module without types is `any`, of which every text is a key.
  const types = modules.map(
    (name, index) =>
      `import * as m${index} from '${name}';\n// @ts-expect-error\nexport const k${index}: keyof typeof m${index} = 'no such name';\n`,
  );
  writeFileSync(join(folder, 'consumer.mts'), types.join(''));
  const compiler = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');
  const options = [
    '--noEmit',
    '--strict',
    '--skipLibCheck',
    '--module',
    'nodenext',
    '--target',
    'es2023',
    '--types',
    '',
  ];
  there(process.execPath, [compiler, ...options, 'consumer.mts']);
  console.log(`types: ${modules.length} modules`);
}

function runIt(): void {
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  const program = join('node_modules', '.bin', 'hookproof');
  const said = there(program, ['--version']).trim();
  if (said !== version) wrong.push(`the command says that it is ${said}, and not ${version}`);
  there(program, ['demo', '--suite', 'signature', '--output-dir', 'out']);
  const { counts, verdict } = JSON.parse(readFileSync(join(folder, 'out', 'run.json'), 'utf8'));
  if (verdict !== 'conformant') wrong.push(`a run of the installed command ended ${verdict}`);
  console.log(`command: ${said}, a run of one suite ${verdict} with ${counts.pass} passed`);
}

try {
  const place = install(pack());
  await lint(place);
  importAll(place);
  runIt();
} finally {
  rmSync(folder, { recursive: true, force: true });
}
for (const line of wrong) console.error(`the package: ${line}`);
process.exitCode = wrong.length === 0 ? 0 : 1;
