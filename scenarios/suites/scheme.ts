/**
 * Checks of what other schemes sign in addition to the body: a time, an id, a URL, and several signatures. Each row
 * works for any scheme that has the part it changes. In the scheme of the specification, none of them applies.
 */
import { randomUUID } from 'node:crypto';
import type { HeaderLine, JsonObject } from '../../contract/index.ts';
import {
  DELIVERY_ID,
  headersOfScheme,
  type Scheme,
  type SchemeInput,
  type SchemeSample,
  schemeDigest,
  signatureHeaderOf,
} from '../../contract/signing/index.ts';
import { both, setHeader } from '../changes/addressing.ts';
import { randomSignature, signedOver, unsigned } from '../changes/signing.ts';
import { accepted, anyClearAnswer, refused } from '../expectations.ts';
import type { Change, Delivery, Expectation, Kit, KitScheme, Scenario, SignChange, Suite } from '../scenario.ts';
import { family, type Own } from './family.ts';
import { oneByOne } from './signature-family.ts';

type Message = Pick<SchemeInput, 'id' | 'timestamp'>;
type Headers = NonNullable<SignChange['headers']>;

/** Returns why a check does not apply to a scheme, or null. */
type Applies = (scheme: KitScheme) => string | null;

const needs =
  (what: string, has: (literal: Scheme) => boolean): Applies =>
  ({ literal }) =>
    has(literal) ? null : `a delivery of ${literal.title} has no ${what}`;

const sends = (placeholder: string) => (literal: Scheme) =>
  Object.values(literal.headers).some((template) => template.includes(`{${placeholder}}`));
const aTime = needs('timestamp', sends('timestamp'));
const aTolerance = needs('tolerance of time', ({ toleranceSeconds }) => toleranceSeconds !== undefined);
const aFutureLimit = needs(
  'limit for a time in the future',
  ({ toleranceSeconds, isFutureUnlimited }) => toleranceSeconds !== undefined && isFutureUnlimited !== true,
);
const anyId = needs(
  'id in a header',
  (literal) =>
    sends('id')(literal) || literal.samples[0]?.headers.some(([, value]) => DELIVERY_ID.test(value)) === true,
);
const anId = needs('id', sends('id'));
const aUrl = needs('signed URL', ({ signed }) => signed.includes('{url}'));
const manySignatures = needs('list of signatures', ({ separator }) => separator !== undefined);
const anAlgorithm = needs('name of the algorithm before its signature', ({ signature }) => /sha\d/i.test(signature));
const aPrefix = needs('prefix of signatures', ({ signature }) => !signature.startsWith('{value}'));
const anOlderSignature = needs('older signature', ({ olderSignatures }) => olderSignatures !== undefined);
const always: Applies = () => null;
const twoSamples: Applies = (scheme) => (scheme.samples.length > 1 ? null : 'the sender has no second sample');

const otherTypes: Applies = ({ samples: [first, ...others] }) =>
  others.some((one) => first !== undefined && typeOf(one) !== typeOf(first))
    ? null
    : 'all samples of the sender have one Content-Type';

/** Signs a body with the values of `message` instead of those of the delivery. Without other values, use `kit.sign`. */
function signedWith(body: Uint8Array, kit: Kit, scheme: KitScheme, message: Partial<SchemeInput> = {}): string {
  return schemeDigest(scheme.literal, { ...scheme, body, ...message }, kit.secret).toString(scheme.literal.encoding);
}

const changed = (label: string, headers: Headers): Change => ({
  // The value stands for the header where only one is shown.
  sign: { label, make: (body, kit) => kit.sign(body), headers },
});

/** Sends this value as the signature, with the headers of the scheme. */
const valued = (label: string, value: (body: Uint8Array, kit: Kit, scheme: KitScheme) => string): Change =>
  changed(label, (body, kit, scheme) => headersOfScheme(scheme.literal, scheme, [value(body, kit, scheme)]));

/** Signs and sends a delivery with another id or time. */
const message =
  (edit: NonNullable<SignChange['message']>) =>
  (label: string): Change => ({ sign: { label, make: (body, kit) => kit.sign(body), message: edit } });

