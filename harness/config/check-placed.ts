/** Has the sender core check the partner, and says where the part that it refuses was configured. */
import { HookproofError } from '../../contract/index.ts';
import type { Partner } from '../partner.ts';
import { checkPartner } from '../sender/index.ts';
import { type Given, givenText } from './given.ts';
import type { Problem } from './problems.ts';
import type { Resolution } from './resolution.ts';
import type { PlacedHeader } from './resolve-headers.ts';

/** What a part is checked with in place of the parts that have a check of their own. */
const NEUTRAL_URL = 'https://partner.example/';
const NEUTRAL_VALUE = 'x';

/** Everything that the sender core would refuse is a problem now, before the first request; what it advises is advice. */
export function checkPlaced(partner: Partner, headers: readonly PlacedHeader[], resolution: Resolution): void {
  const problems = partsOf(partner, headers, resolution).flatMap(([given, part]) => {
    const refused = refusal({ url: NEUTRAL_URL, ...part }, resolution, false);
    return refused === undefined || given === undefined ? [] : { ...refused, message: placed(refused.message, given) };
  });
  // Together the parts can still clash. When one is wrong by itself, that has been said.
  const clash = problems.length === 0 ? refusal(partner, resolution, true) : undefined;
  resolution.problems.push(...problems, ...(clash === undefined ? [] : [clash]));
}

/** Each setting of the partner, alone. TLS material has been checked against its files already. */
function partsOf(
  { url, signing, apiKey }: Partner,
  headers: readonly PlacedHeader[],
  { settings }: Resolution,
): (readonly [given: Given | undefined, part: Partial<Partner>])[] {
  const signatureHeader = signing?.header;
  const apiKeyHeader = apiKey?.header;
  return [
    [givenText(settings, 'url'), { url }],
    [
      givenText(settings, 'hmac.header'),
      signatureHeader === undefined ? {} : { signing: { secret: NEUTRAL_VALUE, header: signatureHeader } },
    ],
    [
      givenText(settings, 'api-key.header'),
      apiKeyHeader === undefined ? {} : { apiKey: { value: NEUTRAL_VALUE, header: apiKeyHeader } },
    ],
    [givenText(settings, 'api-key.value'), apiKey === undefined ? {} : { apiKey: { value: apiKey.value } }],
    ...headers.map(({ given, line }) => [given, { headers: [line] }] as const),
  ];
}

function refusal(partner: Partner, { advice }: Resolution, keepAdvice: boolean): Problem | undefined {
  try {
    const result = checkPartner(partner);
    if (keepAdvice) advice.push(...result.advice);
    return undefined;
  } catch (error) {
    if (!(error instanceof HookproofError)) throw error;
    return { code: error.code, message: error.message, hint: error.hint };
  }
}

/** The place takes over from the words by which the sender core says which setting it means. */
function placed(message: string, given: Given): string {
  return `${given.where}: ${message.replace(/^Headers: /, '').replace(/custom header \d+/, 'the header')}`;
}
