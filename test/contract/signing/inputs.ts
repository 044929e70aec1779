import { randomBytes } from 'node:crypto';

/** Creates a secret like those that operators issue, so that the repository contains none. */
export function newSecret(): string {
  return randomBytes(24).toString('base64url');
}

/** A body that most mistakes in reading a body change. */
export const ODD_BODY = Buffer.from(
  ' { "id": "n-1", "at": 1700000000, "data": { "z": 1.0, "a": "caf\u00e9/\\u00e9 e\u0301 <\\/>", ' +
    '"b": {}, "n": 12345678901234567890 } }\r\n',
);
