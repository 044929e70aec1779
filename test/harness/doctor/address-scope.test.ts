import { expect, it } from 'vitest';
import { addressScope } from '../../../harness/doctor/connect.ts';

it.each([
  ['8.8.8.8', 'public'],
  ['2606:4700::1111', 'public'],
  ['172.15.255.255', 'public'],
  ['172.16.0.1', 'private'],
  ['10.1.2.3', 'private'],
  ['192.168.1.1', 'private'],
  ['100.64.0.1', 'private'],
  ['fd00::1', 'private'],
  ['127.0.0.1', 'loopback'],
  ['127.9.9.9', 'loopback'],
  ['::1', 'loopback'],
  ['::ffff:127.0.0.1', 'loopback'],
  ['::ffff:8.8.8.8', 'public'],
  ['169.254.169.254', 'link-local'],
  ['fe80::1', 'link-local'],
  ['fe80::1%eth0', 'link-local'],
  ['0.0.0.0', 'special'],
  ['::', 'special'],
  ['192.0.2.7', 'special'],
  ['2001:db8::7', 'special'],
  ['224.0.0.1', 'special'],
  ['255.255.255.255', 'special'],
])('%s is %s', (address, scope) => {
  expect(addressScope(address)).toBe(scope);
});
