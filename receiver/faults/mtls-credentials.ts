import { TLSSocket } from 'node:tls';
import type { Pipeline } from '../pipeline.ts';
import type { StageFault } from './fault.ts';

const INDEPENDENT = {
  rule: 'Check the certificate, the API key and the signature one after the other, and let none of them stand for another.',
  express: 'Do not return early when `req.socket.authorized` is true: let every check be a middleware of its own.',
} as const;

const EVERY_DELIVERY =
  'Without the certificate a delivery is refused before this check, so every one that gets there has it, and none is checked.';

const BASE = { area: 'mtls', severity: 'critical', forbidden: true, fix: INDEPENDENT } as const;

/** A check that is passed by when there is a certificate that has verified. */
function passedBy(stage: keyof Pipeline): Pick<StageFault, 'stage' | 'replace'> {
  return {
    stage,
    replace:
      ({ right }) =>
      (req, res, next) =>
        req.socket instanceof TLSSocket && req.socket.authorized ? next() : right[stage](req, res, next),
  };
}

/** Receivers for which a certificate is enough. */
export const certificateSuffices: readonly StageFault[] = [
  {
    ...BASE,
    ...passedBy('verifySignature'),
    name: 'signature-not-needed-with-certificate',
    title: 'A client with a right certificate needs no signature.',
    seen: 'Lists of ways to authenticate of which the first that succeeds is enough, and gateways that mark a client with a certificate as known.',
    why: 'The certificate says who connected, and nothing about the body. Whoever gets behind the point where TLS ends can deliver anything.',
    needs: ['hmac'],
    equivalentTo: { name: 'signature-not-checked', reason: EVERY_DELIVERY },
  },
  {
    ...BASE,
    ...passedBy('checkApiKey'),
    name: 'api-key-not-needed-with-certificate',
    title: 'A client with a right certificate needs no API key.',
    seen: 'Lists of ways to authenticate of which the first that succeeds is enough.',
    why: 'Both were agreed on, so that the loss of one does not open the endpoint. Here the loss of one does.',
    needs: ['api-key'],
    equivalentTo: { name: 'api-key-not-checked', reason: EVERY_DELIVERY },
  },
];
