/** Converts the inputs of the action to hookproof's command line and environment. Pure. */
// @ts-check

/**
 * The default in action.yml of each input that turns something on. It distinguishes a missing input from an empty one.
 */
const NOT_GIVEN = '(not given)';

/** A mistake in the workflow, found before anything is sent. Its message never contains the value of an input. */
export class WrongInput extends Error {}

/** @param {string} input */
const variableOf = (input) => `INPUT_${input.toUpperCase().replaceAll('-', '_')}`;

/** Inputs that become environment variables, because most of them are secrets, and a URL may contain a token. */
const AS_VARIABLE = {
  url: 'HOOKPROOF_URL',
  secret: 'HOOKPROOF_SECRET',
  'api-key': 'HOOKPROOF_API_KEY',
  'client-key-passphrase': 'HOOKPROOF_CLIENT_KEY_PASSPHRASE',
  'certify-key': 'HOOKPROOF_CERTIFY_KEY',
  'certify-key-passphrase': 'HOOKPROOF_CERTIFY_KEY_PASSPHRASE',
  profile: 'HOOKPROOF_PROFILE',
  effects: 'HOOKPROOF_EFFECTS_URL',
  'effects-token': 'HOOKPROOF_EFFECTS_TOKEN',
};

/** Inputs that contain PEM text or a file path, and the variable in which hookproof expects the path. */
const AS_FILE = {
  'client-cert': 'HOOKPROOF_CLIENT_CERT',
  'client-key': 'HOOKPROOF_CLIENT_KEY',
  ca: 'HOOKPROOF_CA',
};

const AS_FLAG = [
  ...['config', 'revision', 'signature-header', 'api-key-header', 'baseline', 'timeout', 'max-time', 'concurrency'],
  ...['shard', 'seed', 'stack', 'code', 'wait', 'max-rate'],
];

/** Inputs that become a flag and must not be empty, because they turn checks on. */
const AS_FLAG_FILLED = ['log', 'restart-command'];

/** @param {string} text */
const words = (text) => text.split(/[\s,]+/).filter((word) => word !== '');
/** @param {string} text */
const lines = (text) =>
  text
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '');

/**
 * Inputs with several values: the flag that is repeated for each value, and the function that splits them.
 *
 * @type {Record<string, readonly [string, (text: string) => string[]]>}
 */
const AS_LIST = {
  suites: ['--suite', words],
  scenarios: ['--scenario', words],
  headers: ['--header', lines],
  'allow-private': ['--allow-private', words],
};

/**
 * @param {Readonly<Record<string, string | undefined>>} env of the step
 * @returns {{
 *   command: 'run' | 'certify',
 *   args: string[],
 *   variables: Record<string, string>,
 *   texts: Record<string, string>,
 *   outputDir: string,
 *   workingDirectory: string,
 *   version: string,
 * }} `args` contains no secret. The caller writes each of `texts` to a file, and sets the variable to its path.
 * @throws {WrongInput}
 */
export function readInputs(env) {
  /** Returns the value of an input; undefined if the workflow does not set it. @param {string} input */
  const given = (input) => {
    const value = env[variableOf(input)];
    return value === undefined || value === NOT_GIVEN ? undefined : value;
  };
  /** Like `given`, but rejects an empty value, which would silently turn something off. @param {string} input */
  const filled = (input) => {
    const value = given(input);
    if (value?.trim() === '') {
      throw new WrongInput(
        `The input \`${input}\` is set but empty. Check that its secret or variable exists and is available to this ` +
          'event: workflows of pull requests from forks get no secrets. Remove the input if you do not need it.',
      );
    }
    return value;
  };
  /** @param {string} input */
  const plain = (input) => given(input)?.trim() ?? '';

  const command = plain('command') || 'run';
  if (command !== 'run' && command !== 'certify')
    throw new WrongInput('The input `command` must be `run` or `certify`.');
  const version = plain('version');
  if (!/^[0-9A-Za-z.+^~-]*$/.test(version) || version.startsWith('-')) {
    throw new WrongInput(
      'The input `version` must be a version or a tag in the registry, such as `0.1.0` or `latest`.',
    );
  }
  const switches = ['strict', 'open'].filter((input) => {
    const value = plain(input);
    if (value !== 'true' && value !== 'false') throw new WrongInput(`The input \`${input}\` must be true or false.`);
    return value === 'true';
  });

  /** @type {Record<string, string>} */
  const variables = {};
  for (const [input, variable] of Object.entries(AS_VARIABLE)) {
    const value = filled(input);
    if (value !== undefined) variables[variable] = value;
  }
  /** @type {Record<string, string>} */
  const texts = {};
  for (const [input, variable] of Object.entries(AS_FILE)) {
    const value = filled(input);
    if (value === undefined) continue;
    // A key given instead of a path would otherwise appear in an error message.
    if (value.includes('-----BEGIN')) texts[variable] = value;
    else if (/[\r\n]/.test(value.trim())) {
      throw new WrongInput(`The input \`${input}\` has several lines, but is neither PEM text nor the path of a file.`);
    } else variables[variable] = value.trim();
  }
  // Each is one argument (`--flag=value`), so that no value is mistaken for a flag.
  const args = AS_FLAG.filter((flag) => plain(flag) !== '').map((flag) => `--${flag}=${plain(flag)}`);
  args.push(...AS_FLAG_FILLED.flatMap((flag) => (filled(flag) === undefined ? [] : [`--${flag}=${plain(flag)}`])));
  for (const [input, [flag, split]] of Object.entries(AS_LIST)) {
    args.push(...split(given(input) ?? '').map((value) => `${flag}=${value}`));
  }
  args.push(...switches.map((input) => `--${input}`));
  const workingDirectory = plain('working-directory');
  return {
    command,
    args,
    variables,
    texts,
    outputDir: plain('output-dir') || 'hookproof-run',
    workingDirectory,
    version,
  };
}
