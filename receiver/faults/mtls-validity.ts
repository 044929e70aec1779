import type { StageFault } from './fault.ts';
import { alsoLettingIn, MTLS } from './lenient-certificate.ts';

/** A mutant that forgives one thing that is wrong with a certificate of the right client, by Node's code for it. */
function forgiving(
  code: string,
  text: Pick<StageFault, 'name' | 'title' | 'seen' | 'why' | 'fix'> & Partial<StageFault>,
): StageFault {
  return {
    ...MTLS,
    severity: 'high',
    replace: alsoLettingIn(
      () =>
        ({ certificate, fault, named }) =>
          certificate !== null && named && fault === code,
    ),
    ...text,
  };
}

const LEAVE =
  'Refuse unless `req.socket.authorized` is true; do not look at `authorizationError` to let single codes pass.';

/** Receivers that forgive what the TLS library has found. */
export const forgivenCertificates: readonly StageFault[] = [
  forgiving('CERT_HAS_EXPIRED', {
    name: 'expired-client-certificate-accepted',
    title: 'Client certificates are taken after they have expired.',
    seen: 'Callbacks that forgive the expiry after a renewal was late once, and verification written by hand without the dates.',
    why: 'Expiry is what limits the harm of a key that was lost without anybody noticing.',
    fix: {
      rule: 'Leave the dates to the TLS library. Renew in time, and let the old and the new certificate overlap.',
      express: LEAVE,
    },
  }),
  forgiving('CERT_NOT_YET_VALID', {
    name: 'early-client-certificate-accepted',
    title: 'Client certificates are taken before they are valid.',
    seen: 'Callbacks that forgive it because of clocks that differ, and containers whose clock is wrong.',
    why: 'Where the beginning is not looked at, the clock is often wrong as well, and then expiry does not work either.',
    fix: {
      rule: 'Leave the dates to the TLS library, and keep the clock right (NTP).',
      express: LEAVE,
    },
  }),
  forgiving('INVALID_PURPOSE', {
    name: 'server-certificate-accepted-from-client',
    title: 'A certificate of the authority that is meant for servers is taken from a client.',
    seen: 'Verification against the authority alone, with the extended key usage left out (Go `ExtKeyUsageAny`, OpenSSL `-purpose any`).',
    why: 'Every server that has a certificate of this authority can deliver.',
    severity: 'medium',
    forbidden: false,
    fix: {
      rule: 'Ask for the extended key usage clientAuth. TLS libraries do so unless told otherwise.',
      express: LEAVE,
      go: 'Verify with `KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}`.',
    },
  }),
];
