/** Issues a certificate at each evidence level, and checks that runs at a lower level are refused. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeCertificate } from '../../../certs/index.ts';
import { MAIN } from '../../cli/hookproof.ts';
import type { Case } from './cases.ts';
import { execute, startCase } from './play.ts';

export interface Certified {
  readonly sources: string;
  readonly demanded: number;
  /** The exit codes of `certify` and, if there is a certificate, of `certify verify`. */
  readonly code: number;
  readonly verified: number | null;
  /** The line about the evidence, or why there is no certificate. */
  readonly said: string;
  readonly problems: readonly string[];
}

const RECEIVER: Case = {
  name: 'for certificates',
  part: 'reference',
  receiver: { how: 'program' },
  store: 'SQLite',
  level: 2,
  red: [],
};

const STATEMENT = "effects are the receiver's own statement";

interface Expected {
  readonly sources: string;
  /** Number of flags of the run that are used: the first 0, 2, 4 or 6. */
  readonly flags: number;
  readonly demanded: number;
  readonly code: number;
}

const ALL_SOURCES = 6;

const RUNS: readonly Expected[] = [
  { sources: 'none', flags: 0, demanded: 0, code: 0 },
  { sources: 'effects', flags: 2, demanded: 1, code: 0 },
  { sources: 'effects, restart, log', flags: 6, demanded: 2, code: 0 },
  { sources: 'none', flags: 0, demanded: 1, code: 2 },
  { sources: 'effects, restart', flags: 4, demanded: 2, code: 2 },
  { sources: 'effects, restart, a log that stays empty', flags: 6, demanded: 2, code: 3 },
];

export async function* certifyLevels(): AsyncGenerator<Certified> {
  const folder = mkdtempSync(join(tmpdir(), 'hookproof-effects-'));
  const ca = await makeCertificate({ subject: 'CN=CA', authority: true });
  const options = { subject: 'CN=localhost', issuer: ca, hosts: ['localhost'], usages: ['serverAuth'] } as const;
  const { cert, key } = await makeCertificate({ ...options, hosts: ['localhost'], usages: ['serverAuth'] });
  for (const [name, text] of Object.entries({ ca: ca.cert, cert, key }))
    writeFileSync(join(folder, `${name}.pem`), text);
  writeFileSync(join(folder, 'empty.log'), '');
  const target = await startCase(RECEIVER, folder, '', ['--tls-cert', 'cert.pem', '--tls-key', 'key.pem']);
  const certify = async (...args: string[]) => {
    writeFileSync(join(folder, 'output'), '');
    const code = await execute(process.execPath, [MAIN, 'certify', ...args], folder);
    return { code, output: readFileSync(join(folder, 'output'), 'utf8').replace(/\s+/g, ' ') };
  };
  try {
    await certify('keygen', 'operator.pem');
    for (const [at, { sources, flags, demanded, code: expected }] of RUNS.entries()) {
      // The restarted receiver needs the variables that follow the sources.
      const given = [...target.flags.slice(0, flags), ...(flags < 4 ? [] : target.flags.slice(ALL_SOURCES))].map(
        (flag) => (sources.includes('empty') && flag === 'log' ? 'empty.log' : flag),
      );
      const where = [
        '--ca',
        'ca.pem',
        '--allow-private',
        'localhost',
        '--allow-private',
        '127.0.0.1',
        '--key',
        'operator.pem',
        '-o',
        `out${at}`,
      ];
      const level = ['--evidence-level', `${demanded}`];
      const { code, output } = await certify(target.url, '--profile', 'staging', ...where, ...level, ...given);
      const problems = code === expected ? [] : [`exit code ${code}, expected ${expected}: ${output.slice(-600)}`];
      if (expected !== 0) {
        const [refusal = ''] = /evidence level \d is required, and [^()]*/.exec(output) ?? [];
        if (refusal === '') problems.push(`no reason: ${output.slice(-600)}`);
        yield { sources, demanded, code, verified: null, said: refusal.trim(), problems };
        continue;
      }
      const verified = await certify(
        ...['verify', `out${at}/certificate.dsse.json`, '--key', 'operator.pub.pem', ...level],
        ...['--result', `out${at}/run.json`],
      );
      if (verified.code !== 0) problems.push(`verify: exit code ${verified.code}: ${verified.output.slice(-600)}`);
      const [, said = ''] = /evidence (level \d: .*?) checks /.exec(verified.output) ?? [];
      if (!said.startsWith(`level ${demanded}: `)) problems.push(`verify says "${said}"`);
      if (verified.code !== 0) {
        yield { sources, demanded, code, verified: verified.code, said: '', problems };
        continue;
      }
      const html = readFileSync(join(folder, `out${at}/report.html`), 'utf8').replaceAll(/&#(39|x27);/g, "'");
      const renderings = { certify: output, verify: verified.output, 'report.html': html };
      for (const [name, text] of Object.entries(renderings)) {
        if (demanded > 0 && !text.includes(STATEMENT)) problems.push(`${name} does not say whose statement it is`);
      }
      yield { sources, demanded, code, verified: verified.code, said, problems };
    }
  } finally {
    await target.end();
    rmSync(folder, { recursive: true, force: true });
  }
}
