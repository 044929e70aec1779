/**
 * Determines how a delivery differs from the plain valid one: `signature: missing`, `Content-Type: text/plain`, `body:
 * characters outside ASCII`. Traits are read from the request itself, so checks need no labels. All functions are pure.
 */
import {
  CONTENT_TYPE,
  DEFAULT_API_KEY_HEADER,
  DEFAULT_SIGNATURE_HEADER,
  type HeaderLine,
  type JsonObject,
  type JsonValue,
  leavesOf,
  sameHeaderName,
} from '../../contract/index.ts';
import {
  type Change,
  type Expectation,
  findScenario,
  type Kit,
  type RequestHead,
  samples,
} from '../../scenarios/index.ts';
import type { Partner } from '../partner.ts';
import { address, serialise } from '../sender/index.ts';

/** A dimension and the delivery's value in it. */
export type Trait = `${string}: ${string}`;

/** Bodies above this size, in bytes, are not analysed, because their size is what matters. */
const LARGE = 20_000;

/** A signature in the valid form that contains every character that a change may need. */
const VALID = 'abcdefghijklmnopqrstuvwxyz+/ABCDEFGHIJKLMNO=';
const OF_ANOTHER_BODY = 'ONMLKJIHGFEDCBA/+zyxwvutsrqponmlkjihgfedcba=';
const KEY = 'the-key-of-the-partner';

/** Creates a kit whose random values all consist of this byte. */
function kitOf(scenario: string, random: number, firstId = 1): Kit & { body: Uint8Array } {
  let count = firstId;
  const kit = {
    body: new Uint8Array(),
    scenario,
    newId: () => `test-${(count++).toString(16).padStart(8, '0')}-0000-4000-8000-000000000000`,
    nonce: (length = 12) => String.fromCharCode(random).repeat(length),
    integer: () => 0,
    bytes: (length: number) => Buffer.alloc(length, random),
    now: new Date(0),
    notification: (): JsonObject => samples.plainNotification(kit),
    secret: 'the-secret-of-the-partner',
    apiKey: KEY,
    signatureHeader: DEFAULT_SIGNATURE_HEADER,
    apiKeyHeader: DEFAULT_API_KEY_HEADER,
    clientCertificate: '',
    sign: (body: Uint8Array) => (Buffer.compare(body, kit.body) === 0 ? VALID : OF_ANOTHER_BODY),
    cookies: [],
    returned: [],
  };
  return kit;
}

const [FIRST, SECOND] = [107, 109];

/** A delivery of a check: its expectation, and how it differs from the plain valid delivery. */
export interface Cell {
  readonly expect: Expectation;
  readonly traits: readonly Trait[];
}

/**
 * Returns the deliveries of a check by label. If there is only one, its label is ''. The map is empty for a check
 * without deliveries.
 */
export function cellsOf(id: string): ReadonlyMap<string, Cell> {
  const known = byId.get(id);
  if (known !== undefined) return known;
  const scenario = findScenario(id);
  const kit = kitOf(id, FIRST);
  const deliveries =
    scenario === undefined
      ? []
      : 'change' in scenario
        ? [{ label: '', change: scenario.change, expect: scenario.expect }]
        : 'flow' in scenario
          ? scenario.flow(kit).flat()
          : [];
  const found = new Map(
    deliveries.map(({ label, change, expect }): [string, Cell] => {
      let traits: readonly Trait[] | undefined;
      const cell = {
        expect,
        // Computed on demand: a flow may have fifty deliveries, only one of which decides.
        get traits() {
          traits ??= traitsOfChange(change, kit);
          return traits;
        },
      };
      return [label, cell];
    }),
  );
  byId.set(id, found);
  return found;
}

const byId = new Map<string, ReadonlyMap<string, Cell>>();

let plain: ReturnType<typeof plainOf> | undefined;

function plainOf() {
  const value = kitOf('plain', FIRST, 0).notification();
  return { value, body: serialise(value), leaves: new Map(leavesOf(value, MAX_DEPTH)) };
}