/** Sends an id or a time that is not the signed one. */
const moved =
  (signed: (scheme: KitScheme) => Partial<Message>, sent: (scheme: KitScheme) => Partial<Message>) =>
  (label: string): Change =>
    changed(label, (body, kit, scheme) => {
      const own = { ...scheme, ...signed(scheme) };
      return headersOfScheme(scheme.literal, { ...own, ...sent(scheme) }, [signedWith(body, kit, scheme, own)]);
    });

/** Sends a valid delivery whose headers are edited. */
const edited =
  (edit: (lines: readonly HeaderLine[], scheme: KitScheme) => readonly HeaderLine[]) =>
  (label: string): Change =>
    changed(label, (body, kit, scheme) => edit(headersOfScheme(scheme.literal, scheme, [kit.sign(body)]), scheme));

/** Sends entries in the signature header as they are, without the template of a signature. */
const entries =
  (list: (valid: string, literal: Scheme, kit: Kit) => readonly string[]) =>
  (label: string): Change =>
    changed(label, (body, kit, scheme) =>
      headersOfScheme({ ...scheme.literal, signature: '{value}' }, scheme, list(kit.sign(body), scheme.literal, kit)),
    );

/** Sends a list of signatures: the valid one, random ones, and values under another version. */
const listed = (list: (valid: string, wrong: () => string, version: (value: string) => string) => readonly string[]) =>
  entries((value, literal, kit) => {
    const wrap = (one: string) => literal.signature.replace('{value}', one);
    const version = (one: string) => otherPrefix(literal).replace('{value}', one || value);
    return list(wrap(value), () => wrap(randomSignature(kit)), version);
  });

/** Returns the template of a signature with another version, algorithm or name before the value. */
function otherPrefix({ signature }: Scheme): string {
  const version = signature.replace(
    /v(\d+)(?=\w?[,=:])/,
    (_, digits: string) => `v${digits === '0' ? 1 : Number(digits) - 1}`,
  );
  if (version !== signature) return version;
  const algorithm = signature.replace(/sha(?:1|256|512)/i, (name) => (name.endsWith('512') ? 'sha256' : 'sha512'));
  return algorithm === signature ? `x${signature}` : algorithm;
}

/** Signs with another hash function, and names it in the prefix. */
function namedAlgorithm(algorithm: string): SignChange {
  const headers: Headers = (body, kit, scheme) => {
    const signature = scheme.literal.signature.replace(/sha\d+/i, algorithm);
    const value = schemeDigest(scheme.literal, { ...scheme, body }, kit.secret, algorithm).toString(
      scheme.literal.encoding,
    );
    return headersOfScheme({ ...scheme.literal, signature }, scheme, [value]);
  };
  return { label: `HMAC with ${algorithm}, as its prefix says`, make: (body, kit) => kit.sign(body), headers };
}

const otherAlgorithms = {
  flow: ({ scheme }: Kit): Delivery[][] => {
    const others = ['sha1', 'md5', 'sha256', 'sha512'].filter((name) => name !== scheme?.literal.algorithm);
    return oneByOne(others.map(namedAlgorithm)).flow();
  },
};

/** Changes the whole value of the signature header. */
const inHeader = (change: (value: string) => string) =>
  edited((lines, { literal }) =>
    lines.map(([name, value]) => [name, name === signatureHeaderOf(literal) ? change(value) : value]),
  );

/** The words that faulty code signs instead of the value of a missing header. */
const MISSING = ['', 'undefined', 'null', 'None', 'NaN', '0'];

/** Sends no time or no id, and signs each word that faulty code may use instead. */
const signedWithout = (placeholder: 'timestamp' | 'id') =>
  oneByOne(
    MISSING.map((word) => ({
      label: `without it, signed as ${JSON.stringify(word)}`,
      make: (body, kit) => kit.sign(body),
      headers: (body, kit, scheme) =>
        removed(
          placeholder,
          scheme,
          headersOfScheme(scheme.literal, scheme, [signedWith(body, kit, scheme, { [placeholder]: word })]),
        ),
    })),
  );

