/**
 * What a run says of one mutant: `tsx test/matrix/try-fault.ts NAME...` prints the scenarios that are not passed, and the diagnosis. With
 * `--tls` every mutant, and the right receiver too (`none`), is served with mutual TLS.
 */
import { randomBytes } from 'node:crypto';
import { makeWorkingSet, type ServerFixtureName, serverFixture, WORKING_SET_FIXTURES } from '../../certs/index.ts';
import { run } from '../../harness/run/run.ts';
import { FAULTS, type Fault, startFaultyReceiver } from '../../receiver/faults/index.ts';
import { startReceiver } from '../../receiver/index.ts';

const CLIENT = 'matrix client';
const SECRET = randomBytes(32).toString('base64');
const API_KEY = randomBytes(24).toString('base64url');

/** The material for HTTPS and mutual TLS, made once. */
async function material() {
  const set = {
    directory: '.',
    hosts: ['localhost'],
    days: 60,
    key: 'p256',
    clientName: CLIENT,
    keepCaKeys: false,
  } as const;
  const { files } = await makeWorkingSet(set);
  const pem = (name: string) => files.find((file) => file.name === name)?.text ?? '';
  const fixtures = WORKING_SET_FIXTURES.map((name) => [
    name,
    { cert: pem(`fixtures/client-${name}.pem`), key: pem(`fixtures/client-${name}-key.pem`) },
  ]);
  return { pem, fixtures: Object.fromEntries(fixtures) };
}

function needsTls({ area, needs }: Fault): boolean {
  return area === 'tls' || area === 'mtls' || needs?.includes('https') === true;
}

/** Runs the whole catalogue against a mutant, or the right receiver for null. */
export async function tryFault(
  fault: Fault | null,
  made: Awaited<ReturnType<typeof material>>,
  overTls = fault !== null && needsTls(fault),
) {
  const { pem } = made;
  const served =
    fault?.stage === 'connection' && fault.certificate !== undefined
      ? await serverFixture(fault.certificate as ServerFixtureName)
      : { cert: pem('server.pem'), key: pem('server-key.pem'), ca: pem('ca.pem'), host: 'localhost' };
  const options = {
    signing: { secrets: [SECRET] },
    apiKey: { keys: [API_KEY] },
    ...(overTls && {
      tls: { cert: served.cert, key: served.key, ca: pem('client-ca.pem'), clientCertificate: 'required' as const },
      clientCertificate: { from: 'connection' as const, allowed: [CLIENT] },
    }),
  };
  const receiver = await (fault === null ? startReceiver(options) : startFaultyReceiver(fault, options));
  try {
    return await run({
      partner: {
        url: receiver.url.replace('127.0.0.1', served.host),
        signing: { secret: SECRET },
        apiKey: { value: API_KEY },
        ...(overTls && { tls: { ca: served.ca, clientCert: pem('client.pem'), clientKey: pem('client-key.pem') } }),
      },
      ...(overTls && { clientFixtures: made.fixtures }),
      limits: { timeoutMs: 2000, recoveryMs: 2000 },
    });
  } finally {
    await receiver.close();
  }
}

const made = await material();
const names = process.argv.slice(2).filter((name) => name !== '--tls');
const allOverTls = process.argv.includes('--tls') ? true : undefined;
for (const name of names) {
  const fault = name === 'none' ? null : FAULTS.find((one) => one.name === name);
  if (fault === undefined) throw new Error(`there is no fault ${name}`);
  const document = await tryFault(fault, made, allOverTls);
  const { counts, verdict, durationMs } = document;
  process.stdout.write(
    `${name}: ${verdict}, ${counts.fail} failed, ${counts.warn} warnings, ${counts.inconclusive} inconclusive, ${Math.round(durationMs)} ms\n`,
  );
  for (const { id, verdict: said, reason } of document.results)
    if (said !== 'pass' && said !== 'not-applicable')
      process.stdout.write(`  ${said.padEnd(12)} ${id}  ${reason.slice(0, 100)}\n`);
  for (const { fault: found, agreement, outcomes } of document.diagnosis)
    process.stdout.write(`  diagnosis: ${found} ${agreement}/${outcomes}\n`);
}
