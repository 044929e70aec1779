import { describe, expect, it } from 'vitest';
import { describeConfig } from '../../../harness/config/index.ts';
import { load } from './workspace.ts';

describe('describeConfig', () => {
  it('shows every setting with its source, and secrets by their length', async () => {
    const config = await load({
      yaml: `url: https://file.example/\nhmac:\n  secret: \${file:s}\nheaders:\n  X-Tenant: acme\ntimeout: 5s\n`,
      env: { HOOKPROOF_API_KEY: 'k' },
      flags: { strict: true },
      files: { s: 's'.repeat(44) },
    });
    const rows = describeConfig(config)
      .trimEnd()
      .split('\n')
      .map((line) => line.split(/ {2,}/));
    expect(rows).toEqual([
      ['url', 'https://file.example/', 'hookproof.yaml:1:6'],
      ['hmac.secret', '[set, 44 characters]', 'hookproof.yaml:3:11'],
      ['hmac.header', 'X-Service-Signature', 'default'],
      ['api-key.value', '[set, 1 character]', 'environment HOOKPROOF_API_KEY'],
      ['api-key.header', 'X-API-Key', 'default'],
      ['headers.X-Tenant', 'acme', 'hookproof.yaml:5:13'],
      ...['tls.client-cert', 'tls.client-key', 'tls.passphrase', 'tls.ca'].map((path) => [path, 'not set', 'default']),
      ['mtls.fixtures', 'none', 'default'],
      ['profile', 'none', 'default'],
      ['revision', 'the newest', 'default'],
      ['suites', 'all', 'default'],
      ['scenarios', 'all', 'default'],
      ['grep', 'all', 'default'],
      ['concurrency', '8', 'default'],
      ['timeout', '5s', 'hookproof.yaml:6:10'],
      ['recovery', '10s', 'default'],
      ['max-time', 'by the number of checks', 'default'],
      ['allow-private', 'none', 'default'],
      ['seed', 'chosen by the run', 'default'],
      ['strict', 'true', 'flag --strict'],
      ['baseline', 'none', 'default'],
      ['stack', 'guessed from the answers', 'default'],
      ['bail', 'false', 'default'],
      ['evidence', 'false', 'default'],
      ['shard', 'none', 'default'],
      ['reporters', 'human=-', 'default'],
      ['output-dir', 'none', 'default'],
    ]);
  });

  it('has the sources that the result has', async () => {
    const config = await load({});
    expect(config.sources).toEqual(Object.fromEntries(config.settings.map(({ path, source }) => [path, source])));
  });

  it('spells control characters out', async () => {
    const config = await load({ flags: { suite: ['\u001b[31mred', 'a\nb'] } });
    expect(describeConfig(config)).toMatch(/suites +\\x1b\[31mred, a\\nb {2}/);
  });
});
