/** Creates the kit of a scenario: seeded values, fresh ids, and the partner's credentials. */
import { hash } from 'node:crypto';
import { certificateBlocks, rogueCertificates } from '../../certs/index.ts';
import { DEFAULT_API_KEY_HEADER, DEFAULT_SIGNATURE_HEADER, EFFECT_DECIMALS } from '../../contract/index.ts';
import { signatureHeaderOf } from '../../contract/signing/index.ts';
import { type Kit, newTestId, type Scenario, samples, scenariosOwning } from '../../scenarios/index.ts';
import type { Partner } from '../partner.ts';
import { sign } from '../sender/index.ts';
import { schemeOfKit, signIn } from './scheme-kit.ts';

const ALPHABET = 'abcdefghijklmnopqrstuvwxyz0123456789';

/** Returns a reproducible source of bytes: the generator sfc32, seeded with a digest of the words. */
function seededBytes(...words: string[]): (length: number) => Buffer {
  const seed = hash('sha256', JSON.stringify(words), 'buffer');
  let a = seed.readUInt32LE(0);
  let b = seed.readUInt32LE(4);
  let c = seed.readUInt32LE(8);
  let counter = seed.readUInt32LE(12);
  function next(): number {
    const sum = (a + b + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (((c << 21) | (c >>> 11)) + sum) | 0;
    return sum >>> 24;
  }
  return (length) => {
    const bytes = Buffer.allocUnsafe(length);
    for (let at = 0; at < length; at++) bytes[at] = next();
    return bytes;
  };
}

/** Maps each value of a byte to a letter or digit. */
const LETTERS = Array.from({ length: 256 }, (_, byte) => ALPHABET[byte % ALPHABET.length]);

/** What the endpoint has returned, and a notification that it accepted before its secret changed. */
type Learnt = Pick<Kit, 'cookies' | 'otherServerNames' | 'returned'> &
  Partial<Pick<NonNullable<Kit['rotation']>, 'delivered'>>;

/**
 * Creates the kit of one scenario. Its values depend only on the seed and the scenario: a scenario that is repeated
 * alone sends the same values. Ids are always new, because a receiver would treat repeated ids as duplicates.
 * `onSignature` is called with every signature that the kit makes. Each of them is valid for some body, so no report
 * may show it. `learnt` is what the endpoint has returned so far.
 */
export function createKit(
  partner: Partner,
  seed: string,
  scenario: string,
  now: Date,
  onSignature: (signature: string) => void = () => {},
  learnt: Learnt = { cookies: [], returned: [] },
): Kit {
  const bytes = seededBytes(seed, scenario);
  const { rotation } = partner;
  const secret = partner.signing?.secret ?? '';
  const names = headerNamesOf(partner);
  const integer = (below: number) => bytes(6).readUIntBE(0, 6) % below;
  const kit: Kit = {
    scenario,
    decimals: partner.decimals ?? EFFECT_DECIMALS,
    newId: newTestId,
    nonce: (length = 12) => {
      let text = '';
      for (const byte of bytes(length)) text += LETTERS[byte];
      return text;
    },
    integer,
    bytes,
    now,
    ...knownSamplesOf(partner, scenario, integer),
    notification: () => samples.plainNotification(kit, partner.control),
    ...schemeOfKit(partner),
    secret,
    apiKey: partner.apiKey?.value ?? '',
    signatureHeader: names.signature,
    apiKeyHeader: names.apiKey,
    clientCertificate: clientCertificateOf(partner),
    get selfSignedCertificate() {
      return rogueCertificates(kit.clientCertificate)['self-signed'].cert;
    },
    otherServerNames: learnt.otherServerNames ?? [],
    // Not an arrow function: the kit of a delivery in a scheme has another id and time, and signs with them.
    sign(body) {
      const signature = this.scheme === undefined ? sign(body, secret) : signIn(this.scheme, body, secret);
      onSignature(signature);
      return signature;
    },
    ...(rotation !== undefined && {
      rotation: {
        sign: (body, which) => {
          const signature = sign(body, rotation[which]);
          onSignature(signature);
          return signature;
        },
        ...(learnt.delivered !== undefined && { delivered: learnt.delivered }),
      },
    }),
    // Computed on demand: they come from every answer so far, and few scenarios use them.
    get cookies() {
      return learnt.cookies;
    },
    get returned() {
      return learnt.returned;
    },
  };
  return kit;
}

/**
 * Provides the configured ids that the receiver knows. The last ids of a list are reserved for scenarios that need an
 * unshared id. All other scenarios share the rest.
 */
function knownSamplesOf(
  { samples: known }: Partner,
  scenario: string,
  integer: Kit['integer'],
): Pick<Kit, 'knownId' | 'fields'> {
  if (known === undefined) return {};
  return {
    fields: known.fields,
    knownId: (kind, own) => {
      const ids = known.ids[kind] ?? [];
      const owners = scenariosOwning(kind);
      const rest = Math.max(1, ids.length - owners.length);
      return ids[own ? ids.length - 1 - owners.indexOf(scenario) : integer(rest)] ?? null;
    },
  };
}

/**
 * Returns why a scenario cannot have ids that no other scenario uses, or null. One id of each list is kept for the
 * scenarios that share ids.
 */
export function lackOfIds({ samples: known }: Partner, scenario: Scenario): string | null {
  if (known === undefined || !('owns' in scenario)) return null;
  for (const kind of scenario.owns ?? []) {
    const ids = known.ids[kind] ?? [];
    const owners = scenariosOwning(kind);
    if (ids.length === 0 || owners.indexOf(scenario.id) + 1 < ids.length) continue;
    const given = `${ids.length} ${ids.length === 1 ? 'id' : 'ids'}`;
    return (
      `the list of samples for \`${kind}\` has ${given}; this check needs one that no other check uses, ` +
      `and ${owners.length + 1} are enough for all checks`
    );
  }
  return null;
}

/** Returns the names of the partner's credential headers, or the default names. */
export function headerNamesOf(partner: Partner): { readonly signature: string; readonly apiKey: string } {
  return {
    signature:
      partner.signing?.scheme === undefined
        ? (partner.signing?.header ?? DEFAULT_SIGNATURE_HEADER)
        : signatureHeaderOf(partner.signing.scheme),
    apiKey: partner.apiKey?.header ?? DEFAULT_API_KEY_HEADER,
  };
}

/** The first certificate of each bundle. Cached, because every kit needs it. */
const firstCertificates = new Map<string, string>();

/** Returns the client certificate, the first of its bundle, in PEM. Empty if the partner has none. */
export function clientCertificateOf({ tls }: Pick<Partner, 'tls'>): string {
  const bundle = tls?.clientCert ?? '';
  const known = firstCertificates.get(bundle);
  if (known !== undefined) return known;
  const first = certificateBlocks(bundle)[0]?.text ?? '';
  firstCertificates.set(bundle, first);
  return first;
}
