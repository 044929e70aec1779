import type { StageFault } from './fault.ts';
import { alsoAccepting, SIGNATURE, unverified } from './lenient-verifier.ts';

/** Checks that rely on what an earlier delivery has shown. */
export const rememberedSignatures: readonly StageFault[] = [
  {
    ...SIGNATURE,
    name: 'verified-once-per-connection',
    title: 'After one right signature, nothing more is verified on the connection.',
    seen: 'Authentication that is kept with the socket or session, as it is right for protocols that log in.',
    why: 'Behind a proxy, requests of strangers share the connections that the sender has opened.',
    fix: {
      rule: 'Verify each delivery on its own; a connection proves nothing about the body that it carries.',
      express: 'Keep nothing about authentication in `req.socket`.',
    },
    severity: 'critical',
    forbidden: true,
    replace: (parts) => {
      const trusted = new WeakSet<object>();
      return alsoAccepting(({ req, header = '', right }) => {
        if (trusted.has(req.socket)) return true;
        if (right.includes(header)) trusted.add(req.socket);
        return false;
      })(parts);
    },
  },
  {
    ...SIGNATURE,
    name: 'verified-once-per-address',
    title: 'After one right signature, nothing more from the same address is verified.',
    seen: 'Caches of trusted clients in front of the check, meant to save time.',
    why: 'Behind a proxy or a tunnel, everybody has the same address.',
    fix: {
      rule: 'Verify each delivery; an address is no credential.',
      express: 'Delete the cache by `req.ip`; an HMAC over a few kilobytes takes microseconds.',
    },
    severity: 'critical',
    forbidden: true,
    equivalentTo: {
      name: 'signature-not-checked',
      reason:
        'A run comes from one address and has to begin with a right delivery, so it never sees this receiver refuse.',
    },
    replace: (parts) => {
      const trusted = new Set<string | undefined>();
      return alsoAccepting(({ req, header = '', right }) => {
        if (trusted.has(req.socket.remoteAddress)) return true;
        if (right.includes(header)) trusted.add(req.socket.remoteAddress);
        return false;
      })(parts);
    },
  },
  {
    ...SIGNATURE,
    name: 'signature-cached-without-body',
    title: 'A signature that was right once is accepted again with any other body.',
    seen: 'Results of the check that are cached under the value of the header alone.',
    why: 'One overheard delivery is enough to send any other under its signature, and to book any amount.',
    fix: {
      rule: 'Compute the HMAC of each body anew. If you must cache, then under signature and body together.',
      express: 'Remove the memoisation around the verification.',
    },
    severity: 'critical',
    forbidden: true,
    replace: (parts) => {
      const seen = new Set<string>();
      return alsoAccepting(({ header = '', right }) => {
        if (right.includes(header)) seen.add(header);
        return seen.has(header);
      })(parts);
    },
  },
  {
    ...SIGNATURE,
    name: 'previous-body-verified',
    title: 'The signature of the delivery before on the same connection is accepted as well.',
    seen: 'A buffer or variable for the raw body that outlives its request, so that the check can see the one before.',
    why: 'Whoever sends right behind a real delivery, over a shared proxy connection, can use its signature for a body of their own.',
    fix: {
      rule: 'Keep the raw body with its request and nowhere else.',
      express: 'Hand the bytes on as `req.body` or `res.locals`, never in a variable of the module.',
    },
    severity: 'critical',
    forbidden: true,
    replace: (parts) => {
      const before = new WeakMap<object, readonly string[]>();
      return alsoAccepting(({ req, header = '', right }) => {
        const stale = before.get(req.socket) ?? [];
        before.set(req.socket, right);
        return stale.includes(header);
      })(parts);
    },
  },
  {
    ...SIGNATURE,
    name: 'known-id-not-verified',
    title: 'A delivery whose id was accepted before is not verified again.',
    seen: 'A look at the id before the signature, "this one was verified already", in receivers that expect deliveries to be sent again.',
    why: 'Ids stand in logs and in answers of other systems. Under a known one, anybody can send other content, which then overwrites the right one.',
    fix: {
      rule: 'Verify first, and look at the id only then.',
      express: 'Move the de-duplication behind the verification middleware.',
    },
    severity: 'high',
    forbidden: true,
    replace: (parts) => {
      const known = new Set<unknown>();
      return alsoAccepting((delivery) => {
        const { id } = unverified(delivery);
        if (delivery.right.includes(delivery.header ?? '')) known.add(id);
        return id !== undefined && known.has(id);
      })(parts);
    },
  },
];
