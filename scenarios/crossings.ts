/**
 * Lists which combinations of the dimensions are sent and which are left out. Each pair of a flaw and a shape is in one
 * of the two lists, or has its own scenario. A test checks this, and `docs/dimensions.md` lists all of them.
 */
import { type Dimension, FLAWS, type FlawName, SHAPES, type ShapeName } from './dimensions.ts';
import type { Crossing } from './forgery.ts';
import { keyCrossings } from './suites/api-key-bypass.ts';
import { unsignedMalformed } from './suites/malformed.ts';
import { certificateCrossings } from './suites/mtls.ts';
import { signatureBypasses } from './suites/signature-bypass.ts';
import { signatureShapes } from './suites/signature-missing.ts';

/** Every crossing, in the order of the suites. */
export const CROSSINGS: readonly Crossing[] = [
  ...certificateCrossings,
  ...signatureShapes,
  ...signatureBypasses,
  ...keyCrossings,
  ...unsignedMalformed,
];

/** For each flaw, the scenario that sends the plain request with it. Other invalid values have their own scenarios. */
export const PLAIN: Readonly<Record<FlawName, string>> = {
  'no-signature': 'signature/missing',
  'random-signature': 'signature/random-bytes',
  'replayed-signature': 'signature/of-another-delivery',
  'signature-of-nothing': 'signature/over-empty-body',
  'signature-of-empty-object': 'signature/over-unread-body',
  'empty-secret': 'signature/secret-empty',
  'named-secret': 'signature/other-secret',
  'no-key': 'api-key/missing',
  'random-key': 'api-key/wrong',
  'named-key': 'api-key/wrong',
  'no-certificate': 'mtls/tls-1-3-no-certificate',
};

/**
 * Combinations that are not sent. `shapes` contains names of shapes, or dimensions, which stand for all their shapes.
 */
export interface Pruned {
  readonly flaws: readonly FlawName[];
  readonly shapes: readonly (Dimension | ShapeName)[];
  readonly reason: string;
}

/** Statuses and kinds that are sent only with a random signature. */
const BY_STATUS = [
  ...(['created-buy', 'pending-sell', 'buy-on-chain', 'failed-refund', 'declined-card', 'expired-tracking'] as const),
  ...(['unknown-caas-type', 'unknown-card-status', 'unknown-deposit-type'] as const),
  ...(['test-network', 'dust-deposit'] as const),
] as const satisfies readonly ShapeName[];

