import { createServer, type LookupFunction } from 'node:net';
import { describe, expect, it } from 'vitest';
import { type AddressPolicy, pinEndpoint, pinTo, type Resolve } from '../../../harness/transport/index.ts';

const PUBLIC_ONLY: AddressPolicy = { reach: 'public-only' };
const at = (...addresses: string[]): Resolve & { asked: string[] } => {
  const asked: string[] = [];
  const resolve = async (host: string) => {
    asked.push(host);
    return addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
  };
  return Object.assign(resolve, { asked });
};
const pin = (url: string, resolve: Resolve = at(), policy?: AddressPolicy) =>
  pinEndpoint(url, { resolve, timeoutMs: 1_000, chooses: false, ...(policy && { policy }) });
const refusal = (url: string, resolve?: Resolve, policy?: AddressPolicy) =>
  pin(url, resolve, policy).then(
    ({ address }) => `pinned ${address}`,
    (error: { code: string; kind: string; message: string }) => `${error.code} ${error.kind}: ${error.message}`,
  );
const lookUp = (lookup: LookupFunction, host: string, all: boolean) =>
  new Promise((resolve) => {
    lookup(host, { all }, (error, address, family) =>
      resolve(error === null ? { address, family } : { code: error.code }),
    );
  });

describe('what is refused always', () => {
  it.each([
    'http://169.254.169.254/',
    'http://0xa9.254.0xa9fe/',
    'http://2852039166/',
    'http://0251.0376.0251.0376/',
    'http://169.254.169.254./',
    'http://[::ffff:169.254.169.254]/',
    'http://[64:ff9b::a9fe:a9fe]/',
    'http://[2002:a9fe:a9fe::]/',
    'https://[fd00:ec2::254]/',
    'http://100.100.100.200/',
    'http://[fe80::1]/',
    'http://0/',
    'http://[::]/',
    'http://224.0.0.1/',
    'http://255.255.255.255/',
    'http://192.0.2.1/',
    'http://198.18.0.1/',
  ])('%s', async (url) => {
    expect(await refusal(url)).toMatch(/^ENDPOINT_ADDRESS_REFUSED usage: /);
  });

  it('a name that resolves to such an address, even when it is allowed by name; the message names both', async () => {
    const policy: AddressPolicy = { reach: 'public-only', allowPrivate: ['evil.example'] };
    expect(await refusal('https://evil.example/', at('169.254.169.254'), policy)).toBe(
      'ENDPOINT_ADDRESS_REFUSED usage: will not connect to evil.example: it resolves to 169.254.169.254, a ' +
        'metadata address from which cloud machines read their own credentials',
    );
    expect(await refusal('https://169.254.1.1/')).toBe(
      'ENDPOINT_ADDRESS_REFUSED usage: will not connect to 169.254.1.1, a link-local address',
    );
  });
});

describe('loopback and private addresses', () => {
  const odd = [
    'http://127.0.0.1/',
    'http://0x7f.1/',
    'http://2130706433/',
    'http://017700000001/',
    'http://127.1/',
    'http://[::1]/',
    'http://[::ffff:7f00:1]/',
    'http://10.0.0.1/',
    'http://[fd00::1]/',
    'http://100.64.0.1/',
  ];
  it.each(odd)('%s is fine for a run, and refused where only public ones are allowed', async (url) => {
    expect(await refusal(url)).toMatch(/^pinned /);
    expect(await refusal(url, undefined, PUBLIC_ONLY)).toMatch(/^ENDPOINT_ADDRESS_REFUSED usage: /);
  });

  it.each([
    ['http://10.0.0.1/', '10.0.0.1'],
    ['http://[fd00::1]/', 'fd00:0::1'],
    ['http://[fd00::1]/', '[fd00::1]'],
    ['https://Staging.Partner.example/', 'staging.partner.example'],
    ['https://staging.partner.example./', 'STAGING.partner.example'],
  ])('%s is allowed by the name %s', async (url, name) => {
    const allowPrivate = ['other.example', name];
    expect(await refusal(url, at('10.0.0.1'), { reach: 'public-only', allowPrivate })).toMatch(/^pinned /);
    expect(await refusal(url, at('10.0.0.1'), { reach: 'public-only', allowPrivate: ['other.example'] })).toMatch(
      /^ENDPOINT/,
    );
  });

  it.each(odd.filter((url) => !/10\.0|fd00|100\.64/.test(url)))('%s is fine where only loopback is', async (url) => {
    expect(await refusal(url, undefined, { reach: 'loopback-only', allowHosts: [] })).toMatch(/^pinned /);
  });

  it.each(['198.41.0.4', '10.0.0.1', 'fd00::1'])('%s is refused there, unless its host is named', async (address) => {
    const url = 'https://partner.example/';
    const policy = (...allowHosts: string[]): AddressPolicy => ({ reach: 'loopback-only', allowHosts });
    expect(await refusal(url, at(address), policy('other.example'))).toMatch(/^ENDPOINT_ADDRESS_REFUSED usage: /);
    expect(await refusal(url, at(address), policy('Partner.example'))).toMatch(/^pinned /);
    const error = await pin(url, at(address), policy()).catch((thrown: { hint: string }) => thrown);
    expect(error).toMatchObject({ hint: expect.stringContaining('--allow-host HOST') });
    // Of several addresses, only those of this machine are used.
    expect(await refusal(url, at(address, '127.0.0.1'), policy())).toBe('pinned 127.0.0.1');
  });

  it('a link-local address is refused there even for a named host', async () => {
    const policy: AddressPolicy = { reach: 'loopback-only', allowHosts: ['partner.example'] };
    expect(await refusal('https://partner.example/', at('169.254.1.1'), policy)).toMatch(/^ENDPOINT/);
  });

  it.each([
    ['http://10.0.0.1/', '--allow-private HOST'],
    ['http://0.0.0.0/', 'can be reached at 127.0.0.1'],
    ['http://224.0.0.1/', 'Give the URL of the endpoint itself'],
  ])('%s: says what to do', async (url, hint) => {
    const error = await pin(url, at(), PUBLIC_ONLY).catch((thrown: { hint: string }) => thrown);
    expect(error).toMatchObject({ hint: expect.stringContaining(hint) });
  });
});