function traitsOfChange(change: Change, kit: ReturnType<typeof kitOf>): Trait[] {
  // Cached, because most checks send the plain notification, and a run needs the traits of hundreds of them.
  plain ??= plainOf();
  const value = change.compose === undefined ? plain.value : change.compose(kit);
  const isPlainBody = value === plain.value && change.serialise === undefined;
  const body = isPlainBody ? plain.body : (change.serialise ?? serialise)(value, kit);
  const head = headOf(change, body, kit);
  const again = () => headOf(change, body, kitOf(kit.scenario ?? '', SECOND));
  return [
    ...credential('signature', kit.signatureHeader, VALID, head, again, change.sign?.label),
    ...credential('API key', kit.apiKeyHeader, KEY, head, again, change.address?.label),
    ...trait('client certificate', change.connect?.clientCertificate ?? change.connect?.label),
    ...trait('method', head.method === 'POST' ? undefined : head.method),
    ...targetOf(head, change),
    ...headersOf(head),
    ...trait('framing', framingOf(change)),
    ...notificationOf(change, value, plain),
    ...bodyOf(change, body),
  ];
}

const PARTNER: Partner = { url: 'http://partner.example/hooks', apiKey: { value: KEY } };
const { target: TARGET, headers: HEADERS } = address({
  partner: PARTNER,
  body: new Uint8Array(),
  signed: [[DEFAULT_SIGNATURE_HEADER, VALID]],
});
const USUAL_HEADERS = HEADERS.map(([name]) => name.toLowerCase());

function targetOf({ target }: RequestHead, { address }: Change): Trait[] {
  const [path, ...query] = target.split('?');
  return [
    ...(path === TARGET ? [] : trait('URL', address?.label)),
    ...trait('query', query.length === 0 ? undefined : query.join('?').split('=')[0]),
  ];
}

function headOf(change: Change, body: Uint8Array, kit: ReturnType<typeof kitOf>): RequestHead {
  kit.body = body;
  const { sign } = change;
  const ofScheme = sign?.headers ?? sign?.message;
  const signature =
    ofScheme !== undefined ? `${VALID} ${sign?.label}` : sign === undefined ? VALID : sign.make(body, kit);
  const signed: HeaderLine[] = signature === undefined ? [] : [[DEFAULT_SIGNATURE_HEADER, signature]];
  const plain = address({ partner: PARTNER, body, signed });
  return change.address === undefined ? plain : change.address.make(plain, kit, body);
}

const trait = (dimension: string, value: string | undefined): Trait[] =>
  value === undefined ? [] : [`${dimension}: ${value}`];

/** Returns the trait of a credential that is not valid: missing, empty, or named by the change's label. */
function credential(
  name: string,
  header: string,
  valid: string,
  head: RequestHead,
  again: () => RequestHead,
  label: string | undefined,
): Trait[] {
  const valuesIn = ({ headers }: RequestHead) =>
    headers.filter(([one]) => sameHeaderName(one, header)).map(([, value]) => value);
  const values = valuesIn(head);
  const [first] = values;
  if (first === undefined) return [`${name}: missing`];
  if (values.length > 1) return [`${name}: ${label ?? 'several'}`];
  if (first === valid) return [];
  if (first.trim() === '') return [`${name}: empty`];
  const isInvented = !first.includes(valid) && first !== valuesIn(again())[0];
  // Credentials that depend only on the random values have the same trait, whatever their labels.
  return [`${name}: ${isInvented ? 'invented' : (label ?? 'another one')}`];
}

/** Returns traits for an unusual media type and for headers that the sender does not send. */
function headersOf({ headers }: RequestHead): Trait[] {
  const type = headers.find(([name]) => sameHeaderName(name, 'content-type'))?.[1];
  const others = headers.filter(([name]) => !USUAL_HEADERS.includes(name.toLowerCase())).map(([name]) => name);
  return [
    ...trait('Content-Type', type === CONTENT_TYPE ? undefined : (type?.split(';')[0] ?? 'none')),
    ...[...new Set(others)].map((name): Trait => `header: ${name}`),
  ];
}