export const PRUNED: readonly Pruned[] = [
  {
    flaws: ['replayed-signature', 'empty-secret'],
    shapes: ['notification', 'content', 'content type', 'framing', 'method', 'URL', 'hint'],
    reason:
      'The shape of a request may decide whether the signature is compared; missing and random signatures show this. ' +
      'The secret may be chosen by the type, so an empty secret is also sent with other types.',
  },
  {
    flaws: ['random-signature', 'no-key', 'no-certificate'],
    shapes: ['patch-as-post', 'post-as-delete'],
    reason:
      'Code that overrides PUT also overrides PATCH and DELETE, so only PUT is sent. Without a signature, PATCH is ' +
      'also sent in one direction, and DELETE in the other.',
  },
  {
    flaws: ['signature-of-nothing', 'signature-of-empty-object'],
    shapes: ['notification', 'content', 'content type', 'framing', 'method', 'URL', 'hint'],
    reason:
      'The verification sees an empty body, or the empty object that a parser returns, if no parser or a different ' +
      'one has read the body. This depends on the content type and the encoding; the usual ones are sent.',
  },
  {
    flaws: ['named-secret', 'named-key'],
    shapes: ['notification', 'content', 'content type', 'framing', 'method', 'URL', 'hint'],
    reason: 'These credentials differ from other invalid ones only if the request names them.',
  },
  {
    flaws: ['no-signature', 'no-key', 'random-signature'],
    shapes: [
      ...(['secret-in-body', 'secret-in-query', 'secret-in-cookies', 'secret-in-headers'] as const),
      ...(['key-in-body', 'key-in-query', 'key-in-cookies'] as const),
    ],
    reason: 'Naming a credential in the request helps only a forgery that was made with that credential.',
  },
  {
    flaws: ['random-signature'],
    shapes: ['hint', 'URL'],
    reason:
      'A hint or a path usually turns off the whole check, which a missing signature shows. Type, framing and ' +
      'method may turn off only the comparison, so they are also sent with a random signature.',
  },
  {
    flaws: ['random-signature'],
    shapes: [
      ...(['buy', 'sell', 'unknown-type', 'test-flags', 'verified-state', 'tiny'] as const),
      ...(['over-1-mib', 'over-8-mib', 'content'] as const),
    ],
    reason: 'Types that usually have a separate handler are sent; the others usually share one of these handlers.',
  },
  {
    flaws: ['random-signature'],
    shapes: [
      ...(['form', 'multipart', 'xml', 'bytestream', 'upper-case-type', 'json-with-charset'] as const),
      ...(['multipart-no-boundary', 'multipart-no-parts'] as const),
      ...(['http-1-0', 'empty-chunked', 'no-body-no-type', 'signature-in-trailer'] as const),
      ...(['patch', 'delete', 'options', 'propfind'] as const),
      ...(['get-as-post', 'post-as-put', 'post-as-get', 'form-as-put', 'get-with-handshakes'] as const),
    ],
    reason: 'One value for each kind of parser, framing and route is enough here; without a signature, all are sent.',
  },
  {
    flaws: ['random-key'],
    shapes: ['notification', 'content', 'content type', 'framing', 'method', 'URL', 'hint'],
    reason:
      'How a key is compared does not depend on the rest of the request; a missing key shows whether it is. ' +
      'The large body is sent because an early rejection can break the connection.',
  },
  {
    flaws: ['no-signature', 'no-key'],
    shapes: BY_STATUS,
    reason:
      'Other statuses and kinds are sent with a random signature; a check that depends on them rarely depends on ' +
      'whether the header is present.',
  },
  {
    flaws: ['no-signature', 'no-key'],
    shapes: ['any-query', 'test-queries'],
    reason: 'Other parameters are sent, one by one or together.',
  },
  {
    flaws: ['no-key'],
    shapes: [
      ...(['buy', 'over-1-mib', 'over-8-mib', 'empty-array', 'batch', 'bare-challenge', 'empty-object'] as const),
      ...(['null', 'bytes', 'nested', 'upper-case-type', 'bytestream', 'xml', 'multipart', 'patch', 'delete'] as const),
      ...([
        'listed-handshake',
        'get-with-handshakes',
        'options',
        'propfind',
        'open-prefix-parameter',
        'encoded-line-end',
        'multipart-no-boundary',
        'multipart-no-parts',
      ] as const),
      ...(['other-case', 'dot-segments', 'path-parameter', 'path-extension', 'local-host'] as const),
      ...(['below-healthz', 'below-ping', 'below-status', 'below-test', 'below-public', 'below-static'] as const),
      ...(['get-as-post', 'post-as-get', 'form-as-put'] as const),
      ...(['empty-chunked', 'no-body-no-type', 'signature-in-trailer'] as const),
    ],
    reason:
      'The key is checked without the body; one value of each kind is enough here. Without a signature, all are sent.',
  },
  {
    flaws: ['no-key'],
    shapes: [
      ...(['forwarded-for-loopback', 'real-ip-loopback', 'forwarded-loopback'] as const),
      ...(['lan-addresses', 'container-addresses', 'bearer-token', 'connection-options'] as const),
      ...(['referer', 'authorization', 'algorithm-headers', 'agent-balancer'] as const),
      ...(['query-skip', 'query-test', 'query-debug', 'query-open-path', 'query-results', 'form-ping'] as const),
    ],
    reason: 'The hint is part of a delivery with several hints, or has no meaning for a key.',
  },
  {
    flaws: ['no-key'],
    shapes: [
      ...(['rewritten-to-metrics', 'rewritten-to-static', 'rewritten-to-login', 'rewritten-to-favicon'] as const),
      ...(['rewritten-to-robots', 'rewritten-to-well-known'] as const),
    ],
    reason: 'Code that opens a path because of a header usually opens several; without a signature, all are sent.',
  },
  {
    flaws: ['no-certificate'],
    shapes: [
      ...(['content', 'content type', 'framing', 'test-flags', 'verified-state', 'tiny'] as const),
      ...(['over-8-mib', 'secret-in-body', 'key-in-body'] as const),
      ...BY_STATUS,
    ],
    reason:
      'The certificate is usually checked in the handshake or by URL, before the body. One other Content-Type ' +
      'is sent for receivers that check it in a handler.',
  },
  {
    flaws: ['no-certificate'],
    shapes: [
      ...(['buy', 'unknown-type', 'over-1-mib', 'patch', 'delete', 'options', 'propfind'] as const),
      ...(['open-prefix', 'open-prefix-parameter', 'encoded-line-end'] as const),
      ...(['other-case', 'dot-segments', 'path-parameter', 'path-extension', 'absolute-target', 'local-host'] as const),
      ...(['below-health', 'below-healthz', 'below-ping', 'below-status', 'below-test', 'below-public'] as const),
      ...(['below-static', 'unknown-host'] as const),
      ...(['put-as-post', 'get-as-post', 'post-as-put', 'post-as-get', 'form-as-put', 'hint'] as const),
      'get-with-handshakes',
    ],
    reason:
      'Each delivery needs a separate handshake, so one or two values of each dimension are sent. Forged headers ' +
      'are in mtls/forged-headers.',
  },
];

/** Returns the scenarios that send a shape with a flaw, or the reason why the combination is left out. */
export function coverageOf(
  flaw: FlawName,
  shape: ShapeName,
): { readonly ids: readonly string[]; readonly reason: string | null } {
  const crossed = CROSSINGS.filter((one) => one.flaw === flaw && one.shapes.includes(shape)).map(({ id }) => id);
  const ids = shape === 'plain' ? [...new Set([PLAIN[flaw], ...crossed])] : crossed;
  const { dimension } = SHAPES[shape];
  const pruned = PRUNED.find(
    ({ flaws, shapes }) => flaws.includes(flaw) && (shapes.includes(shape) || shapes.includes(dimension)),
  );
  return { ids, reason: ids.length > 0 ? null : (pruned?.reason ?? null) };
}

/** Lists the combinations that are neither sent nor left out with a reason. */
export function uncovered(): readonly string[] {
  const flaws = Object.keys(FLAWS) as FlawName[];
  const shapes = Object.keys(SHAPES) as ShapeName[];
  return flaws.flatMap((flaw) =>
    shapes.flatMap((shape) => {
      const { ids, reason } = coverageOf(flaw, shape);
      return ids.length === 0 && reason === null ? [`${flaw} × ${shape}`] : [];
    }),
  );
}
