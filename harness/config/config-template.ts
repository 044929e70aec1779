/** Generates the file that `hookproof init` writes from the table of settings. */
import { defaultText, SETTINGS, type Setting } from './settings.ts';

/**
 * The JSON Schema that `hookproof init` writes next to the configuration, so that editors find it without network
 * access or node_modules, in the version that wrote the configuration.
 */
export const SCHEMA_FILE = 'hookproof.schema.json';

const HEAD = `# yaml-language-server: $schema=${SCHEMA_FILE}
# The configuration of hookproof. Flags and HOOKPROOF_ variables take precedence over this file;
# \`hookproof config show\` prints every value with its source.
# Relative paths are relative to this file. Secrets are never written in this file: refer to them
# with \${env:NAME} (an environment variable) or \${file:PATH} (a file that is not committed).
`;

/**
 * Returns a commented hookproof.yaml. The settings that every user needs are set; the others are commented out, with an
 * example or the default.
 */
export function configTemplate(url?: string): string {
  const lines: string[] = [];
  let open: readonly string[] = [];
  for (const setting of SETTINGS as readonly Setting[]) {
    if (setting.flagOnly === true || setting.example === undefined) continue;
    const groups = setting.path.split('.').slice(0, -1);
    if (setting.intro !== undefined) lines.push('', ...setting.intro.split('\n').map((line) => `# ${line}`));
    for (const [depth, group] of groups.entries()) {
      if (open.slice(0, depth + 1).join('.') === groups.slice(0, depth + 1).join('.')) continue;
      lines.push(lineOf(`${group}:`, depth, setting));
    }
    open = groups;
    const example = setting.path === 'url' && url !== undefined ? url : setting.example;
    lines.push(...settingLines(setting, example, groups.length));
  }
  return `${HEAD}${lines.join('\n')}\n`;
}

function settingLines(setting: Setting, example: unknown, depth: number): string[] {
  const key = setting.path.split('.').at(-1);
  if (typeof example === 'object' && example !== null && !Array.isArray(example)) {
    const items = Object.entries(example).map(([name, value]) =>
      lineOf(`${name}: ${yamlOf(value)}`, depth + 1, setting),
    );
    return [lineOf(`${key}:`, depth, setting), ...items];
  }
  const line = `${key}: ${yamlOf(example)}`;
  if (depth > 0 || setting.preset === true) return [lineOf(line, depth, setting)];
  const together = `${line.padEnd(18)}  # ${meaningOf(setting)}`;
  return together.length <= MAX_LINE ? [`# ${together}`] : [`# ${meaningOf(setting)}`, `# ${line}`];
}

/** Maximum length of a line. A description that does not fit moves to a line above the setting. */
const MAX_LINE = 100;

function meaningOf(setting: Setting): string {
  const standard = defaultText(setting);
  return `${setting.description}${standard === undefined || standard === 'none' ? '' : ` (default: ${standard})`}`;
}

/**
 * Formats a setting. Within a group that is set, `#` follows the indentation, so that a line without it is correctly
 * indented.
 */
function lineOf(text: string, depth: number, { path, preset }: Setting): string {
  const indent = '  '.repeat(depth);
  if (preset === true) return `${indent}${text}`;
  const group = path.split('.')[0];
  const isSet = depth > 0 && SETTINGS.some((other: Setting) => other.preset && other.path.startsWith(`${group}.`));
  return isSet ? `${indent}# ${text}` : `# ${indent}${text}`;
}

function yamlOf(example: unknown): string {
  if (Array.isArray(example)) return `[${example.map(yamlOf).join(', ')}]`;
  if (typeof example !== 'string') return String(example);
  return /^(?:[A-Za-z./]|\$\{)[\w./=${}: -]*$/.test(example) || /^\d+(?:s|m)$/.test(example)
    ? example
    : JSON.stringify(example);
}
