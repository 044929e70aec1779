/** `hookproof demo`: the reference receiver in this process, on a real socket, and every suite against it. */
import { randomBytes } from 'node:crypto';
import { type ConfigFlags, loadConfig } from '../../config/index.ts';
import { conduct } from '../conduct.ts';
import { openReceiver } from '../receiver-door.ts';

/** Where the demo leaves its reports unless told otherwise. */
const OUTPUT_DIR = 'hookproof-run';

export async function demoCommand(flags: ConfigFlags): Promise<number> {
  const secret = randomBytes(32).toString('base64');
  const apiKey = randomBytes(24).toString('base64url');
  const receiver = await openReceiver({
    signing: { secrets: [secret] },
    apiKey: { keys: [apiKey] },
    host: '127.0.0.1',
    port: 0,
  });
  try {
    const config = await loadConfig({
      flags: { outputDir: OUTPUT_DIR, ...flags, url: new URL('/hooks', receiver.url).href },
      env: { HOOKPROOF_SECRET: secret, HOOKPROOF_API_KEY: apiKey },
      // The demo is about itself: a hookproof.yaml that happens to lie here is somebody else's.
      cwd: process.cwd(),
      configFile: null,
    });
    return await conduct(config);
  } finally {
    await receiver.close();
  }
}
