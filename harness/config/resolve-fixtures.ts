/**
 * The client certificates of `mtls.fixtures`. Each has to be what its name says and nothing else besides: its scenario is a minimal pair,
 * and a server that refuses it for another reason would pass for the wrong one.
 */
import { X509Certificate } from 'node:crypto';
import {
  authorityKeyId,
  type Identity,
  issuerInWords,
  type MaterialReading,
  subjectInWords,
} from '../../certs/index.ts';
import type { ClientFixture } from '../../scenarios/index.ts';
import { FIXTURE_FAULTS, FIXTURE_KEYS, FIXTURE_NAMES } from './client-fixtures.ts';
import type { ResolvedConfig } from './config.ts';
import { type Given, givenText, problemWith } from './given.ts';
import { noteAdvice, noteProblems, type Places, shownMaterial } from './read-material.ts';
import { pairPem, readPair, readPassphrase } from './read-pair.ts';
import { type Resolution, redacted, show } from './resolution.ts';

const HOW_TO_GIVE_PASSPHRASE = `Add passphrase: \${env:NAME} or \${file:PATH} beside cert and key.`;

/** `clientCert` is the client certificate in use, PEM, the leaf first; undefined when there is none that can be used. */
export async function resolveFixtures(
  resolution: Resolution,
  clientCert: string | undefined,
): Promise<ResolvedConfig['clientFixtures']> {
  const { settings, attempted } = resolution;
  const fixtures: { -readonly [Name in ClientFixture]?: { cert: string; key: string } } = {};
  const client = clientCert === undefined ? undefined : new X509Certificate(clientCert);
  for (const name of FIXTURE_NAMES) {
    const pathOf = (key: (typeof FIXTURE_KEYS)[number]) => `mtls.fixtures.${name}.${key}` as const;
    if (!FIXTURE_KEYS.some((key) => attempted.has(pathOf(key)))) continue;
    const fixture = await readFixture(name, client, resolution);
    if (fixture !== undefined) fixtures[name] = pairPem(fixture);
    const certificate = givenText(settings, pathOf('cert'));
    if (certificate !== undefined && !attempted.has('tls.client-cert')) {
      const what = 'is not used without a client certificate of your own (tls.client-cert), which the controls need.';
      resolution.advice.push(`${certificate.where}: ${what}`);
    }
  }
  if (!FIXTURE_NAMES.some((name) => attempted.has(`mtls.fixtures.${name}.cert`))) {
    show(resolution, 'mtls.fixtures', 'none', undefined);
  }
  return fixtures;
}

async function readFixture(
  name: ClientFixture,
  client: X509Certificate | undefined,
  resolution: Resolution,
): Promise<Identity | undefined> {
  const { settings, problems } = resolution;
  const [certificate, key, givenPassphrase] = FIXTURE_KEYS.map((part) =>
    givenText(settings, `mtls.fixtures.${name}.${part}`),
  );
  const passphrase = await readPassphrase(givenPassphrase, resolution);
  if (certificate) show(resolution, `mtls.fixtures.${name}.cert`, shownMaterial(certificate), certificate);
  if (key) show(resolution, `mtls.fixtures.${name}.key`, shownMaterial(key), key);
  if (passphrase.value !== undefined) {
    show(resolution, `mtls.fixtures.${name}.passphrase`, redacted(passphrase.value), givenPassphrase);
  }
  if (certificate === undefined || key === undefined) {
    noteMissing(name, { certificate, key, passphrase: givenPassphrase }, resolution);
    return undefined;
  }
  const before = problems.length;
  const howToGivePassphrase = HOW_TO_GIVE_PASSPHRASE;
  const reading = await readPair({ certificate, key, passphrase, howToGivePassphrase }, resolution);
  if (reading !== undefined) checkFixture(name, reading, client, { certificate, key }, resolution);
  return problems.length > before ? undefined : reading?.value;
}

function noteMissing(
  name: ClientFixture,
  given: Partial<Record<'certificate' | 'key' | 'passphrase', Given | undefined>>,
  { attempted, problems }: Resolution,
): void {
  const place = given.certificate ?? given.key ?? given.passphrase;
  // A part that is there and empty has been noted.
  const missing = (['cert', 'key'] as const).filter((part) => !attempted.has(`mtls.fixtures.${name}.${part}`));
  if (place === undefined || missing.length === 0) return;
  const what = `the fixture ${name} has no ${missing.join(' and no ')}`;
  problems.push(problemWith(place, what, 'Give both: cert and key.', 'CONFIG_TLS'));
}

/** What the fixture has to be: its own fault, no other, and in other respects like the client certificate. */
function checkFixture(
  name: ClientFixture,
  { value, problems, advice }: MaterialReading<Identity>,
  client: X509Certificate | undefined,
  places: Places,
  resolution: Resolution,
): void {
  const wanted = FIXTURE_FAULTS[name];
  noteProblems(
    problems.filter(({ code }) => code !== wanted),
    places,
    resolution,
  );
  noteAdvice(
    advice.filter(({ code }) => code !== 'CERT_EXPIRES_SOON'),
    places,
    resolution,
  );
  if (value === undefined) return;
  const [leaf] = value.chain;
  const refuse = (what: string, hint: string) =>
    resolution.problems.push(problemWith(places.certificate, what, hint, 'CONFIG_TLS'));
  if (wanted !== null && !problems.some(({ code }) => code === wanted)) {
    refuse(`the fixture ${name} ${isNot(name, leaf)}`, howToMend(name));
  }
  if (client === undefined) return;
  if (leaf.raw.equals(client.raw)) {
    refuse(`the fixture ${name} is the client certificate itself`, howToMend(name));
  } else if (name === 'other-subject' && leaf.subject === client.subject) {
    const what = `the fixture other-subject has the subject of the client certificate (${subjectInWords(leaf)})`;
    refuse(what, howToMend(name));
  }
  if (!hasSameAuthority(leaf, client)) {
    const [theirs, ours] = [issuerInWords(leaf), issuerInWords(client)];
    const named = theirs === ours ? `${ours}, with another key` : `${theirs} and not by ${ours}`;
    resolution.advice.push(
      `${places.certificate.where}: the fixture ${name} is issued by ${named}: an endpoint may refuse it as that of an unknown authority, which proves nothing else. Have it issued by the authority of the client certificate.`,
    );
  }
}

function isNot(name: ClientFixture, leaf: X509Certificate): string {
  switch (name) {
    case 'expired':
      return `has not expired: it is valid until ${new Date(leaf.validTo).toISOString()}`;
    case 'not-yet-valid':
      return `is valid already: since ${new Date(leaf.validFrom).toISOString()}`;
    default:
      return 'is good for clients';
  }
}

function howToMend(name: ClientFixture): string {
  switch (name) {
    case 'expired':
      return 'Have one issued whose last day of validity is in the past.';
    case 'not-yet-valid':
      return 'Have one issued whose first day of validity is in the future.';
    case 'wrong-purpose':
      return 'Have one issued for servers only: extended key usage serverAuth and not clientAuth.';
    case 'revoked':
      return 'Have another one issued by the same authority, and revoked.';
    case 'other-subject':
      return 'Have one issued by the same authority to somebody else.';
  }
}

/** The same issuer by name and, where both say it, by key. */
function hasSameAuthority(one: X509Certificate, other: X509Certificate): boolean {
  if (one.issuer !== other.issuer) return false;
  const [first, second] = [authorityKeyId(one), authorityKeyId(other)];
  return first === undefined || second === undefined || first === second;
}
