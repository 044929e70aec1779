import { mistakes } from './mistake.ts';

/** Mistakes in what a scheme signs in addition to the body: the time, the id, the URL, and several signatures. */
export const SCHEME_MISTAKES = mistakes({
  'stale-timestamp-accepted': {
    title: 'Accepts a delivery whose signed time is long past',
    seen:
      'A timestamp that is signed but never compared with the clock, one in seconds that is compared with ' +
      '`Date.now()` in milliseconds, and `Number(header)`, whose NaN makes every comparison false.',
    why: 'Anyone who has seen one delivery can send it again at any time, and each time it is accepted.',
    fix: {
      rule:
        'Require a timestamp of digits only, and reject the delivery unless it differs from your clock by at most ' +
        'the tolerance of the sender, usually 300 seconds: `if (!/^\\d+$/.test(time) || Math.abs(now - ' +
        'Number(time)) > 300)`. Keep the clock of the server synchronised.',
      node: 'Write `const now = Math.floor(Date.now() / 1000)`: the timestamp is in seconds.',
      python: 'Write `if not time.isdigit() or abs(int(clock.time()) - int(time)) > 300` and answer 401.',
      go: 'Parse with `strconv.ParseInt`, check its error, and compare with `time.Now().Unix()`.',
      php: 'Write `if (!ctype_digit($time) || abs(time() - (int) $time) > 300)` and answer 401.',
      ruby: 'Write `unless time.match?(/\\A\\d+\\z/) && (Time.now.to_i - time.to_i).abs <= 300` and answer 401.',
    },
    severity: 'high',
    cwe: 294,
  },
  'future-timestamp-accepted': {
    title: 'Accepts a delivery whose signed time is far in the future',
    seen: 'A comparison in one direction, `now - time > 300`, which is never true for a time in the future.',
    why: 'A delivery with such a time can be repeated until that time has passed, whatever the tolerance.',
    fix: {
      rule: 'Compare the absolute difference between the timestamp and your clock with the tolerance.',
    },
    severity: 'low',
    cwe: 294,
  },
  'signed-value-from-elsewhere': {
    title: 'Does not verify a value that the sender signs with the body',
    seen:
      'A time or an id that is read from a header or a query but is not part of the verified text, the second of two ' +
      'values in one header, and a URL that is left out or taken from the Host header.',
    why:
      'An attacker changes the value and keeps the signature: an old delivery looks new, a handled one looks like ' +
      'another, and a delivery to one endpoint is accepted at another.',
    fix: {
      rule:
        'Build the signed text exactly as the sender documents it, from the values that the receiver then uses, ' +
        'and from ' +
        'the URL in your configuration. Reject a delivery that lacks one of the headers or has it twice.',
    },
    severity: 'high',
    cwe: 345,
  },
  'signature-version-ignored': {
    title: 'Accepts a signature with a version or algorithm name other than that of the scheme',
    seen:
      'Code that splits at the comma or the equals sign and looks only at the second part, or that cuts a prefix by ' +
      'its length, and code that reads the older signature that the sender adds for old receivers.',
    why:
      'Versions exist so that a weak one can be retired. A receiver that ignores them cannot retire one, and ' +
      'verifies ' +
      'values that were never meant as this signature.',
    fix: {
      rule: 'Take only the entries that begin with the exact prefix of the scheme, and ignore all others.',
    },
    severity: 'medium',
    cwe: 757,
  },
  'further-signatures-ignored': {
    title: 'Does not accept a delivery with several signatures, one of which is valid',
    seen:
      'Code that reads the first or the last entry of the header, compares the whole header, or rejects a ' +
      'delivery that ' +
      'has an entry with an unknown version.',
    why: 'While the sender rotates its secret, deliveries have several signatures, and all of them are rejected.',
    fix: {
      rule:
        'Split the header at the separator of the scheme, keep the entries with its prefix, compare all of them in ' +
        'constant time, and accept the delivery if one matches.',
    },
    severity: 'medium',
    cwe: 324,
  },
  'tolerance-too-small': {
    title: 'Rejects a delivery whose signed time is within the tolerance of the sender',
    seen: 'A tolerance of a few seconds, or a comparison that does not allow for a clock that is ahead.',
    why: 'Queues and retries delay deliveries by minutes, and clocks differ, so the receiver rejects valid ones.',
    fix: {
      rule: 'Allow the tolerance that the sender documents, in both directions.',
    },
    severity: 'medium',
    cwe: 1339,
  },
});
