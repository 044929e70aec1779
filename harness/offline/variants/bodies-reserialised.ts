/** The body parsed and written back: the most frequent fault of webhook receivers. */
import {
  GO_MAP,
  JAVASCRIPT_SORTED,
  PHP_DEFAULT,
  PHP_UNESCAPED,
  PYTHON_COMPACT,
  PYTHON_COMPACT_ASCII,
  PYTHON_DEFAULT,
} from '../json-styles.ts';
import { type JsonStyle, writeJson } from '../json-text.ts';
import type { BodyVariant } from './body-reading.ts';

const RAW =
  "Take the raw bytes before any parser sees them: express.raw({ type: () => true }) or express.json's verify hook in Express, request.get_data() in Flask, " +
  'request.body in Django, php://input in PHP, request.raw_post in Rails, io.ReadAll(r.Body) in Go, @RequestBody byte[] in Spring.';

function javascript(space?: number | string): BodyVariant['bytes'] {
  return (body) => {
    const value = body.value();
    return value === undefined ? undefined : Buffer.from(JSON.stringify(value, null, space));
  };
}

function styled(style: JsonStyle): BodyVariant['bytes'] {
  return (body) => {
    const tree = body.tree();
    return tree === undefined ? undefined : Buffer.from(writeJson(tree, style));
  };
}

export const reserialisedBodies: readonly BodyVariant[] = [
  {
    name: 'reserialised-json',
    title: 'the body was parsed and written back with JSON.stringify',
    why: 'A JSON body parser ran first, and only the parsed object was left to sign. Compact bodies hide the fault; spaces, 1.0 or "\\/" show it.',
    fix: RAW,
    common: true,
    bytes: javascript(),
  },
  {
    name: 'python-json',
    title: "the body was parsed and written back with Python's json.dumps",
    why: 'The parsed request was signed in place of the raw body; json.dumps puts a space behind "," and ":" and escapes what is not ASCII.',
    fix: RAW,
    common: true,
    bytes: styled(PYTHON_DEFAULT),
  },
  {
    name: 'python-compact-json',
    title: 'the body was parsed and written back as compact JSON by Python, Ruby or Java',
    why: 'The parsed object was signed; these platforms keep 1.0 and long integers, unlike JavaScript.',
    fix: RAW,
    common: true,
    bytes: styled(PYTHON_COMPACT),
  },
  {
    name: 'php-json',
    title: "the body was parsed and written back with PHP's json_encode",
    why: 'The decoded array was signed; json_encode escapes "/" and what is not ASCII, and makes [] of {}.',
    fix: RAW,
    common: true,
    bytes: styled(PHP_DEFAULT),
  },
  {
    name: 'php-unescaped-json',
    title: "the body was parsed and written back with PHP's json_encode, slashes and Unicode unescaped",
    why: 'The decoded array was signed, with flags that fit most bodies but not all.',
    fix: RAW,
    bytes: styled(PHP_UNESCAPED),
  },
  {
    name: 'python-compact-ascii-json',
    title: 'the body was parsed and written back by Python as compact JSON with ASCII escapes',
    why: 'The parsed object was signed with separators=(",", ":").',
    fix: RAW,
    bytes: styled(PYTHON_COMPACT_ASCII),
  },
  {
    name: 'sorted-json',
    title: 'the body was parsed and written back with its keys sorted',
    why: 'A canonical form was made, as other signature schemes ask for.',
    fix: RAW,
    bytes: styled(JAVASCRIPT_SORTED),
  },
  {
    name: 'python-sorted-json',
    title: 'the body was parsed and written back by Python with sort_keys=True',
    why: 'A canonical form was made, as other signature schemes ask for.',
    fix: RAW,
    bytes: styled({ ...PYTHON_DEFAULT, sortKeys: true }),
  },
  {
    name: 'python-sorted-compact-json',
    title: 'the body was parsed and written back by Python as compact JSON with sort_keys=True',
    why: 'A canonical form was made, as other signature schemes ask for.',
    fix: RAW,
    bytes: styled({ ...PYTHON_COMPACT_ASCII, sortKeys: true }),
  },
  {
    name: 'go-json',
    title: 'the body was parsed into a map and written back by Go',
    why: 'The parsed map was signed; json.Marshal sorts its keys and escapes <, > and &.',
    fix: RAW,
    bytes: styled(GO_MAP),
  },
  {
    name: 'pretty-json-2',
    title: 'the body was parsed and written back with an indent of two spaces',
    why: 'A vendor example signs JSON.stringify(body, null, 2), and was copied.',
    fix: RAW,
    bytes: javascript(2),
  },
  {
    name: 'pretty-json-4',
    title: 'the body was parsed and written back with an indent of four spaces',
    why: 'The parsed object was signed in the form in which it is logged.',
    fix: RAW,
    bytes: javascript(4),
  },
  {
    name: 'pretty-json-tab',
    title: 'the body was parsed and written back with tabs',
    why: 'The parsed object was signed in the form in which it is logged.',
    fix: RAW,
    bytes: javascript('\t'),
  },
];
