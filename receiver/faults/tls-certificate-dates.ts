import type { ConnectionFault } from './fault.ts';
import { servesCertificate } from './served-certificate.ts';

/** Certificates that are served outside their time. */
export const certificateDates: readonly ConnectionFault[] = [
  servesCertificate('serves-expired-certificate', 'expired', {
    title: 'The certificate that the endpoint serves has expired.',
    seen: 'Renewals that failed for weeks without anybody looking, and renewals that worked while the server was never told to load the new file.',
    why: 'The sender refuses the connection, so every delivery fails from that minute on, and retries run out before somebody notices.',
    fix: 'Renew the certificate, reload the server in the same job, and watch the date from outside.',
    severity: 'critical',
    forbidden: true,
  }),
  servesCertificate('serves-certificate-too-early', 'not-yet-valid', {
    title: 'The certificate that the endpoint serves is not valid yet.',
    seen: 'Certificates that were put in place ahead of time, and private authorities on machines whose clock is ahead.',
    why: 'The sender treats it like an expired one and delivers nothing until the first day of validity.',
    fix: 'Serve the old certificate until the new one is valid, and keep the clock of the issuing machine right.',
    severity: 'critical',
    forbidden: true,
  }),
  servesCertificate('serves-certificate-about-to-expire', 'expires-soon', {
    title: 'The certificate that the endpoint serves expires within days.',
    seen: 'Installations whose automatic renewal stopped working after a move of the site or a change of its DNS.',
    why: 'Everything works today, and nothing will at a known hour. Renewal normally happens weeks before this.',
    fix: 'Look at the log of the renewal, repair it, and renew now by hand.',
    severity: 'medium',
    forbidden: false,
  }),
  servesCertificate('serves-expired-intermediate', 'expired-intermediate', {
    title: 'An intermediate certificate that the endpoint serves has expired.',
    seen: 'Servers whose chain file was copied once by hand: the own certificate is renewed every year and the chain beside it never.',
    why: 'The own certificate looks fine in every monitor, and the sender still refuses the connection.',
    fix: 'Serve the chain that came with the last renewal, and check the dates of every certificate in it.',
    severity: 'critical',
    forbidden: true,
  }),
];