/** Removes a placeholder from the headers, with the text around it. */
function removed(
  placeholder: 'timestamp' | 'id',
  { literal, ...values }: KitScheme,
  lines: readonly HeaderLine[],
): readonly HeaderLine[] {
  return lines.flatMap(([name, value]): HeaderLine[] => {
    const template = literal.headers[name] ?? '';
    if (!template.includes(`{${placeholder}}`)) return [[name, value]];
    if (!template.includes('{signature}')) return [];
    const start = template.indexOf('{signature}');
    const lead = template.slice(0, start).replace(`{${placeholder}}`, `${values[placeholder]}`);
    return [[name, value.replace(lead, '')]];
  });
}

const without = (placeholder: 'timestamp' | 'id') => edited((lines, scheme) => removed(placeholder, scheme, lines));

/** Sends a value for a placeholder that differs from the signed one. */
const resent = (edit: (scheme: KitScheme) => Partial<Message>) => moved(() => ({}), edit);

/** Returns a delivery of a flow that must be rejected. */
const rejection = (label: string, change: (label: string) => Change): Delivery[] => [
  { label, change: change(label), expect: refused },
];

/** Sends the signed time with more characters. */
const followedBy = (end: string) => resent(({ timestamp }) => ({ timestamp: `${timestamp}${end}` }));

const seconds = (scheme: KitScheme) => Number(scheme.timestamp);
const tolerance = ({ literal }: KitScheme) => literal.toleranceSeconds ?? 300;
const at = (offset: (scheme: KitScheme) => number) =>
  message((scheme) => ({ timestamp: seconds(scheme) + offset(scheme) }));

/** Replays an old delivery with the current time added: before the old time, after it, or at the end. */
const twoTimes = (place: 'in-front' | 'behind' | 'at-end') => (label: string) =>
  changed(label, (body, kit, scheme) => {
    const old = { ...scheme, timestamp: seconds(scheme) - 2 * tolerance(scheme) };
    const lines = headersOfScheme(scheme.literal, old, [signedWith(body, kit, scheme, old)]);
    return lines.flatMap(([name, value]): HeaderLine[] => {
      const template = scheme.literal.headers[name] ?? '';
      const [before, behind] = template.split('{timestamp}');
      if (before === undefined || behind === undefined) return [[name, value]];
      const now = `${before.split(',').at(-1)}${scheme.timestamp}`;
      if (!template.includes('{signature}')) {
        const values = place === 'in-front' ? [now, value] : [value, now];
        return values.map((one) => [name, one] as const);
      }
      if (place === 'behind') return [[name, value.replace(`${old.timestamp}`, `${old.timestamp},${now}`)]];
      return [[name, place === 'in-front' ? `${now},${value}` : `${value},${now}`]];
    });
  });

/**
 * A time in the distant future. If the scheme does not limit future times, the receiver may accept it, but must not
 * crash.
 */
const refusedOrUnlimited: Expectation = {
  text: 'any 4xx (2xx: recorded)',
  authentic: false,
  pass: ['4xx'],
  note: ['2xx'],
};

const of = (applies: Applies, own: Own = {}): Own => ({ ...own, inScheme: applies });
const shared = { suite: 'scheme', level: 'must', needs: ['hmac'] } as const;
const rejects = { ...shared, requirements: ['hmac-invalid'], verb: 'Rejects', expect: refused } as const;
const accepts = { ...shared, requirements: ['delivery-200'], verb: 'Accepts', expect: accepted } as const;

const DAY = 86_400;

const typeOf = ({ headers }: SchemeSample) =>
  headers.find(([name]) => name.toLowerCase() === 'content-type')?.[1]?.split(';')[0];

