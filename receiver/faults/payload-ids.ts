import { fault, fieldAt, readingBefore, refusing } from './careless-reading.ts';
import type { StageFault } from './fault.ts';

const base = { area: 'payload', stage: 'validate' } as const;

const id = (payload: unknown) => fieldAt(payload, 'id');
const textId = (payload: unknown) => {
  const value = id(payload);
  return typeof value === 'string' ? value : '';
};

/** Mistakes with the id of a notification. */
export const ids: readonly StageFault[] = [
  {
    ...base,
    name: 'requires-uuid-version-4',
    title: 'An id is refused when it is a UUID of another version than 4.',
    seen: 'With isUUID(id, 4), and patterns that have a 4 where the version stands.',
    why: 'A sender that moves to version 7, which databases like better, is refused altogether.',
    fix: {
      rule: 'Take any text as id.',
      express: 'Use `z.string()`, or `z.guid()` in place of `z.uuidv4()`.',
    },
    severity: 'medium',
    forbidden: false,
    replace: refusing((payload) => /^.{8}-.{4}-[0-35-9a-f]/i.test(textId(payload))),
  },
  {
    ...base,
    name: 'requires-ids-in-small-letters',
    title: 'An id is refused when it has capital letters.',
    seen: 'In patterns for UUIDs with a-f alone.',
    why: 'Which letter case a UUID has depends on the runtime that writes it.',
    fix: {
      rule: 'Take any text as id, or make the pattern ignore letter case.',
      express: 'Add the flag `i` to the pattern.',
    },
    severity: 'low',
    forbidden: false,
    replace: refusing((payload) => /^[0-9A-F]{8}-.*[A-F]/.test(textId(payload))),
  },
  {
    ...base,
    name: 'stores-ids-in-36-characters',
    title: 'An id that is longer than a UUID throws when it is stored.',
    seen: 'With a column of CHAR(36) and no check of the length before it.',
    why: 'A long id is a database error and a 500 in place of a refusal.',
    fix: {
      rule: 'Check the length of the id before the database does.',
      express: 'Use `z.string().max(100)` and answer 400 beyond it.',
    },
    severity: 'low',
    forbidden: true,
    replace: readingBefore((payload) => {
      if (textId(payload).length > 36) fault('value too long for type character(36)');
    }),
  },
  {
    ...base,
    name: 'uses-ids-as-file-names',
    title: 'A file is written under the name of the id, which throws on ids with a path in them.',
    seen: 'In small receivers that keep deliveries as files.',
    why: 'An id from outside decides where the file goes; the error of a missing directory is the harmless outcome.',
    fix: {
      rule: 'Never build a path from an id; use its hash or a name of your own.',
      express: "Name files by `createHash('sha256').update(id).digest('hex')`.",
    },
    severity: 'medium',
    forbidden: true,
    replace: readingBefore((payload) => {
      if (/[/\0]/.test(textId(payload)) || textId(payload).length > 255) fault('no such file or directory');
    }),
  },
  {
    ...base,
    name: 'pastes-ids-into-queries',
    title: 'The id is pasted into the text of a query, which a quote in it breaks.',
    seen: 'In hand-written SQL with template strings.',
    why: 'What shows as a 500 here is an injection for whoever holds the secret, or finds another fault that lets him in.',
    fix: {
      rule: 'Use bound parameters for every value.',
      express: "Write `db.query('... WHERE id = $1', [id])`.",
    },
    severity: 'high',
    forbidden: true,
    replace: readingBefore((payload) => {
      if (textId(payload).includes("'")) fault('syntax error at or near');
    }),
  },
  {
    ...base,
    name: 'echoes-ids-in-headers',
    title: 'The id is written into a header of the answer before it is validated, which throws on line breaks.',
    seen: 'In middleware that sets X-Request-Id or the like from the payload.',
    why: 'Node throws and the answer is a 500; elsewhere the line break splits the answer in two.',
    fix: {
      rule: 'Do not echo anything of a payload in headers.',
      express: 'Set a request id of your own making.',
    },
    severity: 'medium',
    forbidden: true,
    replace:
      ({ right }) =>
      (req, res, next) => {
        const value = textId(res.locals.payload);
        if (value !== '') res.setHeader('X-Notification-Id', value);
        return right.validate(req, res, next);
      },
  },
  {
    ...base,
    name: 'calls-text-functions-on-ids',
    title: 'The id is trimmed before anything has made sure that it is text.',
    seen: 'In normalising code at the very start of handlers, in every language without types at run time.',
    why: 'An id that is a number, an object or missing ends in a TypeError and a 500.',
    fix: {
      rule: 'Validate the envelope before touching its fields.',
      express: 'Parse with the schema first, and trim inside of it (`z.string().trim()`).',
    },
    severity: 'medium',
    forbidden: true,
    replace: readingBefore((payload) => {
      if (typeof payload === 'object' && payload !== null && typeof id(payload) !== 'string') {
        fault('trim is not a function');
      }
    }),
  },
  {
    ...base,
    name: 'stores-ids-with-control-characters',
    title: 'An id with U+0000 throws when it is stored.',
    seen: 'With text columns of PostgreSQL, which do not take this character.',
    why: 'The database error becomes a 500 that the sender repeats.',
    fix: {
      rule: 'Refuse control characters in ids with 400.',
      express: 'Add `.regex(/^[^\\u0000-\\u001f]*$/)` to the schema of id.',
    },
    severity: 'low',
    forbidden: true,
    replace: readingBefore((payload) => {
      if (textId(payload).includes('\0')) fault('invalid byte sequence for encoding UTF8: 0x00');
    }),
  },
];
