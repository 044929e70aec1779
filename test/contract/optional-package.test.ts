import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { loadOptional } from '../../contract/optional-package.ts';

const manifest = new URL('../../package.json', import.meta.url);
const { peerDependencies, peerDependenciesMeta } = JSON.parse(await readFile(manifest, 'utf8'));
type Name = Parameters<typeof loadOptional>[0];
// The log has the same lines without pino, and a program that imports the matcher has Vitest.
const others = ['pino', 'vitest'];
const names = (Object.keys(peerDependencies) as Name[]).filter((name) => !others.includes(name));

/** Returns the error that Node throws for a package that is not installed. `npm run package` checks this. */
const missing = (name: string) =>
  Object.assign(new Error(`Cannot find package '${name}' imported from /somewhere`), { code: 'ERR_MODULE_NOT_FOUND' });

it('every peer dependency is optional', () => {
  expect(names).toHaveLength(4);
  for (const name of Object.keys(peerDependencies)) expect(peerDependenciesMeta[name]).toEqual({ optional: true });
});

it.each(names)('without %s, the error has the command that installs the supported version', async (name) => {
  // Before version 1, a change of the second number is a breaking change.
  const [major] = peerDependencies[name].match(/0\.\d+|\d+/);
  await expect(loadOptional(name, () => Promise.reject(missing(name)))).rejects.toMatchObject({
    code: 'PACKAGE_MISSING',
    kind: 'usage',
    message: expect.stringContaining(`needs the package ${name}, which is not installed`),
    hint: expect.stringMatching(new RegExp(` npm install ${name}@${major}$`)),
  });
});

it('a missing dependency of an installed package is another error', async () => {
  const error = missing('pg-pool');
  await expect(loadOptional('pg', () => Promise.reject(error))).rejects.toBe(error);
});
