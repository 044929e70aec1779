/** What a kit has for a sender that signs in another scheme: an id and a time for each delivery, and its deliveries. */
import { HookproofError, type JsonObject } from '../../contract/index.ts';
import { headersOfScheme, olderSchemesOf, schemeDigest, signatureHeaderOf } from '../../contract/signing/index.ts';
import type { Kit, KitScheme, SignChange } from '../../scenarios/index.ts';
import { type Partner, samplesOf } from '../partner.ts';

/** Signs a body with the id and the time of a delivery. */
export function signIn({ literal, ...message }: KitScheme, body: Uint8Array, secret: string): string {
  return schemeDigest(literal, { ...message, body }, secret).toString(literal.encoding);
}

function messageIn(
  constant: Pick<KitScheme, 'literal' | 'url' | 'samples'>,
  message: Pick<KitScheme, 'id' | 'timestamp'>,
): KitScheme {
  const { literal } = constant;
  const header = (...signatures: readonly string[]) =>
    headersOfScheme(literal, message, signatures).find(([name]) => name === signatureHeaderOf(literal))?.[1] ?? '';
  return { ...constant, ...message, header };
}

/** Returns the kit of one delivery. In a scheme, each delivery has a separate id and time, which are signed. */
export function kitOfDelivery(kit: Kit, edited?: SignChange['message']): Kit {
  if (kit.scheme === undefined) return kit;
  const usual = messageIn(kit.scheme, { id: `msg_${kit.nonce(24)}`, timestamp: nowInSeconds() });
  const scheme = edited === undefined ? usual : messageIn(kit.scheme, { ...usual, ...edited(usual) });
  return Object.create(kit, { scheme: { value: scheme } });
}

/** Returns the kit of each older signature of a delivery. In it, that signature is the one of the scheme. */
export function olderKitsOf(kit: Kit): Kit[] {
  if (kit.scheme === undefined) return [];
  const { literal: newest, id, timestamp, ...constant } = kit.scheme;
  return olderSchemesOf(newest).map((literal) =>
    Object.create(kit, {
      scheme: { value: messageIn({ ...constant, literal }, { id, timestamp }) },
      signatureHeader: { value: signatureHeaderOf(literal) },
    }),
  );
}

const nowInSeconds = () => Math.floor(Date.now() / 1000);

/** Matches the first member that identifies a delivery, with the beginning of its value if that is a text. */
const ID =
  /("(?:id|event_id|eventId|webhookEventId|message_id|hook_id)"\s*:\s*)(?:("(?:[a-z]+_)?)(?:[^"\\]|\\.)*"|\d+)/i;

/**
 * Returns the additional parts of a kit in a scheme. The plain notification is the first delivery of the sender, with a
 * new id, so that no two have the same body.
 */
export function schemeOfKit(partner: Partner): Partial<Pick<Kit, 'scheme' | 'notification'>> {
  const { signing, url } = partner;
  if (signing?.scheme === undefined) return {};
  const { scheme: literal } = signing;
  const samples = samplesOf(partner);
  const plain = Buffer.from(samples[0]?.body ?? '{"id":"evt_1","type":"test"}').toString();
  return {
    scheme: messageIn({ literal, url, samples }, { id: 'msg_0', timestamp: nowInSeconds() }),
    notification() {
      const { integer, nonce } = this as Kit;
      return parsed(
        plain.replace(ID, (_, name: string, beginning: string | undefined) =>
          beginning === undefined ? name + integer(1e9) : `${name}${beginning}${nonce(20)}"`,
        ),
      );
    },
  };
}

function parsed(text: string): JsonObject {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as JsonObject;
  } catch {
    // Not JSON. The error below says so.
  }
  throw new HookproofError('SCHEME_SAMPLE', 'the first sample of the sender is not a JSON object', {
    hint: 'Give a delivery with a JSON object first: the checks change it.',
  });
}
