/** `hookproof receiver --scheme`: receives the deliveries of another service. */
import { HookproofError } from '../../../contract/hookproof-error.ts';
import type { Scheme } from '../../../contract/signing/schemes/scheme.ts';
import { FOREIGN_SCHEMES } from '../../../contract/signing/schemes/schemes.ts';
import { inboxUrl } from '../inbox/open-inbox.ts';

export interface SchemeFlags {
  readonly scheme?: string;
  readonly publicUrl?: string;
  readonly signatureHeader?: string;
  readonly inbox?: string;
  readonly handlers?: string;
  readonly effects?: string;
}

/** Finds the scheme. Undefined without `--scheme`. @throws HookproofError RECEIVER_SCHEME for flags that exclude it */
export function schemeOfReceiver(flags: SchemeFlags): Scheme | undefined {
  const { publicUrl, signatureHeader, handlers, effects } = flags;
  const scheme = FOREIGN_SCHEMES.find(({ name }) => name === flags.scheme);
  if (scheme === undefined) {
    if (publicUrl === undefined) return undefined;
    throw new HookproofError('RECEIVER_SCHEME', '`--public-url` needs `--scheme`', {
      hint: 'Only the schemes of some other services sign the URL.',
    });
  }
  const others = {
    '--signature-header': signatureHeader,
    '--inbox': inboxUrl(flags.inbox),
    '--handlers': handlers,
    '--effects': effects,
  };
  const [flag] = Object.entries(others).find(([, value]) => value !== undefined) ?? [];
  if (flag === undefined) return scheme;
  throw new HookproofError('RECEIVER_SCHEME', `\`${flag}\` cannot be combined with \`--scheme\``, {
    hint: 'Remove the flag and its variable: they apply only to the notifications of the specification.',
  });
}
