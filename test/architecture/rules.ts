import type { Import } from './imports.ts';

/** Which rooms a room may import from. */
const ARROWS: Readonly<Record<string, readonly string[]>> = {
  contract: [],
  receiver: ['contract'],
  scenarios: ['contract'],
  certs: ['contract'],
  harness: ['contract', 'scenarios', 'certs'],
};

/** The only file of the harness that may import the receiver. */
const RECEIVER_ENTRY = 'harness/cli/receiver-entry.ts';

/** Single files behind a room's public face that others may import: they keep zod or YAML out of the way of a quick start. */
const SINGLE_FILES: ReadonlySet<string> = new Set([
  'contract/hookproof-error.ts',
  'contract/secret-spellings.ts',
  'contract/signing/index.ts',
  'harness/certify/revision.ts',
  'harness/config/nearest-name.ts',
  'contract/stacks.ts',
  'harness/config/settings.ts',
  'harness/report/reporters.ts',
  'harness/report/visible.ts',
  'harness/report/result-document.ts',
  'harness/report/verdict.ts',
  'scenarios/fault-dictionary.json',
  'scenarios/profiles.ts',
]);

const isOurs = (path: string) => path.endsWith('.ts') || path.endsWith('.json');
const roomOf = (path: string) => path.split('/')[0] ?? '';

/** A room of the house, or a room within the harness. */
function smallRoomOf(path: string): string {
  const [room = '', inner = '', ...rest] = path.split('/');
  return room === 'harness' && rest.length > 0 ? `${room}/${inner}` : room;
}

const isReceiverEntry = ({ from, to }: Import) =>
  from === RECEIVER_ENTRY && to.startsWith('receiver/') && to.endsWith('/index.ts');

/** Whether an import goes against the arrows between rooms. */
export function againstTheArrows({ from, to }: Import): boolean {
  if (!isOurs(to) || roomOf(from) === roomOf(to)) return false;
  if (isReceiverEntry({ from, to })) return false;
  return !(ARROWS[roomOf(from)] ?? []).includes(roomOf(to));
}

/** Whether an import goes past the public face of another room. */
export function pastTheFace({ from, to }: Import): boolean {
  // The face of the harness names what it shows of its inner rooms.
  if (!isOurs(to) || smallRoomOf(from) === smallRoomOf(to) || from === 'harness/index.ts') return false;
  // What stands directly in harness/ is shared by its modules.
  if (/^harness\/[a-z-]+\.ts$/.test(to)) return false;
  return !isReceiverEntry({ from, to }) && !SINGLE_FILES.has(to) && to !== `${smallRoomOf(to)}/index.ts`;
}

export function isKebabCase(path: string): boolean {
  return path.split('/').every((part) => /^[a-z0-9]+(?:-[a-z0-9]+)*(?:\.test)?(?:\.d)?(?:\.[a-z]+)?$/.test(part));
}

export function isCatchAll(path: string): boolean {
  return /(?:^|[/-])(?:utils?|helpers?|common|misc)(?:[.-]|$)/.test(path.split('/').at(-1) ?? '');
}

export function hasDefaultExport(source: string): boolean {
  return /^export\s+default\b|\bas\s+default\b\s*[,}]/m.test(source);
}
