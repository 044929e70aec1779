import { refuseUnauthorized } from '../stages/stage.ts';
import type { StageFault } from './fault.ts';
import { accepting, judging, SIGNATURE, signed, unverified } from './lenient-verifier.ts';

/** Checks that were agreed otherwise than the sender's: they refuse right deliveries, mostly all of them. */
export const otherAgreements: readonly StageFault[] = [
  {
    ...SIGNATURE,
    name: 'expects-hex',
    title: 'The signature is expected in hexadecimal, so that every right delivery is refused.',
    seen: 'Code from tutorials and from receivers for other senders: hexadecimal is the most common form.',
    why: 'Not a single notification arrives.',
    fix: {
      rule: 'Encode the digest in Base64.',
      express: 'Use `digest("base64")` in place of `digest("hex")`.',
      django: 'Use `base64.b64encode(mac.digest()).decode()` in place of `mac.hexdigest()`.',
      flask: 'Use `base64.b64encode(mac.digest()).decode()` in place of `mac.hexdigest()`.',
      laravel: 'Use `base64_encode(hash_hmac("sha256", $body, $secret, true))`.',
      rails: 'Use `Base64.strict_encode64(OpenSSL::HMAC.digest("SHA256", secret, body))` in place of `hexdigest`.',
      go: 'Use `base64.StdEncoding.EncodeToString` in place of `hex.EncodeToString`.',
    },
    severity: 'high',
    forbidden: true,
    replace: accepting(({ header, right }) =>
      right.some((one) => header === Buffer.from(one, 'base64').toString('hex')),
    ),
  },
  {
    ...SIGNATURE,
    name: 'expects-prefixed-hex',
    title: 'The signature is expected as "sha256=" and hexadecimal, so that every right delivery is refused.',
    seen: 'Receivers that were made for a well-known code hosting site.',
    why: 'Not a single notification arrives.',
    fix: {
      rule: 'Expect the Base64 of the digest, without a prefix.',
      express: 'Use `digest("base64")`, and put nothing before it.',
    },
    severity: 'high',
    forbidden: true,
    replace: accepting(({ header, right }) =>
      right.some((one) => header === `sha256=${Buffer.from(one, 'base64').toString('hex')}`),
    ),
  },
  {
    ...SIGNATURE,
    name: 'expects-sha1',
    title: 'The signature is expected as HMAC with SHA-1, so that every right delivery is refused.',
    seen: 'Verification libraries whose default algorithm is an old one.',
    why: 'Not a single notification arrives.',
    fix: { rule: 'Name SHA-256 in the code.', express: 'Use `createHmac("sha256", secret)`.' },
    severity: 'high',
    forbidden: true,
    replace: accepting(({ header, body, secrets }) =>
      secrets.some((secret) => header === signed(secret, body, 'sha1')),
    ),
  },
  {
    ...SIGNATURE,
    name: 'secret-decoded-first',
    title: 'The secret is decoded from Base64 before it keys the HMAC, so that every right delivery is refused.',
    seen: 'Libraries for schemes whose secrets are Base64; the secret here looks like one and is a text.',
    why: 'Not a single notification arrives. With a secret that is no Base64, hardly any key is left.',
    fix: {
      rule: 'Key the HMAC with the UTF-8 bytes of the secret.',
      express: 'Pass the text to `createHmac`, without `Buffer.from(secret, "base64")`.',
    },
    severity: 'high',
    forbidden: true,
    replace: accepting(({ header, body, secrets }) =>
      secrets.some((secret) => header === signed(Buffer.from(secret, 'base64'), body)),
    ),
  },
  {
    ...SIGNATURE,
    name: 'secret-cut-at-32',
    title: 'The secret is cut at 32 characters, so that every right delivery is refused.',
    seen: 'A column, a form field or a cipher key of 32 characters that the longer secret went through.',
    why: 'Not a single notification arrives, and the stored secret looks right at first sight.',
    fix: {
      rule: 'Store the secret whole, and compare its length with the agreed one.',
      express: 'Widen the column, and remove `.slice(0, 32)`.',
    },
    severity: 'high',
    forbidden: true,
    replace: accepting(({ header, body, secrets }) =>
      secrets.some((secret) => header === signed(secret.slice(0, 32), body)),
    ),
  },
  {
    ...SIGNATURE,
    name: 'verifies-lower-case-body',
    title: 'The signature is verified over the body in lower case, so that right deliveries are refused.',
    seen: 'Normalising code for search or de-duplication that ran before the check.',
    why: 'Every notification has capital letters in its type, so none arrives.',
    fix: {
      rule: 'Verify the bytes as they arrived.',
      express: 'Verify `req.body` of `express.raw` before anything else touches it.',
    },
    severity: 'high',
    forbidden: true,
    replace: accepting(({ header, body, secrets }) =>
      secrets.some((secret) => header === signed(secret, Buffer.from(body.toString('utf8').toLowerCase()))),
    ),
  },
  {
    ...SIGNATURE,
    name: 'old-deliveries-refused',
    title: 'Deliveries whose time is more than a day ago are refused as replays.',
    seen: 'Libraries for schemes that sign the time of sending; here the time says when something happened.',
    why: 'Deliveries that were held up are refused again and again, until they are lost for good.',
    fix: {
      rule: 'Guard against replays by the id, which the signature covers, and not by the time.',
      express: 'Remove the tolerance on `at` from the verification.',
    },
    severity: 'medium',
    forbidden: false,
    replace: (parts) =>
      judging((delivery, req, res, next) => {
        const { at } = unverified(delivery);
        const seconds = typeof at === 'number' ? at : Date.parse(String(at)) / 1000;
        if (seconds < Date.now() / 1000 - 86_400) return refuseUnauthorized(res, 'signature-old');
        return parts.right.verifySignature(req, res, next);
      }, parts),
  },
];
