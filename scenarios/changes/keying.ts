/** Replacements for the API key. It is set in the address stage, so these are address changes. */
import type { AddressChange, Kit } from '../scenario.ts';
import { headerValue } from './addressing.ts';

/**
 * Sends this in place of the API key. Should it happen to be the partner's very key, then an `x` is put behind it, so
 * that what is sent is wrong for every partner. White space around a value is no part of it.
 */
export function keyInstead(label: string, value: (key: string, kit: Kit) => string): AddressChange {
  return headerValue('api-key', label, (key, kit) => {
    const sent = value(key, kit);
    return sent.replace(/^[\t ]+|[\t ]+$/g, '') === key ? `${sent}x` : sent;
  });
}

/** The key with one character made another one. A negative index counts from the end. */
export function withCharacterChanged(key: string, index: number): string {
  const at = index < 0 ? key.length + index : index;
  return `${key.slice(0, at)}${key[at] === '0' ? '1' : '0'}${key.slice(at + 1)}`;
}

/** A random key that nobody has agreed on. */
export const wrongKey = keyInstead('a random API key', (_key, kit) => kit.nonce(32));
