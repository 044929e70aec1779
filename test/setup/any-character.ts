import fc from 'fast-check';

/**
 * Generates any character except a lone surrogate, as a unit for `fc.string`. The unit `binary` means the same, but its
 * table of all characters costs each process half a second and 100 MB.
 */
export const anyCharacter = fc
  .integer({ min: 0, max: 0x10f7ff })
  .map((at) => String.fromCodePoint(at < 0xd800 ? at : at + 0x800));
