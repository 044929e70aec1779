/**
 * Reads the client certificates of `mtls.fixtures`. Each must have exactly the fault in its name: a server that rejects
 * it for another reason would pass the check without being correct.
 */
import { X509Certificate } from 'node:crypto';
import {
  authorityKeyId,
  type Identity,
  issuerInWords,
  type MaterialProblemCode,
  subjectInWords,
} from '../../certs/index.ts';
import type { ClientFixture } from '../../scenarios/index.ts';
import { type Given, givenText, problemWith, type Resolution, redacted, show } from './given.ts';
import { FIXTURE_NAMES } from './settings.ts';
import {
  noteAdvice,
  noteProblems,
  type PairReading,
  pairPem,
  readPair,
  readPassphrase,
  shownMaterial,
} from './tls-material.ts';

/** The one fault that each fixture must have; null for the valid ones (revoked, or issued to another subject). */
const FAULTS: Readonly<Record<ClientFixture, MaterialProblemCode | null>> = {
  expired: 'CERT_EXPIRED',
  'not-yet-valid': 'CERT_NOT_YET_VALID',
  'wrong-purpose': 'CERT_PURPOSE',
  revoked: null,
  'other-subject': null,
};

const FIXES: Readonly<Record<ClientFixture, string>> = {
  expired: 'Issue one whose validity ends in the past.',
  'not-yet-valid': 'Issue one whose validity begins in the future.',
  'wrong-purpose': 'Issue one for servers only: extended key usage serverAuth without clientAuth.',
  revoked: 'Issue another one with the same CA, and revoke it.',
  'other-subject': 'Issue one with the same CA to another subject.',
};

const PASSPHRASE_HINT = `Add \`passphrase\`, as \${env:NAME} or \${file:PATH}, next to \`cert\` and \`key\`.`;

/** The fixtures as PEM text: each certificate with its chain in order, and the decrypted key. */
export type ClientFixtures = Partial<Record<ClientFixture, { readonly cert: string; readonly key: string }>>;

/**
 * Reads and checks the fixtures. `clientCert` is the configured client certificate as PEM text, leaf first; undefined
 * if there is no usable one.
 */
export async function resolveFixtures(resolution: Resolution, clientCert: string | undefined): Promise<ClientFixtures> {
  const { attempted } = resolution;
  const fixtures: { -readonly [Name in ClientFixture]?: { cert: string; key: string } } = {};
  const client = clientCert === undefined ? undefined : new X509Certificate(clientCert);
  for (const name of FIXTURE_NAMES) {
    const { cert, key, passphrase } = pathsOf(name);
    if (![cert, key, passphrase].some((path) => attempted.has(path))) continue;
    const fixture = await readFixture(name, client, resolution);
    if (fixture !== undefined) fixtures[name] = pairPem(fixture);
    const certificate = givenText(resolution.settings, cert);
    if (certificate !== undefined && !attempted.has('tls.client-cert')) {
      advise(certificate, 'is not used: it also needs a valid client certificate (tls.client-cert)', resolution);
    }
  }
  if (!FIXTURE_NAMES.some((name) => attempted.has(pathsOf(name).cert))) {
    show(resolution, 'mtls.fixtures', 'none', undefined);
  }
  return fixtures;
}

function pathsOf(name: ClientFixture) {
  const path = `mtls.fixtures.${name}` as const;
  return { cert: `${path}.cert`, key: `${path}.key`, passphrase: `${path}.passphrase` } as const;
}

async function readFixture(
  name: ClientFixture,
  client: X509Certificate | undefined,
  resolution: Resolution,
): Promise<Identity | undefined> {
  const { settings, problems, attempted } = resolution;
  const paths = pathsOf(name);
  const certificate = givenText(settings, paths.cert);
  const key = givenText(settings, paths.key);
  const givenPassphrase = givenText(settings, paths.passphrase);
  const passphrase = await readPassphrase(givenPassphrase, resolution);
  if (certificate) show(resolution, paths.cert, shownMaterial(certificate), certificate);
  if (key) show(resolution, paths.key, shownMaterial(key), key);
  if (passphrase.value !== undefined) show(resolution, paths.passphrase, redacted(passphrase.value), givenPassphrase);
  if (certificate === undefined || key === undefined) {
    const place = certificate ?? key ?? givenPassphrase;
    // An empty value has already been noted as a problem.
    const missing = (['cert', 'key'] as const).filter((part) => !attempted.has(paths[part]));
    if (place === undefined || missing.length === 0) return undefined;
    const what = `the fixture ${name} has no ${missing.join(' and no ')}`;
    problems.push(problemWith(place, what, 'Give both: `cert` and `key`.', 'CONFIG_TLS'));
    return undefined;
  }
  const before = problems.length;
  const pair = { certificate, key, passphrase, passphraseHint: PASSPHRASE_HINT };
  const reading = await readPair(pair, resolution);
  checkFixture(name, reading, client, { certificate, key }, resolution);
  return problems.length > before ? undefined : reading.value;
}

/**
 * Notes a problem unless the fixture has exactly the fault in its name and otherwise matches the client certificate.
 */
function checkFixture(
  name: ClientFixture,
  { value, problems, advice }: PairReading,
  client: X509Certificate | undefined,
  places: { readonly certificate: Given<string>; readonly key: Given<string> },
  resolution: Resolution,
): void {
  const wanted = FAULTS[name];
  const others = problems.filter(({ code }) => code !== wanted);
  noteProblems(others, places, resolution);
  const worthSaying = advice.filter(({ code }) => code !== 'CERT_EXPIRES_SOON');
  noteAdvice(worthSaying, places, resolution);
  if (value === undefined) return;
  const [leaf] = value.chain;
  const refuse = (what: string) =>
    resolution.problems.push(problemWith(places.certificate, `the fixture ${name} ${what}`, FIXES[name], 'CONFIG_TLS'));
  if (wanted !== null && !problems.some(({ code }) => code === wanted)) refuse(whyNot(name, leaf));
  if (client === undefined) return;
  if (leaf.raw.equals(client.raw)) {
    refuse('is the client certificate itself');
  } else if (name === 'other-subject' && leaf.subject === client.subject) {
    refuse(`has the subject of the client certificate (${subjectInWords(leaf)})`);
  }
  if (!hasSameIssuer(leaf, client)) {
    const [theirs, ours] = [issuerInWords(leaf), issuerInWords(client)];
    const named = theirs === ours ? `${ours}, with another key` : `${theirs} and not by ${ours}`;
    const why = 'so an endpoint may reject it because it does not know the CA';
    const what = `the fixture ${name} is issued by ${named}, ${why}`;
    advise(places.certificate, what, resolution, 'Issue it with the CA of the client certificate.');
  }
}

function advise({ path, where }: Given, what: string, { advice }: Resolution, hint = ''): void {
  advice.push({ path, reason: 'fixture', message: `${where}: ${what}.`, hint });
}

function whyNot(name: ClientFixture, leaf: X509Certificate): string {
  switch (name) {
    case 'expired':
      return `has not expired: it is valid until ${new Date(leaf.validTo).toISOString()}`;
    case 'not-yet-valid':
      return `is already valid: since ${new Date(leaf.validFrom).toISOString()}`;
    default:
      return 'is valid for clients';
  }
}

/** Whether both certificates have the same issuer: the same name and, if both contain it, the same key identifier. */
function hasSameIssuer(one: X509Certificate, other: X509Certificate): boolean {
  if (one.issuer !== other.issuer) return false;
  const [first, second] = [authorityKeyId(one), authorityKeyId(other)];
  return first === undefined || second === undefined || first === second;
}
