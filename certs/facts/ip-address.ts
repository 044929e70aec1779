import { isIP } from 'node:net';

/** The address in the one spelling that has no other, or null when it is no address. Brackets and a zone are left out. */
export function canonicalIp(text: string): string | null {
  const bare = text.replace(/^\[(.*)\]$/, '$1').replace(/%.*$/s, '');
  const kind = isIP(bare);
  if (kind !== 6) return kind === 4 ? bare : null;
  return new URL(`http://[${bare}]`).hostname.slice(1, -1);
}

/** The address of an iPAddress name (4 or 16 bytes), or null for any other length. */
export function ipFromBytes(bytes: Uint8Array): string | null {
  if (bytes.length === 4) return bytes.join('.');
  if (bytes.length !== 16) return null;
  const groups = Array.from({ length: 8 }, (_, index) => {
    return (((bytes[index * 2] ?? 0) << 8) | (bytes[index * 2 + 1] ?? 0)).toString(16);
  });
  return canonicalIp(groups.join(':'));
}
