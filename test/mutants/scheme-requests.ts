/** Requests in a scheme, built by hand, that show how a receiver verifies. */
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { type Agent, type ClientRequest, type IncomingMessage, request } from 'node:http';
import { type HeaderLine, sameHeaderName } from '../../contract/index.ts';
import { type Scheme, signatureHeaderOf, signWithScheme } from '../../contract/signing/index.ts';

export const PUBLIC_URL = 'https://partner.test/webhooks?team=1';
export const BODY = Buffer.from('{"type":"a.b","n":1.50,"name":"café"}');

export function secretOf({ algorithm, secret: { prefix = '', encoding } }: Scheme): string {
  if (algorithm !== 'ed25519') return `${prefix}${randomBytes(24).toString(encoding === 'utf8' ? 'hex' : 'base64')}`;
  const der = generateKeyPairSync('ed25519').privateKey.export({ format: 'der', type: 'pkcs8' });
  return `${prefix}${der.subarray(-32).toString('base64')}`;
}

export const now = () => Math.floor(Date.now() / 1000);

export function sign(scheme: Scheme, secrets: readonly string[], changes: object = {}): HeaderLine[] {
  return signWithScheme(scheme, { body: BODY, url: PUBLIC_URL, id: 'msg_1', timestamp: now(), ...changes }, secrets);
}

interface SchemeRequest {
  readonly lines: readonly HeaderLine[];
  readonly body?: Buffer;
  readonly type?: string;
}

/** Requests by name, and the status with which a correct receiver answers them. */
export function requestsIn(
  scheme: Scheme,
  secret: string,
): Record<string, SchemeRequest & { readonly status: number }> {
  const signatureName = signatureHeaderOf(scheme);
  const other = secretOf(scheme);
  const valid = sign(scheme, [secret]);
  const signed = (changes: object) => sign(scheme, [secret], changes);
  /** A valid delivery with another value of the signature, which is made from the valid one. */
  const presenting = (change: (signature: string) => string) => {
    const [before = '', after = ''] = (scheme.headers[signatureName] ?? '').split('{signature}');
    const start = before.replace('{timestamp}', /t=(\d+)/.exec(signatureOf(valid))?.[1] ?? '').length;
    return valid.map(([name, value]): HeaderLine => {
      if (name !== signatureName) return [name, value];
      return [name, value.slice(0, start) + change(value.slice(start, value.length - after.length)) + after];
    });
  };
  const signatureOf = (lines: readonly HeaderLine[]) => lines.find(([name]) => name === signatureName)?.[1] ?? '';
  const frame = scheme.signature.replace('{value}', '');
  const flipped = (text: string) => `${text.slice(0, -9)}${text.at(-9) === '0' ? '1' : '0'}${text.slice(-8)}`;
  const late = (scheme.toleranceSeconds ?? 0) + 100;
  const swapCase = (text: string) =>
    text.replace(/[a-z]/gi, (one) => (one === one.toLowerCase() ? one.toUpperCase() : one.toLowerCase()));
  const binary = Buffer.from([0x22, 0xff, 0x22]);
  const refused = {
    unsigned: { lines: valid.filter(([name]) => name !== signatureName) },
    empty: { lines: valid.map(([name, value]): HeaderLine => [name, name === signatureName ? '' : value]) },
    forged: { lines: sign(scheme, [other]) },
    'last characters wrong': { lines: presenting((text) => `${text.slice(0, -4)}AAA=`) },
    'one character wrong': { lines: presenting(flipped) },
    'first characters wrong': { lines: presenting((text) => `${frame}000000${text.slice(frame.length + 6)}`) },
    short: { lines: presenting((text) => text.slice(0, -4)) },
    long: { lines: presenting((text) => `${text}00`) },
    'text before': { lines: presenting((text) => `00${text}`) },
    'letter case': { lines: presenting((text) => frame + swapCase(text.slice(frame.length))) },
    unpadded: { lines: presenting((text) => text.slice(0, -1)) },
    'no frame': { lines: presenting((text) => text.slice(frame.length)) },
    'frame inside': { lines: presenting((text) => text.slice(frame.length, 20) + frame + text.slice(20)) },
    'other version': { lines: presenting((text) => text.replace(/^v\d/, 'v9')) },
    'form of nothing': { lines: presenting(() => 'x') },
    'other body': { lines: valid, body: Buffer.from(`${BODY} `) },
    ...(scheme.toleranceSeconds !== undefined && {
      old: { lines: signed({ timestamp: now() - late }) },
      future: { lines: signed({ timestamp: now() + late }) },
      'not a number': { lines: signed({ timestamp: Number.NaN }) },
      'no time': {
        lines: signed({ timestamp: undefined }).filter(([name]) => scheme.headers[name] !== '{timestamp}'),
      },
    }),
    ...(scheme.signed.includes('{id}') && { 'ambiguous id': { lines: signed({ id: 'msg.1' }) } }),
  };
  const accepted = {
    valid: { lines: valid },
    bytes: { lines: signed({ body: binary }), body: binary, type: 'text/plain' },
    ...(scheme.separator !== undefined && {
      'second signature': { lines: sign(scheme, [other, secret]) },
      'first signature': { lines: sign(scheme, [secret, other]) },
    }),
  };
  // A change of a value that leaves it as it is, is none.
  const changed = Object.entries(refused).filter(
    ([name, { lines }]) => name === 'other body' || JSON.stringify(lines) !== JSON.stringify(valid),
  );
  const ofSample = scheme.samples[0]?.headers?.filter(([name]) => !sameHeaderName(name, 'Content-Type')) ?? [];
  const answered = (status: number, requests: readonly (readonly [string, SchemeRequest])[]) =>
    requests.map(([name, sent]) => [name, { ...sent, lines: [...ofSample, ...sent.lines], status }] as const);
  return Object.fromEntries([...answered(200, Object.entries(accepted)), ...answered(401, changed)]);
}

/** Posts a request. Resolves with the status. */
export function send(
  url: string,
  agent: Agent,
  { lines, body = BODY, type = 'application/json' }: SchemeRequest,
): Promise<number> {
  const headers: [string, string][] = [
    ['Content-Type', type],
    ['Content-Length', `${body.length}`],
  ];
  const all = [...headers, ...lines].filter(([name]) => !sameHeaderName(name, 'Host'));
  return new Promise((resolve, reject) => {
    const sent: ClientRequest = request(url, { method: 'POST', agent }, (answer: IncomingMessage) => {
      answer.resume();
      answer.once('end', () => resolve(answer.statusCode ?? 0));
    });
    for (const name of new Set(all.map(([one]) => one))) {
      sent.setHeader(
        name,
        all.filter(([one]) => one === name).map(([, value]) => value),
      );
    }
    sent.once('error', reject);
    sent.end(body);
  });
}