describe('a pin', () => {
  it('asks the system if no resolver is given', async () => {
    const { address } = await pinEndpoint('http://localhost/', { timeoutMs: 10_000, chooses: false });
    expect(address).toMatch(/^(?:127\.0\.0\.1|::1)$/);
  });

  it('asks once, gives that address to every connection, and resolves no other host', async () => {
    const resolve = at('198.41.0.4', '10.0.0.1');
    const { lookup, address, allowed, refused } = await pin('https://partner.example/', resolve, PUBLIC_ONLY);
    expect({ address, allowed, refused, asked: resolve.asked }).toEqual({
      address: '198.41.0.4',
      allowed: ['198.41.0.4'],
      refused: ['10.0.0.1'],
      asked: ['partner.example'],
    });
    expect(await lookUp(lookup, 'partner.example', true)).toMatchObject({
      address: [{ address: '198.41.0.4', family: 4 }],
    });
    expect(await lookUp(lookup, 'partner.example', false)).toEqual({ address: '198.41.0.4', family: 4 });
    expect(await lookUp(lookup, 'elsewhere.example', true)).toEqual({ code: 'ENOTFOUND' });
    const given = pinTo('partner.example', { address: '198.41.0.4', family: 4 });
    expect(await lookUp(given, 'partner.example', false)).toEqual({ address: '198.41.0.4', family: 4 });
    expect(resolve.asked.length).toBe(1);
  });

  it('of a name that does not resolve keeps to that', async () => {
    const fails: Resolve = async () => {
      throw Object.assign(new Error(), { code: 'EAI_AGAIN' });
    };
    const { address, error, lookup } = await pin('https://partner.example/', fails);
    expect({ address, error }).toMatchObject({
      address: null,
      error: { code: 'EAI_AGAIN', hostname: 'partner.example' },
    });
    expect(await lookUp(lookup, 'partner.example', true)).toEqual({ code: 'EAI_AGAIN' });
    expect((await pin('https://partner.example/', at())).error).toMatchObject({ code: 'ENOTFOUND' });
  });

  it('does not wait for a resolver longer than its time', async () => {
    const never: Resolve = () => new Promise(() => {});
    const { error } = await pinEndpoint('https://partner.example/', { resolve: never, timeoutMs: 20 });
    expect(error).toMatchObject({ code: 'ETIMEDOUT' });
  });

  it('of several addresses takes the first that takes a connection', async () => {
    const server = createServer((socket) => socket.destroy());
    await new Promise<void>((done) => server.listen(0, '127.0.0.2', done));
    const { port } = server.address() as { port: number };
    const resolve = at('::1', '127.0.0.3', '127.0.0.2');
    const chosen = await pinEndpoint(`http://partner.example:${port}/`, { resolve, timeoutMs: 1_000 });
    server.close();
    expect(chosen.address).toBe('127.0.0.2');
    const none = await pinEndpoint(`http://partner.example:${port}/`, { resolve, timeoutMs: 1_000 });
    expect(none.address).toBe('::1');
  });
});
