/**
 * Which combinations of the dimensions are sent, and which are left out: every flaw meets every shape in one of the two
 * lists, or in a separate scenario. A test proves it, and `docs/dimensions.md` shows it.
 */
import { type Crossing, type Dimension, FLAWS, type FlawName, SHAPES, type ShapeName } from './dimensions.ts';
import { keyCrossings } from './suites/api-key-bypass.ts';
import { unsignedMalformed } from './suites/malformed-unsigned.ts';
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

/** The plain request with each flaw, and with all other values of a credential, is a separate scenario. */
export const PLAIN: Readonly<Record<FlawName, string>> = {
  'no-signature': 'signature/missing',
  'random-signature': 'signature/random-bytes',
  'replayed-signature': 'signature/of-another-delivery',
  'empty-secret': 'signature/secret-empty',
  'no-key': 'api-key/missing',
  'random-key': 'api-key/wrong',
  'no-certificate': 'mtls/tls-1-3-no-certificate',
};

/** Combinations that are not sent. A name in `shapes` is that of a dimension or of a shape. */
export interface Pruned {
  readonly flaws: readonly FlawName[];
  readonly shapes: readonly (Dimension | ShapeName)[];
  readonly reason: string;
}

export const PRUNED: readonly Pruned[] = [
  {
    flaws: ['replayed-signature', 'empty-secret'],
    shapes: ['notification', 'content', 'content type', 'framing', 'method', 'URL', 'hint'],
    reason:
      'The shape of a request decides whether the signature is compared, which missing and random signatures show. ' +
      'The value that it is compared with comes from the body and the secret.',
  },
  {
    flaws: ['random-signature'],
    shapes: ['hint', 'URL'],
    reason:
      'A hint or a path switches the whole check off, as the missing signature shows. Only the type, the framing and ' +
      'the method decide which of two checks (present, equal) runs.',
  },
  {
    flaws: ['random-signature'],
    shapes: ['buy', 'sell', 'unknown-type', 'test-flags', 'tiny', 'over-1-mib', 'content'],
    reason: 'Kinds with a separate handler are sent; the others share the path of one of them.',
  },
  {
    flaws: ['random-signature'],
    shapes: [
      ...(['form', 'multipart', 'xml', 'bytestream', 'upper-case-type', 'json-with-charset'] as const),
      ...(['http-1-0', 'http-1-0-no-length', 'empty-chunked', 'no-body-no-type', 'signature-in-trailer'] as const),
      ...(['patch', 'delete', 'get-as-post', 'post-as-put', 'post-as-get', 'form-as-put'] as const),
    ],
    reason: 'One value for each kind of parser, framing and route is enough here; unsigned, all of them are sent.',
  },
  {
    flaws: ['random-key'],
    shapes: ['notification', 'content', 'content type', 'framing', 'method', 'URL', 'hint'],
    reason:
      'A key is compared without the body, so nothing in the request decides how it is compared: the missing key shows ' +
      'whether it is. The large body is sent, because an early rejection can break the connection.',
  },
  {
    flaws: ['no-signature', 'no-key'],
    shapes: ['created-buy', 'pending-sell'],
    reason:
      'Early statuses are sent with a random signature; a check by status does not ask whether a header is there.',
  },
  {
    flaws: ['no-signature', 'no-key'],
    shapes: ['any-query', 'test-queries'],
    reason: 'Other parameters are sent, one by one or together.',
  },
  {
    flaws: ['no-key'],
    shapes: [
      ...(['buy', 'over-1-mib', 'empty-array', 'batch', 'bare-challenge', 'empty-object', 'null', 'bytes'] as const),
      ...(['nested', 'upper-case-type', 'bytestream', 'xml', 'multipart', 'patch', 'delete'] as const),
      ...(['other-case', 'dot-segments', 'path-parameter', 'path-extension', 'local-host'] as const),
      ...(['get-as-post', 'post-as-get', 'form-as-put'] as const),
      ...(['http-1-0-no-length', 'empty-chunked', 'no-body-no-type', 'signature-in-trailer'] as const),
    ],
    reason: 'The key is checked without the body; one value of each kind is sent, and all of them unsigned.',
  },
  {
    flaws: ['no-key'],
    shapes: [
      ...(['forwarded-for-loopback', 'real-ip-loopback', 'forwarded-loopback'] as const),
      ...(['referer', 'authorization', 'algorithm-headers', 'rewrite-headers', 'agent-balancer'] as const),
      ...(['query-skip', 'query-test', 'query-debug', 'query-open-path'] as const),
    ],
    reason: 'Part of a delivery with several hints, or without a meaning for a key.',
  },
  {
    flaws: ['no-certificate'],
    shapes: ['content', 'content type', 'framing', 'created-buy', 'pending-sell', 'test-flags', 'tiny'],
    reason:
      'The certificate is checked in the handshake or by the URL, before the body. One other Content-Type is sent for ' +
      'receivers that check in a handler.',
  },
  {
    flaws: ['no-certificate'],
    shapes: [
      ...(['buy', 'unknown-type', 'over-1-mib', 'patch', 'delete'] as const),
      ...(['other-case', 'dot-segments', 'path-parameter', 'path-extension', 'absolute-target', 'local-host'] as const),
      ...(['put-as-post', 'get-as-post', 'post-as-put', 'post-as-get', 'form-as-put', 'hint'] as const),
    ],
    reason:
      'Each delivery needs a separate handshake, so one or two values of each dimension are sent. Ten families of ' +
      'forged headers are in mtls/forged-*.',
  },
];

/** How often a flaw meets a shape: the crossings that send it, and the reason when it is left out. */
export function coverageOf(
  flaw: FlawName,
  shape: ShapeName,
): { readonly ids: readonly string[]; readonly reason: string | null } {
  const crossed = CROSSINGS.filter((one) => one.flaw === flaw && one.shapes.includes(shape)).map(({ id }) => id);
  const ids = shape === 'plain' ? [PLAIN[flaw], ...crossed] : crossed;
  const { dimension } = SHAPES[shape];
  const pruned = PRUNED.find(
    ({ flaws, shapes }) => flaws.includes(flaw) && (shapes.includes(shape) || shapes.includes(dimension)),
  );
  return { ids, reason: ids.length > 0 ? null : (pruned?.reason ?? null) };
}

/** The combinations that are neither sent nor left out with a reason. */
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
