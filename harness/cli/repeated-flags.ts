/** Writes the given flags for the commands that a report prints, which run on the same machine. */
import { shellWord } from '../../contract/shell-word.ts';
import { flagName } from './terminal.ts';

/** Flags that change the requests or the fixes. */
const REPEATED: readonly string[] = [
  'config',
  'secretFile',
  'nextSecretFile',
  'signatureHeader',
  'apiKeyFile',
  'apiKeyHeader',
  'clientCert',
  'clientKey',
  'ca',
  'effects',
  'effectsTokenFile',
  'effectsDeadline',
  'effectsCommand',
  'restartCommand',
  'rotateCommand',
  'log',
  'timeout',
  'maxRate',
  'profile',
  'revision',
  'stack',
  'open',
  'strict',
];

/** Returns the flags of a run that its commands repeat, quoted for a shell. */
export function repeatedFlags(flags: object): string {
  const given = new Map(Object.entries(flags));
  return flagsInShell(Object.fromEntries(REPEATED.map((name) => [name, given.get(name)])));
}

/** Matches the folder of a path that is not relative to the working directory; a quoted path may contain spaces. */
const FOLDER = /(')(?:~|\.\.)?\/(?:[^'/]*\/)*|(^|[\s"=`(:])(?:~|\.\.)?\/(?!\/)(?:[^\s'"`/]+\/)*/g;

/** Removes the folders of this machine from a text for somebody else: `/home/me/key.pem` becomes `key.pem`. */
export function withoutFolders(text: string): string {
  return text.replace(FOLDER, '$1$2');
}

/** Returns flags as the user writes them, quoted for a shell. */
export function flagsInShell(flags: object): string {
  return Object.entries(flags)
    .flatMap(([name, value]: [string, unknown]) => {
      if (value === undefined || value === false) return [];
      if (value === true) return [flagName(name)];
      return [value].flat().flatMap((one) => [flagName(name), shellWord(`${one}`)]);
    })
    .join(' ');
}
