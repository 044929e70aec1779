/** Why a fault was not named first, by hand, for the page. A pair is `one+other`. */
export const MISSES: Readonly<Record<string, string>> = {
  'verifies-php-unescaped-json':
    'Node escapes other characters than PHP does, so that the imitation is nearer to what Python writes without spaces.',
  'joins-chunks-as-text':
    'Both are true of it: text that is put together from decoded chunks also replaces bytes that are not UTF-8.',
  'signature-as-regexp':
    'Here the pattern may match any part, so that beginnings and the empty text are accepted too. What it does with a wrong signature is chance, and the dictionary says nothing of that.',
  'api-key-taken-from-query':
    'It looks for other names of the parameter than the mutant, and the two that are named look for these.',
  'refuses-empty-text':
    'It refuses the empty hash in the list of fields too, which is the first fault that is named; the right one comes second.',
  'burst-answered-503':
    'It counts what is under way in another place, so that fewer at a time are enough to be refused.',
  'null-characters-answer-500+api-key-taken-from-token-header':
    'The first is accounted for by two mutants, which leaves no place for the second; a report names two.',
  'refuses-empty-text+trusts-forwarded-for':
    'The first is accounted for by two mutants, which leaves no place for the second; a report names two.',
  'api-key-signs+reads-metadata-unguarded':
    'The first turns one scenario red, the second is accounted for by two mutants.',
  'api-key-missing-accepted+nothing-presented-accepted':
    'The second decides alone on both credentials, and the first is gone.',
  'requires-transaction-id-everywhere+hashed-secret-accepted':
    'The first is accounted for by two mutants with the same status; a report names two.',
  'refuses-empty-text+failed-is-final':
    'The first is accounted for by two mutants, which leaves no place for the second; a report names two.',
  'signature-list-accepted+formats-times-unchecked':
    'The second is accounted for by two mutants, which leaves no place for the first; a report names two.',
  'api-key-refused-with-403+signature-as-regexp': 'See signature-as-regexp.',
  'verifies-reserialised-json+signature-cached-without-body':
    'Here the broken body throws before the check as well, which is named second, and leaves no place for the third.',
  'api-key-unwrapped+types-in-lower-case':
    'The second is a milder form that turns one scenario red: too little to name a second fault for.',
};