function framingOf({ transmit }: Change): string | undefined {
  if (transmit === undefined) return undefined;
  return 'label' in transmit ? transmit.label : transmit.kind;
}

function notificationOf({ compose }: Change, value: JsonValue, plain: ReturnType<typeof plainOf>): Trait[] {
  if (compose === undefined) return [];
  const kind = kindOf(value);
  const leaves = leavesOf(value, MAX_DEPTH);
  const status = statusOf(value);
  if (kind !== kindOf(plain.value)) return [`notification: ${kind}`, ...trait('status', status)];
  if (status !== statusOf(plain.value)) return trait('status', status);
  const names = leaves
    .filter(([path, leaf]) => !VARYING.includes(nameOf(path)) && plain.leaves.get(path) !== leaf)
    .map(([path]) => nameOf(path));
  return [...new Set(names)].map((name): Trait => `field: ${name}`);
}

/** Fields that differ in every notification. */
const VARYING = ['id', 'at', 'transactionId', 'customerId'];
const LONG_TEXT = 255;

/**
 * Maximum depth that is read. Notifications are less deeply nested; some checks send thousands of levels, which would
 * overflow the stack.
 */
const MAX_DEPTH = 16;

const nameOf = (path: string) => path.slice(path.lastIndexOf('.') + 1);

/** Returns the type of a notification and the type in its `data`, or how the value differs from a notification. */
function kindOf(value: unknown): string {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return 'no object';
  const { type, data } = value as { readonly type?: unknown; readonly data?: unknown };
  if (data === null || typeof data !== 'object') return `${type} without data`;
  const { type: inner } = data as { readonly type?: unknown };
  return [type, inner].filter((part) => typeof part === 'string').join(' ');
}

/** Returns the status, whatever the name of its field. */
function statusOf(value: JsonValue): string | undefined {
  const [, status] =
    leavesOf(value, MAX_DEPTH).find(([path, leaf]) => /status$/i.test(path) && typeof leaf === 'string') ?? [];
  return status === undefined ? undefined : `${status}`;
}

/** Returns how the bytes of the body differ from the sender's usual JSON. */
function bodyOf({ serialise, compose }: Change, body: Uint8Array): Trait[] {
  if (serialise === undefined && compose === undefined) return [];
  if (body.length === 0) return ['body: no bytes'];
  if (body.length > LARGE) return [`body: more than ${LARGE / 1000} kB`];
  const text = Buffer.from(body).toString();
  const found = FEATURES.filter(([pattern]) => pattern.test(text)).map(([, name]): Trait => `body: ${name}`);
  const parsed = unlessThrown((): JsonValue => JSON.parse(text));
  const leaves = leavesOf(parsed ?? null, MAX_DEPTH);
  const isLong = leaves.some(([, leaf]) => typeof leaf === 'string' && leaf.length > LONG_TEXT);
  if (isLong) found.push(`text: longer than ${LONG_TEXT} characters`);
  if (serialise === undefined) return found;
  if (parsed === undefined) return [...found, 'body: no JSON'];
  // A value with thousands of levels can be parsed but not serialised.
  return unlessThrown(() => JSON.stringify(parsed)) === text
    ? found
    : [...found, 'body: a form other than that of JSON.stringify'];
}

const FEATURES: readonly (readonly [RegExp, string])[] = [
  [/\ufffd/, 'bytes that are not UTF-8'],
  [/^\ufeff/, 'a byte order mark'],
  [/^\s|\s$/, 'leading or trailing whitespace'],
  [/[\u0080-\ufffc]/, 'characters outside ASCII'],
  [/\\u/, 'escapes'],
];

function unlessThrown<T>(make: () => T): T | undefined {
  try {
    return make();
  } catch {
    return undefined;
  }
}
