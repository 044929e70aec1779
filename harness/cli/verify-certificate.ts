/** Reads and verifies a certificate as the flags say: what `certify verify` and `certify recheck` have in common. */
import { resolve } from 'node:path';
import { HookproofError } from '../../contract/hookproof-error.ts';
import { KNOWN_REVISIONS, readPublicKey, type Verification, verifyCertificate } from '../certify/index.ts';
import { PROFILES, type Profile } from '../config/index.ts';
import { readKeyText, readNamed } from './certify-files.ts';

export interface VerifyFlags {
  readonly key: readonly string[];
  readonly result?: string;
  readonly url?: string;
  readonly at?: string;
  readonly profile?: string;
  readonly strict?: boolean;
}

/** Larger files are refused by the certificate's own reading; this keeps them out of memory. */
const MOST_CERTIFICATE_BYTES = 16 * 1024 * 1024;

export async function verifyFile(file: string, flags: VerifyFlags): Promise<Verification> {
  const keys = await Promise.all(
    flags.key.map(async (path) => readPublicKey(await readKeyText(path, '--key'), `--key: ${path}`)),
  );
  const bytes = await readNamed(resolve(file), 'the certificate', MOST_CERTIFICATE_BYTES);
  return verifyCertificate(bytes, {
    keys,
    at: timeOf(flags.at),
    revisions: KNOWN_REVISIONS,
    strict: flags.strict === true,
    ...(flags.result !== undefined && { result: await readNamed(resolve(flags.result), 'the result document') }),
    ...(flags.url !== undefined && { url: checkedUrl(flags.url) }),
    ...(flags.profile !== undefined && { profile: checkedProfile(flags.profile) }),
  });
}

/** ISO 8601, as a day or with a time and its zone. */
function timeOf(text: string | undefined): Date {
  if (text === undefined) return new Date();
  const time = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?(?:Z|[+-]\d\d:\d\d))?$/.test(text)
    ? Date.parse(text)
    : Number.NaN;
  if (!Number.isNaN(time)) return new Date(time);
  throw new HookproofError('CERTIFY_TIME', '--at is not a time', {
    hint: 'Write a day or a time with its zone: 2027-01-31, or 2027-01-31T12:00:00Z.',
  });
}

function checkedUrl(text: string): string {
  if (URL.canParse(text)) return text;
  throw new HookproofError('CERTIFY_URL', '--url is not a URL', {
    hint: 'Give it whole: https://partner.example/hooks',
  });
}

function checkedProfile(text: string): Profile {
  const found = PROFILES.find((profile) => profile === text);
  if (found !== undefined) return found;
  throw new HookproofError('CERTIFY_PROFILE', '--profile is not a profile', {
    hint: `Choose from ${PROFILES.join(', ')}.`,
  });
}
