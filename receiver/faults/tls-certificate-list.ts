import type { ConnectionFault } from './fault.ts';
import { servesCertificate } from './served-certificate.ts';

/** Right certificates in the wrong list. */
export const certificateLists: readonly ConnectionFault[] = [
  servesCertificate('leaves-out-intermediate', 'missing-intermediate', {
    title: 'The endpoint sends its own certificate without the intermediate that issued it.',
    seen: 'Web servers configured with `cert.pem` in place of `fullchain.pem`; reported against webhooks of Telegram, Go and Node clients alike.',
    why: 'Browsers fetch or remember the missing one, so the site looks right to people. Node, Go, curl and Python do not, and refuse the connection.',
    fix: 'Serve one file with the own certificate and every intermediate after it, without the root.',
    severity: 'critical',
    forbidden: true,
  }),
  servesCertificate('sends-chain-out-of-order', 'misordered', {
    title: 'The endpoint sends its intermediates in the wrong order.',
    seen: 'Chain files that were joined by hand, often after an authority changed its hierarchy.',
    why: 'Most clients sort it out and a few embedded ones and older Java versions do not, so it fails with some senders only.',
    fix: 'Put the own certificate first, then its issuer, then the issuer of that one.',
    severity: 'low',
    forbidden: false,
  }),
  servesCertificate('sends-intermediate-twice', 'duplicate', {
    title: 'The endpoint sends the same intermediate twice.',
    seen: 'Configurations that add a chain file to a certificate file that holds the chain already.',
    why: 'Each connection carries it for nothing, strict clients refuse it, and the next renewal is likely to update only one of the copies.',
    fix: 'Leave either the chain file or the second copy out.',
    severity: 'low',
    forbidden: false,
  }),
  servesCertificate('sends-unrelated-certificate', 'unrelated-extra', {
    title: 'The endpoint sends a certificate that belongs to no link of its chain.',
    seen: 'Bundles that carry the intermediates of a former authority along, or every root that somebody thought might help.',
    why: 'It costs bytes on each connection, and hides which intermediate is really needed at the next renewal.',
    fix: 'Serve only the own certificate and the intermediates that lead from it to the root.',
    severity: 'low',
    forbidden: false,
  }),
];
