/**
 * `hookproof demo`: runs every suite against the reference receiver in this process, over a real socket, with every
 * feature that works within one process.
 */
import { randomBytes } from 'node:crypto';
import { makeWorkingSet, WORKING_SET_FIXTURES } from '../../../certs/index.ts';
import { type ConfigFlags, loadConfig } from '../../config/index.ts';
import { conduct } from '../conduct.ts';
import { REFUND_WAIT_MS } from '../receiver/effects-window.ts';
import { loadReceiver } from '../receiver-entry.ts';

const OUTPUT_DIR = 'hookproof-run';

/** The common name of the certificate that the demo's sender presents. */
const CLIENT_NAME = 'hookproof demo sender';

export async function demoCommand(flags: ConfigFlags): Promise<number> {
  const secret = randomBytes(32).toString('base64');
  const apiKey = randomBytes(24).toString('base64url');
  const pem = await demoCertificates();
  const { effectHandlers, memoryEffects, startEffectsWindow, startReceiver } = await loadReceiver();
  const record = memoryEffects();
  const token = randomBytes(24).toString('base64url');
  const window = await startEffectsWindow({ record, token });
  const receiver = await startReceiver({
    signing: { secrets: [secret] },
    apiKey: { keys: [apiKey] },
    tls: {
      cert: pem('server.pem'),
      key: pem('server-key.pem'),
      ca: pem('client-ca.pem'),
      clientCertificate: 'required',
    },
    clientCertificate: { from: 'connection', allowed: [CLIENT_NAME] },
    handlers: effectHandlers(record),
    handling: { refundWaitMs: REFUND_WAIT_MS },
    host: '127.0.0.1',
    port: 0,
  });
  try {
    const config = await loadConfig({
      flags: { outputDir: OUTPUT_DIR, ...flags, url: new URL('/hooks', receiver.url).href },
      env: {
        HOOKPROOF_SECRET: secret,
        HOOKPROOF_API_KEY: apiKey,
        HOOKPROOF_CA: pem('ca.pem'),
        HOOKPROOF_CLIENT_CERT: pem('client.pem'),
        HOOKPROOF_CLIENT_KEY: pem('client-key.pem'),
        HOOKPROOF_EFFECTS_URL: window.url,
        HOOKPROOF_EFFECTS_TOKEN: token,
      },
      cwd: process.cwd(),
      // The current folder may contain the hookproof.yaml of another endpoint.
      configFile: null,
    });
    const clientFixtures = Object.fromEntries(
      WORKING_SET_FIXTURES.map((name) => [
        name,
        { cert: pem(`fixtures/client-${name}.pem`), key: pem(`fixtures/client-${name}-key.pem`) },
      ]),
    );
    return await conduct({ ...config, clientFixtures });
  } finally {
    await receiver.close();
    await window.close();
  }
}

/** Creates certificates for this run, by file name. They are never written to disk. */
async function demoCertificates() {
  const { files } = await makeWorkingSet({
    directory: '.',
    hosts: ['localhost', '127.0.0.1', '::1'],
    days: 60,
    key: 'p256',
    clientName: CLIENT_NAME,
    keepCaKeys: false,
  });
  const texts = new Map(files.map(({ name, text }) => [name, text]));
  return (name: string) => texts.get(name) ?? '';
}
