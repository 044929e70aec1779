/**
 * Benchmark of the whole catalogue over HTTPS and mutual TLS, from a cold process, against the reference receiver on loopback in a process
 * of its own; each round stands beside one over plain HTTP. Prints medians and ratios of one interleaved series. No test depends on it.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CLI, CREDENTIALS, headline, median, row, startReceiver, time, wall } from './measuring.ts';

const ROUNDS = 7;

headline();
const folder = mkdtempSync(join(tmpdir(), 'hookproof-bench-'));
const inFolder = (name: string) => join(folder, name);
time([CLI, 'certs', folder, '--force']);
// The fixtures are what only the authority can make: with them nothing of the suite is left out but what was revoked.
const fixtures = readdirSync(inFolder('fixtures'))
  .filter((name) => !name.includes('-key'))
  .map((name) => /^client-(.*)\.pem$/.exec(name)?.[1] ?? '')
  .map((name) => `    ${name}: { cert: fixtures/client-${name}.pem, key: fixtures/client-${name}-key.pem }`);
const config = inFolder('hookproof.yaml');
writeFileSync(
  config,
  `tls: { ca: ca.pem, client-cert: client.pem, client-key: client-key.pem }\nmtls:\n  fixtures:\n${fixtures.join('\n')}\n`,
);
const material = ['--tls-cert', inFolder('server.pem'), '--tls-key', inFolder('server-key.pem')];
const clients = ['--client-ca', inFolder('client-ca.pem'), '--allow-client', 'hookproof test client'];
const [plain, secure] = await Promise.all([
  startReceiver([], CREDENTIALS),
  startReceiver([...material, ...clients], CREDENTIALS),
]);
try {
  const file = inFolder('run.json');
  const series = { plain: [] as number[], secure: [] as number[], ratio: [] as number[] };
  for (let round = -1; round < ROUNDS; round++) {
    const base = time([CLI, 'run', plain.url, '--reporter', `json=${file}`], CREDENTIALS);
    const { port } = new URL(secure.url);
    const url = `https://localhost:${port}/hooks`;
    const ours = time([CLI, 'run', url, '--config', config, '--reporter', `json=${file}`], CREDENTIALS);
    if (round < 0) continue; // warm-up
    series.plain.push(base);
    series.secure.push(ours);
    series.ratio.push(ours / base);
  }
  const { requests, judged, planned, durationMs } = JSON.parse(readFileSync(file, 'utf8')) as Record<string, number>;
  row('whole catalogue, plain HTTP, cold process', wall(series.plain), 'target under 1 s');
  row('whole catalogue, HTTPS and mutual TLS', wall(series.secure), 'target under 3 s');
  row('  against plain HTTP', `${median(series.ratio).toFixed(2)}x`, '');
  row(
    '  of which the run itself',
    `${((durationMs ?? 0) / 1000).toFixed(2)} s, ${requests} requests`,
    `${judged} of ${planned} judged`,
  );
} finally {
  plain.close();
  secure.close();
  rmSync(folder, { recursive: true, force: true });
}
