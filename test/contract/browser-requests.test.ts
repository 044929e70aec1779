/** Which requests of a browser a local page answers: hosts, other sites, and tokens. */
import { expect, it } from 'vitest';
import { isAnsweredHost, isForeignRequest, isSameText } from '../../contract/browser-requests.ts';

it('answers on a loopback address to loopback names, and to the names of a proxy', () => {
  for (const header of ['localhost:8080', '127.0.0.1', '[::1]:1']) {
    expect(isAnsweredHost(header, '127.0.0.1', [])).toBe(true);
  }
  for (const header of [undefined, '', 'attacker.example', '192.0.2.1', 'localhost.attacker.example']) {
    expect(isAnsweredHost(header, '127.0.0.1', [])).toBe(false);
    expect(isAnsweredHost(header, '127.0.0.1', ['console.example'])).toBe(false);
  }
  expect(isAnsweredHost('Console.example:443', '127.0.0.1', ['console.example'])).toBe(true);
});

it('answers on another address to addresses and its names', () => {
  expect(isAnsweredHost('192.0.2.1:8080', '0.0.0.0', [])).toBe(true);
  expect(isAnsweredHost('console.example', '0.0.0.0', ['console.example'])).toBe(true);
  for (const header of [undefined, '', 'attacker.example']) {
    expect(isAnsweredHost(header, '0.0.0.0', ['console.example'])).toBe(false);
  }
});

it('recognises what the page of another site asks', () => {
  const own = 'http://127.0.0.1:8080';
  expect(isForeignRequest({}, own)).toBe(false);
  expect(isForeignRequest({ origin: own, 'sec-fetch-site': 'same-origin' }, own)).toBe(false);
  expect(isForeignRequest({ 'sec-fetch-site': 'none' }, own)).toBe(false);
  for (const site of ['cross-site', 'same-site']) expect(isForeignRequest({ 'sec-fetch-site': site }, own)).toBe(true);
  for (const origin of ['null', 'http://attacker.example', 'http://127.0.0.1:8081', 'https://127.0.0.1:8080']) {
    expect(isForeignRequest({ origin }, own)).toBe(true);
  }
});

it('compares texts of any length', () => {
  expect(isSameText('token', 'token')).toBe(true);
  for (const other of ['', 'toke', 'tokens', 'Token']) expect(isSameText('token', other)).toBe(false);
});
