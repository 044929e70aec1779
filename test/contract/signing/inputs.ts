import { randomBytes } from 'node:crypto';

/** A secret as an operator would issue it: made at run time, so that none is in the repository. */
export function newSecret(): string {
  return randomBytes(24).toString('base64url');
}

/** A body that most body mistakes change. */
export const ODD_BODY = Buffer.from(
  ' { "id": "n-1", "at": 1700000000, "data": { "z": 1.0, "a": "caf\u00e9/\\u00e9 e\u0301 <\\/>", ' +
    '"b": {}, "n": 12345678901234567890 } }\r\n',
);
