/** The client certificate and the extra authorities, checked before the first connection. Specification: TLS. */
import { certificatesPem } from '../../certs/index.ts';
import type { Partner } from '../partner.ts';
import { type Given, givenText, problemWith } from './given.ts';
import { noteAdvice, noteProblems, readCa, shownMaterial } from './read-material.ts';
import { pairPem, readPair, readPassphrase } from './read-pair.ts';
import { type Resolution, redacted, show } from './resolution.ts';

const HOW_TO_GIVE_PASSPHRASE = 'Set HOOKPROOF_CLIENT_KEY_PASSPHRASE, or tls.passphrase in the configuration file.';

/**
 * The TLS material of the partner as PEM, the key opened, or undefined when none is configured. The client certificate
 * and its key come together, belong together, and are what a right server accepts.
 */
export async function resolveTls(resolution: Resolution): Promise<Partner['tls']> {
  const { settings, problems } = resolution;
  const problemsBefore = problems.length;
  const certificate = givenText(settings, 'tls.client-cert');
  const key = givenText(settings, 'tls.client-key');
  const ca = givenText(settings, 'tls.ca');
  const givenPassphrase = givenText(settings, 'tls.passphrase');
  for (const [path, given] of [
    ['tls.client-cert', certificate],
    ['tls.client-key', key],
    ['tls.ca', ca],
  ] as const) {
    show(resolution, path, shownMaterial(given), given);
  }
  const passphrase = await readPassphrase(givenPassphrase, resolution);
  const shownPassphrase = passphrase.value === undefined ? 'not set' : redacted(passphrase.value);
  show(resolution, 'tls.passphrase', shownPassphrase, givenPassphrase);

  const authorities = ca && (await readCa(ca, resolution));
  const howToGivePassphrase = HOW_TO_GIVE_PASSPHRASE;
  const client =
    certificate && key
      ? await readClient({ certificate, key, passphrase, howToGivePassphrase, authorities }, resolution)
      : noteLone(certificate, key, resolution);
  // Half of it would only look like another mistake to whoever checks it next.
  if (problems.length > problemsBefore) return undefined;
  const tls = {
    ...(client && { clientCert: client.cert, clientKey: client.key }),
    ...(authorities && { ca: certificatesPem(authorities) }),
  };
  return Object.keys(tls).length === 0 ? undefined : tls;
}

async function readClient(pair: Parameters<typeof readPair>[0], resolution: Resolution) {
  const reading = await readPair(pair, resolution);
  if (reading === undefined) return undefined;
  noteProblems(reading.problems, pair, resolution);
  noteAdvice(reading.advice, pair, resolution);
  return reading.value && pairPem(reading.value);
}

/** One of the two without the other, unless the other was given and found wrong already. */
function noteLone(
  certificate: Given<string> | undefined,
  key: Given<string> | undefined,
  { attempted, problems }: Resolution,
): undefined {
  const lone = certificate ?? key;
  if (lone === undefined || attempted.has('tls.client-cert') === attempted.has('tls.client-key')) return;
  const what = lone === key ? 'a client key has no client certificate' : 'a client certificate has no client key';
  problems.push(problemWith(lone, what, 'Give both: --client-cert and --client-key.', 'CONFIG_TLS'));
}
