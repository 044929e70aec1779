/** `hookproof sign --scheme` and `hookproof verify --scheme`: deliveries of other services, offline. */
import { type HeaderLine, HookproofError, TOKEN } from '../../../contract/index.ts';
import {
  FOREIGN_SCHEMES,
  messageIdOf,
  type Scheme,
  signWithScheme,
  verifyWithScheme,
} from '../../../contract/signing/index.ts';
import { readBodyToSign, readInput, requiredSecret } from '../command-input.ts';
import { writeWrapped } from '../wrapped-text.ts';

interface SchemeFlags {
  readonly scheme: string;
  readonly secretFile?: string;
  readonly url?: string;
}

/**
 * Prints the headers of a delivery. The id defaults to a digest of the body and the time, the timestamp to the current
 * time.
 */
export async function signInScheme(
  file: string,
  flags: SchemeFlags & { readonly id?: string; readonly timestamp?: string },
): Promise<number> {
  const scheme = schemeCalled(flags.scheme, flags.url);
  const timestamp = flags.timestamp === undefined ? Math.floor(Date.now() / 1000) : epochSeconds(flags.timestamp);
  const secret = await requiredSecret(flags.secretFile);
  const body = await readBodyToSign(file);
  const { id = messageIdOf(body, timestamp), url = '' } = flags;
  const headers = signWithScheme(scheme, { body, url, id, timestamp }, [secret]);
  process.stdout.write(headers.map(([name, value]) => `${name}: ${value}\n`).join(''));
  return 0;
}

/** Prints whether a delivery is signed as the scheme requires and, if not, what differs. */
export async function verifyInScheme(
  file: string,
  flags: SchemeFlags & { readonly header?: readonly string[]; readonly json?: boolean },
): Promise<number> {
  const scheme = schemeCalled(flags.scheme, flags.url);
  const headers = (flags.header ?? []).map(headerLine);
  const secret = await requiredSecret(flags.secretFile);
  const delivery = { body: await readInput(file), headers, url: flags.url ?? '' };
  const report = verifyWithScheme(scheme, delivery, secret, Math.floor(Date.now() / 1000));
  const { matches, problems, mistake, outOfTolerance } = report;
  if (flags.json === true) process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
  else {
    const lines = [
      matches
        ? `✓ the signature matches in the ${scheme.title} scheme (${delivery.body.length} bytes)`
        : `✗ the signature does not match in the ${scheme.title} scheme`,
      ...problems.map((problem) => `  ${problem}`),
      ...(mistake === null ? [] : [`  More \`hookproof explain ${mistake}\` has the fix for each stack.`]),
    ];
    if (outOfTolerance !== null) {
      const [when, until] = outOfTolerance > 0 ? ['old', 'by now'] : ['in the future', 'now'];
      lines.push(`  Its timestamp is ${Math.abs(outOfTolerance)} s ${when}: a receiver must reject it ${until}.`);
    }
    writeWrapped(`${lines.join('\n')}\n`);
  }
  return matches ? 0 : 1;
}

function schemeCalled(name: string, url: string | undefined): Scheme {
  const scheme = FOREIGN_SCHEMES.find((one) => one.name === name);
  if (scheme === undefined) throw new Error(`the command line has taken the unknown scheme ${name}`);
  if (url === undefined && scheme.signed.includes('{url}')) {
    throw new HookproofError('SCHEME_NEEDS_URL', `${scheme.title} signs the URL of the endpoint`, {
      hint: 'Give it with `--url`, exactly as it is registered with the sender.',
    });
  }
  return scheme;
}

function epochSeconds(text: string): number {
  if (/^\d{1,12}$/.test(text)) return Number(text);
  throw new HookproofError('SCHEME_TIMESTAMP', `\`--timestamp ${text}\` is not a number of seconds since 1970`, {
    hint: 'For example, give 1767225600, or omit the option to use the current time.',
  });
}

function headerLine(line: string): HeaderLine {
  const colon = line.indexOf(':');
  const name = line.slice(0, Math.max(colon, 0));
  if (TOKEN.test(name)) return [name, line.slice(colon + 1).trim()];
  throw new HookproofError('SCHEME_HEADER', '`--header` takes a whole header line', {
    hint: "Write it as 'Name: value', as it was received.",
  });
}
