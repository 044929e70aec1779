import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { hookproof, MAIN } from '../cli/hookproof.ts';
import { accepting, freePort } from '../endpoints/listen.ts';
import { lacks } from '../setup/programs.ts';
import { sourceOf } from './recipe-process.ts';

const cwd = mkdtempSync(join(tmpdir(), 'hookproof-init-'));
afterAll(() => rmSync(cwd, { recursive: true }));

/** Returns the commands that are printed under a number. */
function commandsIn(stdout: string, step: number): string {
  const part = stdout.split(/^ {2}\d\. /m)[step] ?? '';
  return part
    .split('\n')
    .filter((line) => line.startsWith('     '))
    .join('\n');
}

describe('init --stack', () => {
  it('writes the receiver of the stack and its configuration, and replaces nothing without --force', async () => {
    const { code, stdout } = await hookproof(['init', '--stack', 'laravel', 'my shop'], { cwd });
    expect(code).toBe(0);
    expect(commandsIn(stdout, 1)).toContain("cd 'my shop'\n");
    expect(readFileSync(join(cwd, 'my shop/WebhookController.php'), 'utf8')).toBe(sourceOf('laravel'));
    expect(readFileSync(join(cwd, 'my shop/effects.php'), 'utf8')).toContain('notification=ID,ID');
    expect(readFileSync(join(cwd, 'my shop/effects-server.py'), 'utf8')).toContain('WEBHOOK_EFFECTS_TOKEN');
    expect(commandsIn(stdout, 3)).toContain("hookproof run --effects-command 'php effects.php'");
    expect(stdout).toContain('`python3 effects-server.py php effects.php`');
    const config = readFileSync(join(cwd, 'my shop/hookproof.yaml'), 'utf8');
    expect(config).toMatch(/^url: http:\/\/127\.0\.0\.1:3000\/hooks$/m);
    expect(config).toMatch(/^ {2}secret: \$\{env:WEBHOOK_SECRET\}$/m);
    expect(config).toMatch(/^stack: laravel /m);

    rmSync(join(cwd, 'my shop/composer.json'));
    const refused = await hookproof(['init', '--stack', 'laravel', 'my shop'], { cwd });
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain('my shop/hookproof.yaml');
    expect(existsSync(join(cwd, 'my shop/composer.json'))).toBe(false);
    expect((await hookproof(['init', '--stack', 'laravel', 'my shop', '--force'], { cwd })).code).toBe(0);
  });

  it('suggests a stack for one that is not known', async () => {
    const { code, stderr } = await hookproof(['init', '--stack', 'flusk'], { cwd });
    expect({ code, suggests: stderr.includes('Did you mean "flask"?') }).toEqual({ code: 2, suggests: true });
  });

  it.skipIf(lacks('python3', 'openssl'))('prints commands that start the receiver and check it', async () => {
    const { stdout } = await hookproof(['init', '--stack', 'python', 'shop'], { cwd });
    const port = await freePort();
    const file = join(cwd, 'shop/hookproof.yaml');
    writeFileSync(file, readFileSync(file, 'utf8').replace(':3000/', `:${port}/`));
    const program = join(cwd, 'hookproof');
    writeFileSync(program, `#!/bin/sh\nexec '${process.execPath}' '${MAIN}' "$@"\n`);
    chmodSync(program, 0o755);
    const env = { ...process.env, PATH: `${cwd}${delimiter}${process.env.PATH}`, PORT: String(port) };
    const shell = (script: string) => spawn('sh', ['-c', script], { cwd, env, stdio: 'ignore', detached: true });

    const receiver = shell(commandsIn(stdout, 1));
    try {
      await accepting(port, receiver);
      const [code] = await once(shell(commandsIn(stdout, 2)), 'close');
      expect(code).toBe(0);
      expect(readFileSync(join(cwd, 'shop/journal.ndjson'), 'utf8')).not.toBe('');
      const withEffects = `${commandsIn(stdout, 3)} --suite effects --reporter json=run.json`;
      expect(await once(shell(withEffects), 'close')).toEqual([0, null]);
      const { results } = JSON.parse(readFileSync(join(cwd, 'shop/run.json'), 'utf8'));
      const order = results.find(({ id }: { readonly id: string }) => id === 'effects/order');
      expect(order.verdict).toBe('pass');
    } finally {
      const ended = once(receiver, 'close');
      process.kill(-(receiver.pid ?? Number.NaN), 'SIGKILL');
      await ended;
    }
  });
});