/** Sends the samples whose Content-Type is that of the first one or, with `isLikeFirst` false, all others. */
const eachSample = (isLikeFirst: boolean) => ({
  flow: ({ scheme }: Kit): Delivery[][] =>
    (scheme?.samples ?? [])
      .filter((one, _, [first = one]) => (typeOf(one) === typeOf(first)) === isLikeFirst)
      .map(({ name, body, headers }) => [
        {
          label: name,
          change: {
            serialise: () => Buffer.from(body),
            address: {
              label: `the headers of ${name}`,
              make: (head) => ({
                ...head,
                headers: [
                  ...head.headers.filter(
                    ([one]) => !headers.some(([other]) => other.toLowerCase() === one.toLowerCase()),
                  ),
                  ...headers,
                ],
              }),
            },
          },
          expect: accepted,
        },
      ]),
});

const OTHER_HOST = 'other-endpoint.example';
const atOtherHost = (url: string) => `http://${OTHER_HOST}${new URL(url).pathname}${new URL(url).search}`;

/** Adds a member with this many bytes to the plain delivery. */
const withBytes = (count: number): Change => ({
  serialise: (value) => Buffer.from(JSON.stringify({ ...(value as JsonObject), padding: 'x'.repeat(count) })),
});

const KIND = /(?:event|topic|type)$/i;

/** Sends a delivery of a kind that the sender may add tomorrow, in its headers and in its body. */
const unknownKind: Change = {
  serialise: (value) => {
    const object = value as JsonObject;
    const kinds = Object.keys(object).filter((name) => ['type', 'event_type', 'action'].includes(name));
    return Buffer.from(
      JSON.stringify({ ...object, padding: '', ...Object.fromEntries(kinds.map((name) => [name, UNKNOWN])) }),
    );
  },
  address: {
    label: 'a kind that the receiver does not know',
    make: (head) => ({
      ...head,
      headers: head.headers.map(([name, value]) =>
        KIND.test(name) && !/^content-/i.test(name) ? [name, UNKNOWN] : [name, value],
      ),
    }),
  },
};
const UNKNOWN = 'test.unknown_kind';

/** Sends a delivery with this id, in the headers of the scheme and in those of its samples. */
function withId(kit: Kit): Change & { readonly sign: SignChange } {
  const [id, uuid] = [`msg_${kit.nonce(24)}`, randomUUID()];
  const body = Buffer.from(JSON.stringify(kit.notification()));
  return {
    serialise: () => body,
    sign: { label: 'the same id', make: (bytes, own) => own.sign(bytes), message: () => ({ id }) },
    address: {
      label: 'the same id',
      make: (head) => ({
        ...head,
        headers: head.headers.map(([name, value]) => [name, DELIVERY_ID.test(value) ? uuid : value]),
      }),
    },
  };
}

const twice = {
  flow: (kit: Kit): Delivery[][] => {
    const change = withId(kit);
    return [1, 2].map((time) => [{ label: `delivery ${time}`, change, expect: accepted }]);
  },
};

/** Sends forgeries with the id of an accepted delivery, and forgeries twice before the delivery with their id. */
const forgedIds = {
  flow: (kit: Kit): Delivery[][] => {
    const [known, fresh] = [withId(kit), withId(kit)];
    const valid = (label: string, change: Change) => [{ label, change, expect: accepted }];
    const forged = (label: string, { sign, ...change }: ReturnType<typeof withId>) => [
      {
        label,
        change: { ...change, sign: { ...sign, make: (_: Uint8Array, own: Kit) => randomSignature(own) } },
        expect: refused,
      },
    ];
    return [
      valid('a valid delivery', known),
      forged('a forgery with its id', known),
      forged('a forgery with another id', fresh),
      forged('the same forgery again', fresh),
      valid('a valid delivery with the id of the forgery', fresh),
    ];
  },
};

