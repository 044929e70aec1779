/**
 * Builds a base image without an image registry: Debian with debootstrap, and Node and npm from npm packages. It is
 * built once, and kept as an archive in the temporary folder.
 */
import { execFile, execFileSync } from 'node:child_process';
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

const NODE = '22.23.3';
const NPM = '10.9.9';
const CERTIFICATES = 'etc/ssl/certs/ca-certificates.crt';

export const BASE_CONTENT = `Node ${NODE}, npm ${NPM}`;

/** Returns the path of the archive, and whether it already existed. */
export async function baseArchive(): Promise<{ archive: string; kept: boolean }> {
  const archive = join(tmpdir(), `hookproof-base-${suite()}-${process.arch}-${NODE}-${NPM}.tar`);
  if (existsSync(archive)) return { archive, kept: true };
  const folder = mkdtempSync(join(tmpdir(), 'hookproof-base-'));
  try {
    const root = join(folder, 'root');
    await run('debootstrap', ['--variant=minbase', '--include=ca-certificates', suite(), root, ...mirror()], {
      maxBuffer: 16 * 1024 * 1024,
    });
    await installNode(folder, root);
    for (const cache of ['var/cache/apt', 'var/lib/apt/lists']) rmSync(join(root, cache), { recursive: true });
    const unfinished = join(folder, 'base.tar');
    await run('tar', ['-C', root, '-cf', unfinished, '.']);
    renameSync(unfinished, archive);
    return { archive, kept: false };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Returns the code name of this machine's Debian version, because its packages can be fetched from here. */
const suite = () => /^VERSION_CODENAME=(\w+)/m.exec(readFileSync('/etc/os-release', 'utf8'))?.[1] ?? 'stable';

/** Returns the mirror from which this machine installs packages. Empty for the default of debootstrap. */
function mirror(): string[] {
  const format = ['indextargets', '--format', '$(RELEASE) $(SITE)', 'Created-By: Packages'];
  const targets = execFileSync('apt-get', format, { encoding: 'utf8' })
    .split('\n')
    .map((line) => line.split(' '));
  return targets
    .filter(([release]) => release === suite())
    .map(([, site = '']) => site)
    .slice(0, 1);
}

async function installNode(folder: string, root: string): Promise<void> {
  const packages = [`node-linux-${process.arch}@${NODE}`, `npm@${NPM}`];
  await run('npm', ['install', '--prefix', folder, '--ignore-scripts', '--no-audit', '--no-fund', ...packages]);
  const local = join(root, 'usr/local');
  copyFileSync(join(folder, `node_modules/node-linux-${process.arch}/bin/node`), join(local, 'bin/node'));
  mkdirSync(join(local, 'lib/node_modules'), { recursive: true });
  cpSync(join(folder, 'node_modules/npm'), join(local, 'lib/node_modules/npm'), { recursive: true });
  symlinkSync('../lib/node_modules/npm/bin/npm-cli.js', join(local, 'bin/npm'));
  // npm reaches its registry in the image as it does here.
  copyFileSync(join('/', CERTIFICATES), join(root, CERTIFICATES));
  const names = ['registry', 'cafile', 'proxy', 'https-proxy'];
  const settings = names.map((name) => [
    name,
    execFileSync('npm', ['config', 'get', name], { encoding: 'utf8' }).trim(),
  ]);
  const lines = settings.filter(([, value]) => value !== 'null').map(([name, value]) => `${name}=${value}\n`);
  mkdirSync(join(local, 'etc'), { recursive: true });
  writeFileSync(join(local, 'etc/npmrc'), lines.join(''));
}
