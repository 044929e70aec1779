import { describe, expect, it } from 'vitest';
import { hostOf, isLoopback, isOwnHost } from '../../contract/hosts.ts';

describe('a loopback host', () => {
  it.each(['localhost', 'a.localhost', '127.0.0.1', '127.10.20.30', '::1', '[::1]'])('is %s', (host) => {
    expect(isLoopback(host)).toBe(true);
  });
  it.each(['', '.localhost', 'xlocalhost', 'localhost.example', '128.0.0.1', '127.0.0.1x', '127.0.0', '::2', '[::1]x'])(
    'is not "%s"',
    (host) => expect(isLoopback(host)).toBe(false),
  );
});

describe('the host of a Host header', () => {
  it.each([
    ['LocalHost:9464', 'localhost'],
    ['127.0.0.1', '127.0.0.1'],
    ['[2001:DB8::1]:80', '2001:db8::1'],
    ['example.com:', 'example.com'],
    ['', ''],
    ['::1', ''],
    ['[evil.example]', ''],
    ['a:b', ''],
    ['[::1]evil.example', ''],
  ])('of "%s" is "%s"', (header, host) => expect(hostOf(header)).toBe(host));

  it('names this machine by an address, as loopback, or by a name that is given', () => {
    const named = ['10.1.2.3:80', '[2001:db8::1]', 'localhost', 'Receiver.Example:9', undefined];
    expect(named.map((header) => isOwnHost(header, ['receiver.example', '']))).toEqual(named.map(() => true));
    const others = ['evil.example', '127.0.0.1.evil.example', '127.0.0.1@evil.example', '0x7f.1', ''];
    expect(others.map((header) => isOwnHost(header, ['receiver.example', '']))).toEqual(others.map(() => false));
  });
});
