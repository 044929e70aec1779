import { execFile, spawn } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { WORKING_SET_FILES, WORKING_SET_FIXTURES } from '../../certs/index.ts';
import { certsCommand } from '../../harness/cli/commands/certs.ts';
import { ask, type TlsServer, tlsServer, VERSIONS } from '../certs/talk.ts';
import { accepting, freePort, listen } from '../endpoints/listen.ts';
import { lacks, pathOf } from '../setup/programs.ts';
import { type Finished, hookproof } from './hookproof.ts';

const CA_KEYS = ['ca-key.pem', 'client-ca-key.pem'];
const COMMON_FILES = WORKING_SET_FILES.filter((name) => !CA_KEYS.includes(name));

let base = '';
beforeAll(async () => {
  base = await mkdtemp(join(tmpdir(), 'hookproof-'));
});
afterAll(() => rm(base, { recursive: true }));

const mode = async (...path: string[]) => ((await stat(join(...path))).mode & 0o777).toString(8);
/** Returns the text of every file below a folder, including hidden files. */
async function contents(folder: string): Promise<Record<string, string>> {
  const found = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = found.filter((entry) => !entry.isDirectory()).map((entry) => join(entry.parentPath, entry.name));
  const texts = await Promise.all(
    files.map(async (file) => [file.slice(folder.length + 1), await readFile(file, 'utf8')]),
  );
  return Object.fromEntries(texts);
}

