import { describe, expect, it } from 'vitest';
import { scopeOf } from '../../../harness/transport/index.ts';

describe('the scope of an address', () => {
  it.each([
    ['8.8.8.8', 'public'],
    ['2606:4700::1111', 'public'],
    ['172.15.255.255', 'public'],
    ['172.32.0.1', 'public'],
    ['100.128.0.1', 'public'],
    ['172.16.0.1', 'private'],
    ['10.1.2.3', 'private'],
    ['192.168.1.1', 'private'],
    ['100.64.0.1', 'private'],
    ['fd12::1', 'private'],
    ['fec0::1', 'private'],
    ['127.9.9.9', 'loopback'],
    ['::1', 'loopback'],
    ['169.254.1.1', 'link-local'],
    ['fe80::1%eth0', 'link-local'],
    ['169.254.169.254', 'metadata'],
    ['169.254.170.2', 'metadata'],
    ['100.100.100.200', 'metadata'],
    ['192.0.0.192', 'metadata'],
    ['168.63.129.16', 'metadata'],
    ['fd00:ec2::254', 'metadata'],
    ['fd20:ce::254', 'metadata'],
    ['0.0.0.0', 'special'],
    ['0.1.2.3', 'special'],
    ['::', 'special'],
    ['192.0.2.7', 'special'],
    ['198.51.100.7', 'special'],
    ['203.0.113.7', 'special'],
    ['198.18.0.1', 'special'],
    ['198.19.255.255', 'special'],
    ['224.0.0.1', 'special'],
    ['240.0.0.1', 'special'],
    ['255.255.255.255', 'special'],
    ['2001:db8::7', 'special'],
    ['2001:2::1', 'special'],
    ['3fff::1', 'special'],
    ['ff02::1', 'special'],
    ['100::1', 'special'],
    ['64:ff9b:1::1', 'special'],
  ])('%s is %s', (address, scope) => {
    expect(scopeOf(address)).toBe(scope);
  });

  const spellings = (high: string, low: string, dotted: string) => [
    ['mapped', `::ffff:${dotted}`],
    ['mapped, in hexadecimal', `::ffff:${high}:${low}`],
    ['mapped, written out', `0:0:0:0:0:ffff:${high}:${low}`],
    ['compatible', `::${high}:${low}`],
    ['translated', `::ffff:0:${high}:${low}`],
    ['NAT64', `64:ff9b::${high}:${low}`],
    ['6to4', `2002:${high}:${low}::1`],
    ['Teredo, its server', `2001:0:${high}:${low}::f7f7:f7f7`],
    ['ISATAP', `2600:1::5efe:${high}:${low}`],
  ];

  it.each(spellings('a9fe', 'a9fe', '169.254.169.254'))('sees metadata in an address that is %s', (_, address) => {
    expect(scopeOf(address!)).toBe('metadata');
  });

  it.each(spellings('a00', '1', '10.0.0.1'))('sees a private address in one that is %s', (_, address) => {
    expect(scopeOf(address!)).toBe('private');
  });

  it('sees the client behind a Teredo address, whose bits are turned', () => {
    expect(scopeOf('2001:0:808:808::5601:5601')).toBe('metadata');
  });

  it.each(spellings('808', '808', '8.8.8.8'))('takes a public address that is %s for one', (_, address) => {
    expect(scopeOf(address!)).toBe('public');
  });
});
