/** The tags of DER (X.690) that certificates, keys and the containers of them have. */
export const TAG = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  objectId: 0x06,
  utf8String: 0x0c,
  numericString: 0x12,
  printableString: 0x13,
  teletexString: 0x14,
  ia5String: 0x16,
  utcTime: 0x17,
  generalizedTime: 0x18,
  visibleString: 0x1a,
  bmpString: 0x1e,
  sequence: 0x30,
  set: 0x31,
  /** `[0]` and `[3]` around something: what they mean depends on where they stand. */
  context0: 0xa0,
  context3: 0xa3,
} as const;
