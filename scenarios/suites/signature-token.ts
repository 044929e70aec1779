import { joined } from '../changes/signing-shell.ts';
import { refused } from '../expectations.ts';
import type { Kit, Scenario } from '../scenario.ts';

/** Text as a header value: its UTF-8 bytes, without the control characters that a header cannot hold. */
function headerText(text: string): string {
  return Buffer.from(text)
    .toString('latin1')
    .replace(/[\x00-\x1f\x7f]/g, '');
}

/** The secret itself where its signature belongs: what a receiver takes that treats the header as a password. */
export const secretsAsSignature: readonly Scenario[] = [
  {
    id: 'signature/secret-itself',
    title: 'Refuses the secret itself in place of the signature',
    level: 'must',
    requirements: ['hmac-algorithm', 'hmac-invalid'],
    needs: ['hmac'],
    sendsSecret: true,
    change: {
      sign: {
        label: 'the secret itself',
        make: (_body: Uint8Array, kit: Kit) => headerText(kit.secret),
        shell: 'printf %s "$HOOKPROOF_SECRET"',
      },
    },
    expect: refused,
    why: 'A secret that is compared with the header like a token does not protect the body, and stands in every request.',
    fix: 'Replace the comparison of header and secret by one of the header with the HMAC of the body.',
  },
  {
    id: 'signature/secret-in-base64',
    title: 'Refuses the secret in Base64 in place of the signature',
    level: 'must',
    requirements: ['hmac-algorithm', 'hmac-invalid'],
    needs: ['hmac'],
    sendsSecret: true,
    change: {
      sign: {
        label: 'the secret in Base64',
        make: (_body: Uint8Array, kit: Kit) => Buffer.from(kit.secret).toString('base64'),
        shell: 'printf %s "$HOOKPROOF_SECRET" | openssl base64 -A',
      },
    },
    expect: refused,
    why: 'Base64 is no protection: this value is the same for every body, so one that was overheard works for ever.',
    fix: 'Check that the HMAC is keyed with the secret and fed with the body, and that encoding is the last step only.',
  },
  {
    id: 'signature/secret-as-bearer',
    title: 'Refuses the secret as a bearer token in place of the signature',
    level: 'must',
    requirements: ['hmac-algorithm', 'hmac-invalid'],
    needs: ['hmac'],
    sendsSecret: true,
    change: {
      sign: {
        label: 'Bearer and the secret',
        make: (_body: Uint8Array, kit: Kit) => `Bearer ${headerText(kit.secret)}`,
        shell: joined("printf %s 'Bearer '", 'printf %s "$HOOKPROOF_SECRET"'),
      },
    },
    expect: refused,
    why: 'A middleware for bearer tokens in front of the route can let the delivery through before its signature is looked at.',
    fix: 'Take the token middleware off this route, or make it run in addition to the signature and not in its place.',
  },
];
