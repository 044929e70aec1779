import type { ConnectionFault } from './fault.ts';

type Text = Omit<ConnectionFault, 'area' | 'stage' | 'certificate' | 'name' | 'fix'> & {
  /** The rule, which also holds for Express behind whatever ends TLS. */
  readonly fix: string;
};

/** Where the files go in Node, for every fault of the certificate that is served. */
const IN_NODE =
  'Express has no part in it: give the new files to `https.createServer({ cert, key })`, the own certificate first in `cert`, or to the proxy in front, and reload it.';

/** A mutant that serves a faulty certificate and is right in everything else. */
export function servesCertificate(name: string, certificate: string, { fix, ...text }: Text): ConnectionFault {
  return { name, area: 'tls', ...text, fix: { rule: fix, express: IN_NODE }, stage: 'connection', certificate };
}
