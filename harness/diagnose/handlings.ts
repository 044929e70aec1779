/**
 * Finds what the accepted notifications that were handled never, or more than once, have in common. If a receiver
 * deduplicates by the wrong field, it handles only the first notification with each value of that field. All functions
 * are pure.
 */
import type { EffectsAudit } from '../../scenarios/index.ts';
import { groupBy } from '../report/index.ts';
import { type Finding, findingOf } from './finding.ts';

type Notifications = EffectsAudit['notifications'];

/** Minimum number of losses or repetitions; fewer may be chance. */
const MIN_FOUND = 3;
/**
 * Minimum share of the losses that a field must explain. It is below 1, because kinds that the receiver does not know
 * have no effect in any case.
 */
const EXPLAINED = 0.9;
/** Maximum number of fields with equal values that the finding names. */
const MAX_NAMED = 3;
/** Minimum number of changes between handled and lost controls for an intermittent loss. */
const MIN_CHANGES = 4;

/**
 * Returns the finding about the losses of a run. Returns null if there are too few losses, if the effects window gave
 * no answer, or if the losses show no pattern.
 */
export function lossOf({ notifications, problem }: EffectsAudit): Finding | null {
  if (problem !== null) return null;
  const accepted = notifications.filter(({ outcome }) => outcome === 'accepted');
  const lost = accepted.filter(isLost);
  if (lost.length < MIN_FOUND || lost.length === accepted.length) return null;
  // A notification without a clear answer may still have been the first one.
  const known = notifications.filter(
    ({ fields, ...one }) => 'id' in fields && (one.outcome === 'accepted' || one.times > 0),
  );
  const keys = sharedKeys(known, lost.length);
  if (keys.length > 0) {
    const names = keys.map((path) => `\`${path}\``).join(' or ');
    const title = `Handles only the first notification with each value of ${names}`;
    const note = `${lost.length} of ${accepted.length} accepted notifications were treated as copies.`;
    return findingOf('copies-by-content', title, 'copies-by-content', note);
  }
  const plain = accepted.filter(({ isControl }) => isControl);
  const changes = plain.filter((one, at) => at > 0 && isLost(one) !== isLost(plain[at - 1] ?? one)).length;
  if (changes < MIN_CHANGES) return null;
  const share = `${plain.filter(isLost).length} of ${plain.length}`;
  const title = `Loses ${share} notifications of one kind and handles the others`;
  return findingOf('acknowledged-before-stored', title, 'acknowledged-before-stored');
}

/**
 * Returns the finding about notifications that were handled more than once although each was delivered once. Checks
 * then fail by chance, so it means nothing which of them send copies or restart the receiver. Null if there are too
 * few, if the effects window gave no answer, or if every notification was repeated.
 */
export function repetitionOf({ notifications, problem }: EffectsAudit): Finding | null {
  if (problem !== null) return null;
  const once = notifications.filter(({ outcome, deliveries }) => outcome === 'accepted' && deliveries === 1);
  const repeated = once.filter(({ times }) => times > 1);
  if (repeated.length < MIN_FOUND || repeated.length === once.length) return null;
  const title = `Handles ${repeated.length} of ${once.length} notifications more than once, although delivered once`;
  return findingOf('effect-and-id-apart', title, 'effect-and-id-apart');
}

const isLost = ({ times }: Notifications[number]) => times === 0;

/**
 * Returns the fields that explain most losses: for these fields, only the first notification with each value was
 * handled.
 */
function sharedKeys(notifications: Notifications, lost: number): string[] {
  const paths = [...new Set(notifications.flatMap(({ fields }) => Object.keys(fields)))];
  const explained = paths.map((path) => {
    const groups = groupBy(notifications, ({ fields }) => fields[path] ?? ABSENT).map(([value, members]) => {
      const copies = members.filter(isLost).length;
      const handled = members.length - copies;
      const isKey = handled <= 1 || (value === ABSENT && (copies === 0 || handled <= MAX_ABSENT));
      return { isKey, explained: handled === 0 ? 0 : copies, isPresent: value !== ABSENT };
    });
    const isShown = sumOf(groups.filter(({ isPresent }) => isPresent)) >= MIN_FOUND;
    return { path, share: isShown && groups.every(({ isKey }) => isKey) ? sumOf(groups) / lost : 0 };
  });
  const best = Math.max(EXPLAINED, ...explained.map(({ share }) => share));
  return explained.flatMap(({ path, share }) => (share === best ? [path] : [])).slice(0, MAX_NAMED);
}

const sumOf = (groups: readonly { readonly explained: number }[]) =>
  groups.reduce((sum, { explained }) => sum + explained, 0);

/**
 * Stands for the value of an absent field. A receiver may treat all absent values as equal, or distinguish a few, such
 * as null in a notification without data.
 */
const ABSENT = '';
const MAX_ABSENT = 2;