describe('a working set', () => {
  // A name that must be quoted in a shell and in nginx.
  const name = "it's a set";
  let dir = '';
  let made: Finished;
  let files: Record<string, string>;
  let server: TlsServer;
  let readme = '';
  /** Returns the lines of a section of the README. */
  const lines = (title: RegExp) =>
    readme
      .split('\n## ')
      .find((section) => title.test(section))!
      .split('\n```')[1]!
      .split('\n')
      .slice(1);

  beforeAll(async () => {
    made = await hookproof(['certs', name], { cwd: base });
    dir = join(base, name);
    files = await contents(dir);
    readme = files['README.md']!;
    server = await tlsServer({
      cert: files['server.pem']!,
      key: files['server-key.pem']!,
      ca: files['client-ca.pem']!,
      requestCert: true,
      rejectUnauthorized: true,
    });
  });
  afterAll(() => server.close());

  it('is exactly the expected files', () => {
    expect({ code: made.code, stderr: made.stderr }).toEqual({ code: 0, stderr: '' });
    expect(Object.keys(files).toSorted()).toEqual(COMMON_FILES.toSorted());
  });

  it('has keys and folders that only their owner can read', async () => {
    expect([await mode(dir), await mode(dir, 'fixtures')]).toEqual(['700', '700']);
    for (const file of Object.keys(files))
      expect([file, await mode(dir, file)]).toEqual([file, /-key\.pem$/.test(file) ? '600' : '644']);
  });

  it('is printed with its commands, and without a key', () => {
    expect(made.stdout).not.toContain('PRIVATE KEY');
    expect(files['server-key.pem']).toContain('PRIVATE KEY');
    for (const file of Object.keys(files)) expect(made.stdout).toContain(file);
    for (const command of ['hookproof receiver', 'hookproof run', 'curl --include', 'ssl_verify_client on;']) {
      expect(made.stdout).toContain(command);
      expect(readme).toContain(command);
    }
    expect(readme).toContain('Never for production');
  });

  it('is valid for 90 days, for this machine', () => {
    const leaf = new X509Certificate(files['server.pem']!);
    expect(leaf.subjectAltName).toBe('DNS:localhost, IP Address:127.0.0.1, IP Address:0:0:0:0:0:0:0:1');
    for (const file of ['ca.pem', 'server.pem', 'client-ca.pem', 'client.pem']) {
      const left = Date.parse(new X509Certificate(files[file]!).validTo) - Date.now();
      expect([file, Math.round(left / 86_400_000)]).toEqual([file, 90]);
    }
    const until = /valid until (\S+Z)/.exec(readme)?.[1];
    expect(Math.abs(Date.parse(until!) - Date.parse(leaf.validTo))).toBeLessThan(1000);
  });

  it.each(VERSIONS)('works with a Node server that requires a certificate, over %s', async (version) => {
    const say = (file: string | null) =>
      ask(server.port, {
        version,
        ca: files['ca.pem']!,
        ...(file === null ? {} : { cert: files[`${file}.pem`]!, key: files[`${file}-key.pem`]! }),
      });
    expect({
      right: await say('client'),
      none: await say(null),
      expired: await say('fixtures/client-expired'),
      early: await say('fixtures/client-not-yet-valid'),
      purpose: await say('fixtures/client-wrong-purpose'),
      // This certificate is valid for a server that trusts the CA and checks no name.
      other: await say('fixtures/client-other-subject'),
      untrusted: await ask(server.port, { version, ca: files['client-ca.pem']! }),
    }).toEqual({
      right: 'authorized',
      none: 'refused',
      expired: 'refused',
      early: 'refused',
      purpose: 'refused',
      other: 'authorized',
      untrusted: 'refused',
    });
  });

  it('has a client certificate with the default name, and one with another name', () => {
    const subject = (file: string) => new X509Certificate(files[file]!).subject;
    expect(subject('client.pem')).toBe('CN=hookproof test client');
    expect(subject('fixtures/client-other-subject.pem')).toBe('CN=hookproof test client-not-hookproof test client');
    for (const fixture of ['expired', 'not-yet-valid', 'wrong-purpose']) {
      expect(subject(`fixtures/client-${fixture}.pem`)).toBe('CN=hookproof test client');
    }
  });

  it('has commands that write a configuration that refers to existing files, and run with it', async () => {
    const commands = lines(/^The same with a hookproof\.yaml/);
    expect(commands.at(-1)).toBe(
      `hookproof run --config ${commands[0]!.slice('cat > '.length).replace(" <<'EOF'", '')}`,
    );
    await run(commands.slice(0, -1).join('\n'));
    const config = parse(await readFile(join(dir, 'hookproof.yaml'), 'utf8'));
    expect(config.url).toBe('https://localhost:3000/');
    const paths = [
      ...Object.values(config.tls),
      ...Object.values(config.mtls.fixtures).flatMap((one) => Object.values(one as object)),
    ];
    expect(paths.filter((path) => files[path] === undefined)).toEqual([]);
    expect(Object.keys(config.mtls.fixtures)).toEqual([...WORKING_SET_FIXTURES]);
    // Everything except the fixtures works unchanged, from any folder.
    const { mtls: _, ...rest } = config;
    const secret = (await run(lines(/^Create a secret/)[0]!)).code;
    await writeFile(join(dir, 'hookproof.yaml'), JSON.stringify(rest));
    const shown = await hookproof(['config', 'show', '--config', join(dir, 'hookproof.yaml')], { cwd: base });
    expect({ secret, code: shown.code, stderr: shown.stderr }).toEqual({ secret: 0, code: 0, stderr: '' });
    expect([await mode(dir, 'secret.txt'), shown.stdout.includes('client-key.pem')]).toEqual(['600', true]);
  });

  const run = (line: string) =>
    new Promise<{ code: number; stdout: string }>((resolve) => {
      const env = { ...process.env, https_proxy: '', HTTPS_PROXY: '' };
      const child = execFile('sh', ['-c', line], { cwd: base, env, timeout: 120_000 }, (_error, stdout) =>
        resolve({ code: child.exitCode ?? -1, stdout }),
      );
    });

  it.skipIf(lacks('curl'))('has curl commands that work', async () => {
    const [right, none, expired] = await Promise.all(
      lines(/^curl/).map((line) => run(line.replace(':3000/', `:${server.port}/`))),
    );
    expect([right!.code, right!.stdout.includes('200 OK'), right!.stdout.endsWith('authorized')]).toEqual([
      0,
      true,
      true,
    ]);
    for (const refused of [none, expired]) {
      expect([refused!.code === 0, refused!.stdout.includes('HTTP')]).toEqual([false, false]);
    }
    expect(readme).toContain('replace https://localhost:3000/ with its URL and path');
    const printed = made.stdout.split('\n').filter((line) => line.startsWith('curl'));
    expect(printed).toEqual(lines(/^curl/));
  });

  it.skipIf(lacks('nginx'))('has an nginx configuration that works', async () => {
    const behind = await listen(createServer((_request, response) => response.end('from behind')));
    const port = await freePort();
    const block = lines(/^nginx/)
      .join('\n')
      .replace('127.0.0.1:8443', `127.0.0.1:${port}`)
      .replace('127.0.0.1:3000', `127.0.0.1:${behind.port}`);
    const place = await mkdtemp(join(tmpdir(), 'hookproof-nginx-'));
    const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((what) => `${what}_temp_path ${place};`);
    await writeFile(
      join(place, 'nginx.conf'),
      [
        `daemon off;\nmaster_process off;\npid ${place}/pid;\nerror_log stderr;\nevents {}`,
        `http {\naccess_log off;\n${temporary.join('\n')}\n${block}\n}\n`,
      ].join('\n'),
    );
    const nginx = spawn(pathOf('nginx') ?? 'nginx', ['-p', place, '-c', join(place, 'nginx.conf')], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const ended = once(nginx, 'exit');
    try {
      await accepting(port, nginx);
      for (const version of VERSIONS) {
        const say = (file: string | null) =>
          ask(port, {
            version,
            ca: files['ca.pem']!,
            ...(file === null ? {} : { cert: files[`${file}.pem`]!, key: files[`${file}-key.pem`]! }),
          });
        const status = (text: string) => /^HTTP\/1\.1 (\d+)/.exec(text)?.[1] ?? text;
        expect({
          right: await say('client'),
          none: status(await say(null)),
          expired: status(await say('fixtures/client-expired')),
          early: status(await say('fixtures/client-not-yet-valid')),
          purpose: status(await say('fixtures/client-wrong-purpose')),
          other: status(await say('fixtures/client-other-subject')),
        }).toEqual({ right: 'from behind', none: '400', expired: '400', early: '400', purpose: '400', other: '403' });
      }
    } finally {
      nginx.kill();
      await ended;
      await behind.close();
      await rm(place, { recursive: true });
    }
  });
});

describe('the options of certs', () => {
  it('set hosts, days, key type and name, and keep the keys of the CAs', async () => {
    const dir = join(base, 'other');
    const args = [
      '--host',
      '*.partner.test',
      '--host',
      '192.0.2.7',
      '--days',
      '400',
      '--key',
      'rsa2048',
      '--client-cn',
      'Größe, "x"',
      '--keep-ca-keys',
    ];
    const { code, stdout, stderr } = await hookproof(['certs', dir, ...args]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const files = await contents(dir);
    expect(Object.keys(files).toSorted()).toEqual([...WORKING_SET_FILES].toSorted());
    expect(await Promise.all(CA_KEYS.map((file) => mode(dir, file)))).toEqual(['600', '600']);
    const server = new X509Certificate(files['server.pem']!);
    expect(server.subjectAltName).toBe('DNS:*.partner.test, IP Address:192.0.2.7');
    expect(server.publicKey.asymmetricKeyDetails?.modulusLength).toBe(2048);
    expect(new X509Certificate(files['client.pem']!).toLegacyObject().subject.CN).toBe('Größe, "x"');
    expect(Math.round((Date.parse(server.validTo) - Date.now()) / 86_400_000)).toBe(400);
    expect(stdout).toContain('https://192.0.2.7:3000/');
  });

  it('replace an existing set only with --force', async () => {
    const dir = join(base, 'again');
    await mkdir(dir, { mode: 0o755 });
    await chmod(dir, 0o755);
    await writeFile(join(dir, 'mine.txt'), 'mine');
    expect((await hookproof(['certs', dir, '--keep-ca-keys'])).code).toBe(0);
    const before = await contents(dir);

    const refused = await hookproof(['certs', dir]);
    expect({ code: refused.code, stdout: refused.stdout }).toEqual({ code: 2, stdout: '' });
    for (const file of WORKING_SET_FILES) expect(refused.stderr).toContain(file);
    expect(refused.stderr).toContain('--force');
    expect(await contents(dir)).toEqual(before);

    const forced = await hookproof(['certs', dir, '--force']);
    const after = await contents(dir);
    expect(forced.code).toBe(0);
    expect(Object.keys(after).toSorted()).toEqual([...COMMON_FILES, 'mine.txt'].toSorted());
    expect([after['mine.txt'], after['ca.pem'] === before['ca.pem']]).toEqual(['mine', false]);
    // These keys belong to the replaced CAs.
    for (const key of CA_KEYS) expect(forced.stdout).toContain(`removed ${key}`);
    expect([await mode(dir), await mode(dir, 'client-key.pem')]).toEqual(['755', '600']);
  });

  it('list only the files that exist', async () => {
    const dir = join(base, 'partly');
    await mkdir(join(dir, 'fixtures'), { recursive: true });
    await writeFile(join(dir, 'client.pem'), 'mine');
    const { code, stderr } = await hookproof(['certs', dir]);
    expect({ code, says: stderr.includes('already contains client.pem\n') }).toEqual({ code: 2, says: true });
    expect(await contents(dir)).toEqual({ 'client.pem': 'mine' });
  });

  it.each<[string, Partial<Parameters<typeof certsCommand>[1]>, string]>([
    ['a URL for a host', { host: ['https://partner.test'] }, 'without scheme'],
    ['a port with a host', { host: ['partner.test:3000'] }, 'is neither a host name nor an address'],
    ['brackets', { host: ['[::1]'] }, 'brackets'],
    ['a zone', { host: ['fe80::1%eth0'] }, 'is neither'],
    ['an invalid address', { host: ['127.0.0.300'] }, 'is neither'],
    ['an empty host', { host: [''] }, 'is neither'],
    ['a host that is not ASCII', { host: ['bücher.test'] }, 'xn--'],
    ['a host with a line break', { host: ['a\nb'] }, 'is neither'],
    ['no days', { days: '0' }, 'from 1 to 825'],
    ['too many days', { days: '826' }, 'from 1 to 825'],
    ['half a day', { days: '1.5' }, 'from 1 to 825'],
    ['an empty name', { clientCn: ' ' }, 'is empty, too long'],
    ['a long name', { clientCn: 'x'.repeat(65) }, '1 to 64'],
  ])('reject %s', async (_, flags, says) => {
    const folder = join(base, 'rejected');
    const error = await certsCommand(folder, { key: 'p256', ...flags }).catch((caught) => caught);
    expect(error).toMatchObject({ name: 'HookproofError', kind: 'usage' });
    expect(`${error.message} ${error.hint}`).toContain(says);
    expect(existsSync(folder)).toBe(false);
  });

  it('reject a secret on the command line', async () => {
    const { code, stderr } = await hookproof(['certs', 'x', '--secret=abc'], { cwd: base });
    expect({ code, says: stderr.includes('SECRET_ON_COMMAND_LINE') }).toEqual({ code: 2, says: true });
    expect((await hookproof(['run', '--key', 'abc'])).stderr).toContain('SECRET_ON_COMMAND_LINE');
  });

  it.each<[string, (dir: string) => Promise<string>, string]>([
    [
      'a file',
      async (dir) => {
        await writeFile(join(dir, 'file'), 'mine');
        return 'file';
      },
      'CERTS_NOT_A_FOLDER',
    ],
    [
      'a path inside a file',
      async (dir) => {
        await writeFile(join(dir, 'file'), 'mine');
        return 'file/certs';
      },
      'CERTS_NOT_A_FOLDER',
    ],
    [
      'a folder with a file instead of a folder',
      async (dir) => {
        await writeFile(join(dir, 'fixtures'), 'mine');
        return '.';
      },
      'CERTS_NOT_A_FOLDER',
    ],
    [
      'a folder with a folder instead of a file',
      async (dir) => {
        await mkdir(join(dir, 'ca.pem'));
        await writeFile(join(dir, 'ca.pem/file'), 'mine');
        return '.';
      },
      'CERTS_IN_THE_WAY',
    ],
    [
      // The link is found only after other files have been written.
      'a folder with a broken link',
      async (dir) => {
        await symlink(join(dir, 'nowhere'), join(dir, 'fixtures'));
        await writeFile(join(dir, 'client.pem'), 'mine');
        return '.';
      },
      'CERTS_NOT_WRITTEN',
    ],
    [
      'a name that is too long, in folders that do not exist',
      async () => `a/b/${'x'.repeat(300)}`,
      'CERTS_NOT_WRITTEN',
    ],
  ])('leave everything unchanged in %s', async (what, prepare, code) => {
    const dir = await mkdtemp(join(base, 'found-'));
    const folder = await prepare(dir);
    const names = await readdir(dir, { recursive: true });
    const finished = await hookproof(['certs', folder, '--force'], { cwd: dir });
    expect({ what, code: finished.code, stdout: finished.stdout }).toEqual({ what, code: 2, stdout: '' });
    expect(finished.stderr).toContain(`(${code})`);
    expect(finished.stderr).not.toMatch(/internal error|\n {4}at /);
    expect(await readdir(dir, { recursive: true })).toEqual(names);
    for (const file of ['client.pem', 'fixtures', 'file', 'ca.pem/file'].filter((one) => existsSync(join(dir, one)))) {
      expect(await readFile(join(dir, file), 'utf8')).toBe('mine');
    }
  });

  it('report a folder that is not writable', async () => {
    // root can write to every folder on a disk, but not to kernel files.
    const isRoot = process.getuid?.() === 0;
    const dir = isRoot ? '/sys/kernel' : join(base, 'locked');
    if (!isRoot) await mkdir(dir, { mode: 0o500 });
    const before = await readdir(dir);
    const { code, stderr } = await hookproof(['certs', dir]);
    expect(stderr).toMatch(/ is not writable \((?:EACCES|EPERM|EROFS)\)/);
    expect(code).toBe(2);
    expect(await readdir(dir)).toEqual(before);
    if (!isRoot) await chmod(dir, 0o700);
  });
});
