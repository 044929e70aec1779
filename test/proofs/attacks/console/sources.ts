/** Attacks with data that partners write: a partner's file, and its URL for notices. */
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { readPartners } from '../../../../harness/cli/certify/partner-files.ts';
import type { sendNotice } from '../../../../harness/operate/send-notice.ts';

/** One attack and its result, which is null if it failed, as it should. */
export interface Tried {
  readonly name: string;
  readonly got: string | null;
}

/** The lines of files of the partner `evil`. The files of `victim` contain secrets. */
const FILES: readonly (readonly [name: string, lines: string])[] = [
  ['a variable of another partner', `hmac:\n  secret: \${env:PARTNER_VICTIM__SECRET}`],
  ['a variable of another partner in a header', `headers:\n  X-Stolen: a \${env:PARTNER_VICTIM__SECRET}`],
  ["the operator's key in a variable", `hmac:\n  secret: \${env:HOOKPROOF_CERTIFY_KEY}`],
  ['any variable of the machine', `hmac:\n  secret: \${env:AWS_SECRET_ACCESS_KEY}`],
  ['a file of another partner', `hmac:\n  secret: \${file:secrets/victim}`],
  ['a file of another partner, by a detour', `hmac:\n  secret: \${file:evil/../secrets/victim}`],
  ['a file of another partner, by a link', `hmac:\n  secret: \${file:evil/link}`],
  ['a file of the machine', `hmac:\n  secret: \${file:/etc/hostname}`],
  ['a file above the folder', `hmac:\n  secret: \${file:../operator.pem}`],
  [
    'the secret of notices of another partner',
    `operate:\n  notices:\n    url: https://evil.example/\n    secret: \${file:secrets/victim}`,
  ],
  ['the client key of another partner', 'tls:\n  client-cert: victim/client.pem\n  client-key: victim/client.pem'],
  ['its own revision', 'revision: 1'],
  ['a private address, by name', 'allow-private: [localhost]'],
  ['its own evidence level', 'evidence-level: 0'],
  ['a selection of checks', 'suites: [valid]'],
  ['known failures', 'baseline: evil/known.yaml'],
  ['where reports are written', 'output-dir: /tmp/evil'],
  ['a command', 'effects-command: "touch /tmp/evil"'],
];

/** Reads each file as `certify --partners` and `operate` do. */
export async function attackFiles(sources: string): Promise<Tried[]> {
  const module = await import(join(sources, 'harness/cli/certify/partner-files.ts'));
  const read = module.readPartners as typeof readPartners;
  const folder = await mkdtemp(join(tmpdir(), 'hookproof-attacks-files-'));
  const partners = join(folder, 'partners');
  await mkdir(join(partners, 'secrets'), { recursive: true });
  await mkdir(join(partners, 'evil'));
  await mkdir(join(partners, 'victim'));
  const secret = 'the-secret-of-the-victim-0123456789ab';
  for (const [file, text] of [
    ['operator.pem', secret],
    ['partners/secrets/victim', secret],
    ['partners/victim/client.pem', secret],
    ['partners/evil/known.yaml', '[]'],
    [
      'partners/victim.yaml',
      `url: https://victim.example/\nprofile: staging\nhmac:\n  secret: \${file:secrets/victim}\n`,
    ],
  ] as const)
    await writeFile(join(folder, file), text);
  await symlink(join(partners, 'secrets/victim'), join(partners, 'evil/link'));
  Object.assign(process.env, {
    PARTNER_VICTIM__SECRET: secret,
    HOOKPROOF_CERTIFY_KEY: secret,
    AWS_SECRET_ACCESS_KEY: secret,
    PARTNER_EVIL__SECRET: 'its-own-secret-0123456789abcdef012345',
  });
  try {
    const tried: Tried[] = [];
    for (const [name, lines] of FILES) {
      const own = lines.startsWith('hmac') ? '' : `hmac:\n  secret: \${env:PARTNER_EVIL__SECRET}\n`;
      await writeFile(join(partners, 'evil.yaml'), `url: https://evil.example/\nprofile: staging\n${own}${lines}\n`);
      const { broken, members } = await read(partners, {}, []);
      const shown = broken.flatMap(({ problems }) => problems).join('\n');
      const isRefused = members.length === 1 && members[0]?.name === 'victim' && broken[0]?.name === 'evil';
      tried.push({
        name,
        got: !isRefused ? 'the file is used' : shown.includes(secret) ? 'the secret is shown' : null,
      });
    }
    return tried;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Sends a notice to each internal address, and checks whether anything arrives. */
export async function attackNotices(sources: string): Promise<Tried[]> {
  const module = await import(join(sources, 'harness/operate/send-notice.ts'));
  const send = module.sendNotice as typeof sendNotice;
  const contacted: string[] = [];
  const inside = await listening((request, response) => {
    contacted.push(request.url ?? '');
    response.end();
  });
  const { port } = inside.address() as AddressInfo;
  const outside = await listening((_, response) => {
    response.writeHead(307, { Location: `http://127.0.0.1:${port}/redirected` }).end();
  });
  const redirecting = `http://127.0.0.1:${(outside.address() as AddressInfo).port}/`;
  const hosts = [
    ...['127.0.0.1', 'localhost', '127.1', '2130706433', '0x7f000001', '017700000001', '127.0.0.1.', '[::1]'],
    ...['[::ffff:127.0.0.1]', '[::ffff:7f00:1]', '[64:ff9b::7f00:1]', '[::127.0.0.1]', '0.0.0.0', '10.0.0.1'],
    ...['169.254.169.254', '[fd00:ec2::254]', '100.100.100.200', '192.168.0.1', '[fe80::1]'],
  ];
  const notice = { id: 'a', type: 'HOOKPROOF_NOTICE', at: '2026-11-27T00:00:00.000Z', data: {} };
  const secret = 'the-secret-of-the-notices-0123456789';
  const tried: Tried[] = [];
  const attempt = async (name: string, url: string, more: Partial<Parameters<typeof send>[2]> = {}) => {
    contacted.length = 0;
    const options = { policy: { reach: 'public-only' }, secrets: [], timeoutMs: 1500, ...more } as const;
    const { kind } = await send(notice, { url, secret }, options);
    tried.push({
      name,
      got: contacted.length > 0 || kind !== 'refused' ? `${kind}, ${contacted.length} requests` : null,
    });
  };
  try {
    for (const host of hosts) await attempt(`to ${host}`, `http://${host}:${port}/`);
    const resolve = async () => [{ address: '127.0.0.1', family: 4 }];
    await attempt('to a name that resolves to this machine', `http://rebound.example:${port}/`, { resolve });
    const policy = { reach: 'public-only', allowPrivate: ['127.0.0.1'] } as const;
    await attempt('by a redirect of a host that is allowed', redirecting, { policy });
    return tried;
  } finally {
    inside.close();
    outside.close();
  }
}

async function listening(listener: RequestListener): Promise<Server> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}