const scenarios: readonly Scenario[] = [
  ...family(
    { ...accepts, mistake: 'plain-delivery-rejected' },
    {
      samples: ['each sample of the sender', eachSample(true), of(twoSamples)],
      'samples-of-another-type': [
        'each sample of the sender with another Content-Type',
        eachSample(false),
        of(otherTypes, { level: 'should', note: 'An endpoint may expect only one of them.' }),
      ],
    },
  ),
  ...family(
    { ...accepts, level: 'should', of: 'a delivery of', mistake: 'valid-body-size-rejected' },
    {
      'size-70-kb': ['70 kB', withBytes(70_000), of(always)],
      'size-150-kb': [
        '150 kB',
        withBytes(150_000),
        of(always, { note: 'Express and others stop at 100 kB by default.' }),
      ],
    },
  ),
  ...family(
    { ...accepts, verb: 'Handles', expect: anyClearAnswer, mistake: 'unknown-values-rejected' },
    { 'unknown-kind': ['a kind of delivery that it does not know', unknownKind, of(always)] },
  ),
  ...family(
    { ...rejects, of: 'a delivery that was signed', mistake: 'stale-timestamp-accepted', needsSecret: true },
    {
      'time-past': [
        'longer ago than the tolerance allows, and is sent unchanged',
        at((scheme) => -2 * tolerance(scheme)),
        of(aTolerance),
      ],
      'time-a-day-past': ['a day ago, and is sent unchanged', at(() => -DAY), of(aTolerance)],
      'time-a-year-past': ['a year ago, and is sent unchanged', at(() => -365 * DAY), of(aTolerance)],
      'time-zero': ['with the time 0', message(() => ({ timestamp: 0 })), of(aTolerance)],
      'time-not-a-number': [
        'with a word instead of the time',
        message(() => ({ timestamp: 'now' })),
        of(aTolerance, {
          level: 'should',
          note: 'The difference from a word is NaN, and NaN is not greater than any limit.',
        }),
      ],
      'time-in-words': [
        'with a date instead of the seconds',
        message((scheme) => ({ timestamp: new Date((seconds(scheme) - DAY) * 1000).toISOString() })),
        of(aTolerance, { level: 'should' }),
      ],
      'time-just-past': [
        'a little longer ago than the tolerance allows',
        at((scheme) => -tolerance(scheme) - 20),
        of(aTolerance, { level: 'should' }),
      ],
      'time-in-thirty-digits': [
        'with a time of thirty digits',
        message(() => ({ timestamp: '9'.repeat(30) })),
        'signature-check-throws',
        of(aTolerance, { expect: refusedOrUnlimited }),
      ],
      'old-and-wrong': [
        'by someone else long ago',
        (label) => ({
          sign: {
            label,
            make: (_body, kit) => randomSignature(kit),
            message: (scheme) => ({ timestamp: seconds(scheme) - DAY }),
          },
        }),
        of(aTime),
      ],
      'time-negative': ['with a negative time', message((scheme) => ({ timestamp: -seconds(scheme) })), of(aTolerance)],
    },
  ),
  ...family(
    { ...rejects, of: 'a delivery that was signed', mistake: 'future-timestamp-accepted', needsSecret: true },
    {
      'time-ahead': [
        'with a time that is further ahead than the tolerance allows',
        at((scheme) => 2 * tolerance(scheme)),
        of(aFutureLimit),
      ],
      'time-a-day-ahead': ['with a time a day ahead', at(() => DAY), of(aFutureLimit)],
      'time-in-milliseconds': [
        'with its time in milliseconds',
        message((scheme) => ({ timestamp: seconds(scheme) * 1000 })),
        of(aFutureLimit),
      ],
    },
  ),
  ...family(
    { ...rejects, mistake: 'signed-value-from-elsewhere' },
    {
      'time-renewed': [
        'an old delivery whose time was replaced with the current one',
        moved(
          (scheme) => ({ timestamp: seconds(scheme) - 2 * tolerance(scheme) }),
          (scheme) => ({ timestamp: seconds(scheme) }),
        ),
        of(aTime),
      ],
      'time-changed': [
        'a delivery whose time was changed by a second',
        resent((scheme) => ({ timestamp: seconds(scheme) - 1 })),
        of(aTime),
      ],
      'time-twice-new-first': ['an old delivery with the current time before its own', twoTimes('in-front'), of(aTime)],
      'time-twice-old-first': ['an old delivery with the current time after its own', twoTimes('behind'), of(aTime)],
      'time-twice-at-end': ['an old delivery with the current time at the end', twoTimes('at-end'), of(aTime)],
      'time-missing': ['a delivery without its time', without('timestamp'), of(aTime)],
      'time-empty': ['a delivery with an empty time', resent(() => ({ timestamp: '' })), of(aTime)],
      'time-followed-by-text': [
        'a delivery whose time is followed by a letter, a fraction or a blank',
        {
          flow: () =>
            ['x', '.9', ' '].map((end) => rejection(`the time followed by ${JSON.stringify(end)}`, followedBy(end))),
        },
        of(aTime, { level: 'should' }),
      ],
      'time-missing-as-signed': ['a delivery that was signed without its time', signedWithout('timestamp'), of(aTime)],
      'id-missing': ['a delivery without its id', without('id'), of(anId)],
      'id-missing-as-signed': ['a delivery that was signed without its id', signedWithout('id'), of(anId)],
      'id-empty': ['a delivery with an empty id', resent(() => ({ id: '' })), of(anId)],
      'id-signed-empty': [
        'a delivery that was signed with an empty id',
        message(() => ({ id: '' })),
        of(anId, { level: 'should' }),
      ],
      'id-changed': [
        'a delivery whose id was changed',
        resent(({ id }) => ({ id: `${id}0` })),
        of(anId, { note: 'With a new id, a delivery that was handled before is handled again.' }),
      ],
      'id-of-forgery': [
        'forgeries with a known id, and then accepts the valid delivery with their id',
        forgedIds,
        'lookup-before-verification',
        of(anyId, { defect: 'Accepts a forgery whose id it knows, or rejects a delivery whose id a forgery had' }),
      ],
      'url-of-the-request': [
        'a delivery that was signed for another host, which the request names',
        (label) => ({
          ...valued(label, (body, kit, scheme) => signedWith(body, kit, scheme, { url: atOtherHost(scheme.url) })),
          address: both(
            label,
            setHeader('Host', OTHER_HOST),
            both(label, setHeader('X-Forwarded-Host', OTHER_HOST), setHeader('X-Forwarded-Proto', 'http')),
          ),
        }),
        of(aUrl),
      ],
      'other-url': [
        'a delivery that was signed for another URL',
        (label) =>
          valued(label, (body, kit, scheme) =>
            signedWith(body, kit, scheme, { url: `${new URL(scheme.url).origin}/${kit.nonce(12)}` }),
          ),
        of(aUrl),
      ],
      'no-url': [
        'a delivery that was signed without the URL',
        (label) => valued(label, (body, kit, scheme) => signedWith(body, kit, scheme, { url: '' })),
        of(aUrl),
      ],
      'body-alone-signed': [
        'a signature over the body alone',
        (label) =>
          valued(label, (body, kit, scheme) =>
            signedWith(body, kit, { ...scheme, literal: { ...scheme.literal, signed: '{body}' } }),
          ),
        of(needs('signed value in addition to the body', ({ signed }) => signed !== '{body}')),
      ],
      'dollar-doubled': [
        'a body in which a $ was doubled after signing',
        (label) => ({
          serialise: (value) => Buffer.from(JSON.stringify({ ...(value as JsonObject), price: '$$5' })),
          sign: signedOver(label, (body) =>
            Buffer.from(
              Buffer.from(body)
                .toString()
                .replaceAll('$$', () => '$'),
            ),
          ),
        }),
        'raw-body-fallback',
        of(always, { note: 'A replacement text of `String.replace` reads `$$` as one `$`.' }),
      ],
      'other-sample': [
        'the signature of another kind of delivery',
        (label) => ({
          sign: signedOver(label, (body, { scheme }) => Buffer.from(scheme?.samples[1]?.body ?? body)),
        }),
        of(twoSamples),
      ],
    },
  ),
  ...family(
    { ...rejects, of: 'a valid signature', mistake: 'signature-version-ignored', needsSecret: true },
    {
      'other-version': [
        'under another version or name',
        listed((_valid, _wrong, version) => [version('')]),
        of(aPrefix),
      ],
      'other-algorithm': [
        'made with another algorithm, which its prefix names',
        otherAlgorithms,
        'algorithm-from-request',
        of(anAlgorithm),
      ],
      'older-alone': [
        'only in the older header',
        oneByOne([
          { ...unsigned, keepsOlder: true },
          { label: 'a random signature', make: (_body, kit) => randomSignature(kit), keepsOlder: true },
        ]),
        of(anOlderSignature, {
          level: 'should',
          note: 'The sender keeps it for old receivers. Nobody can forge it without the secret, but its hash is weak.',
        }),
      ],
      'no-prefix': ['without its prefix', entries((valid) => [valid]), of(aPrefix, { level: 'should' })],
      'text-before-prefix': [
        'with text before its prefix',
        inHeader((value) => `AAAA${value}`),
        'surrounding-text-ignored',
        of(aPrefix),
      ],
      'odd-prefix': [
        'after other characters of the same length as its prefix',
        entries((valid, { signature }) => [signature.replace('{value}', '').replace(/\w/g, 'x') + valid]),
        of(aPrefix),
      ],
    },
  ),
  ...family(
    { ...rejects, mistake: 'absent-signature-passes' },
    {
      'header-without-value': [
        'an empty signature header, and words instead of one',
        {
          flow: () =>
            ['', ' ', 'undefined', 'null', 'true'].map((word) =>
              rejection(
                JSON.stringify(word),
                inHeader(() => word),
              ),
            ),
        },
        of(aPrefix),
      ],
      'label-alone': [
        'a signature header that ends with the label of a signature',
        entries((_valid, { signature }) => [(signature.split('{value}')[0] ?? '').replace(/\W$/, '')]),
        'signature-check-throws',
        of(aPrefix),
      ],
    },
  ),
  ...family(
    { ...rejects, of: 'a list of', mistake: 'several-signatures' },
    {
      'many-wrong': [
        'signatures that are all invalid',
        listed((_valid, wrong) => [wrong(), wrong(), wrong()]),
        of(manySignatures),
      ],
      'many-empty': ['empty signatures', listed(() => ['', '', '']), of(manySignatures)],
      'many-other-versions': [
        'signatures of other versions',
        listed((_valid, _wrong, version) => [version(''), version('AAAA')]),
        'signature-version-ignored',
        of(manySignatures),
      ],
    },
  ),
  ...family(
    { ...accepts, of: 'a delivery with', mistake: 'further-signatures-ignored' },
    {
      'valid-last': [
        'an invalid signature before the valid one',
        listed((valid, wrong) => [wrong(), valid]),
        of(manySignatures),
      ],
      'valid-first': [
        'an invalid signature after the valid one',
        listed((valid, wrong) => [valid, wrong()]),
        of(manySignatures),
      ],
      'valid-after-other-version': [
        'a signature of another version before the valid one',
        listed((valid, _wrong, version) => [version('AAAA'), valid]),
        of(manySignatures),
      ],
      'valid-before-other-version': [
        'a signature of another version after the valid one',
        listed((valid, _wrong, version) => [valid, version('AAAA')]),
        of(manySignatures),
      ],
      'valid-among-many': [
        'the valid signature among five invalid ones',
        listed((valid, wrong) => [wrong(), wrong(), wrong(), valid, wrong(), wrong()]),
        of(manySignatures, { level: 'should' }),
      ],
    },
  ),
  ...family(
    { ...accepts, of: 'a delivery', mistake: 'tolerance-too-small' },
    {
      'time-a-minute-past': ['that was signed a minute ago', at(() => -60), of(aTolerance)],
      'time-near-limit': [
        'that is nearly as old as the tolerance allows',
        at((scheme) => 30 - tolerance(scheme)),
        of(aTolerance, { level: 'should' }),
      ],
      'time-slightly-ahead': ['whose time is a few seconds ahead', at(() => 5), of(aTolerance, { level: 'should' })],
    },
  ),
  ...family(
    { ...accepts, mistake: 'copy-rejected' },
    { 'same-again': ['a delivery that is sent twice with the same id', twice, of(anyId)] },
  ),
];

/** The checks of what a scheme signs in addition to the body. Only a run in a scheme includes them. */
export const schemeSuite: Suite = {
  name: 'scheme',
  title: 'Everything that the scheme signs is verified',
  scenarios,
};
