/** Malformed payloads without valid credentials. They must be rejected like any other forgery. */
import type { Crossing } from '../forgery.ts';

function malformed(
  slug: string,
  what: string,
  shape: Crossing['shapes'][number],
  why: string,
  fix: string,
  flaw: Crossing['flaw'] = 'no-signature',
): Crossing {
  const requirements = ['delivery-malformed-unsigned'] as const;
  return { id: `malformed/${slug}`, title: `Rejects ${what}`, flaw, shapes: [shape], requirements, why, fix };
}

export const unsignedMalformed: readonly Crossing[] = [
  malformed(
    'unsigned-json',
    'broken JSON without a signature',
    'broken-json',
    'Anyone can send this. A receiver that parses first can be stopped without a secret.',
    'Verify the signature of the raw bytes before the body is parsed, and answer 401.',
  ),
  malformed(
    'unsigned-empty',
    'an empty body without a signature',
    'empty-body',
    'Scanners send empty bodies all the time. An early 200 confirms deliveries that were never verified.',
    'Do not skip the verification when the body is empty: an empty body has a signature like any other.',
  ),
  malformed(
    'unsigned-null',
    'the body null without a signature',
    'null',
    'If the handler reads the type before the verification, reading a field of null throws.',
    'Do not read the payload before its signature is verified.',
  ),
  malformed(
    'unsigned-binary',
    'random bytes without a signature',
    'bytes',
    'Decoding the body for a log line fails on bytes that are not text.',
    'Do not log or decode a body that is not verified.',
  ),
  malformed(
    'wrongly-signed-json',
    'broken JSON with an invalid signature',
    'broken-json',
    'A 400 shows an attacker that the parser runs before the verification.',
    'Read the body, check the key, verify the signature, and only then parse.',
    'random-signature',
  ),
  malformed(
    'unsigned-1-mb',
    'an unsigned body of more than 1 MiB',
    'over-1-mib',
    'Anyone can send large bodies. Reading them without a limit lets a few clients exhaust the memory.',
    'Limit the size while you read, and reject a missing signature header without reading the body.',
  ),
  malformed(
    'unsigned-8-mb',
    'an unsigned body of more than 8 MiB',
    'over-8-mib',
    'It exceeds common memory limits (8 MB), so a receiver that reads all of it ends, or continues with an empty body.',
    'Compare the size with your limit while you read, answer 413, and keep the limit far below the available memory.',
  ),
  malformed(
    'unsigned-depth',
    '20,000 nested arrays without a signature',
    'nested',
    'If the parser runs before the verification, an attacker can stop the receiver without a secret.',
    'Verify first, and never parse an unverified body.',
  ),
];
