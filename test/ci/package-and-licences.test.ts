/** The rules for the content of the package and for licences, each green and red. `npm run package` and `npm run sbom` apply them. */
import { describe, expect, it } from 'vitest';
import { billOfPackage } from './bill.ts';
import { isAllowed, refused } from './licences.ts';
import { wrongWith } from './package-rules.ts';

describe('the content of the package', () => {
  const right = [
    ...['dist/bin/hookproof.js', 'dist/harness/index.js', 'dist/harness/index.d.ts', 'scenarios/fault-dictionary.json'],
    ...[
      'scenarios/fault-texts.json',
      'scenarios/revisions/1.json',
      'README.md',
      'LICENSE',
      'package.json',
      'docs/guide.md',
      'receiver/index.ts',
    ],
  ].map((path) => ({ path, size: 10 }));

  it('is right as it is', () => {
    expect(wrongWith(right, 1000)).toEqual([]);
  });

  it.each([
    ...['test/ci/package.ts', 'receiver/a.test.ts', 'dist/test/a.js', 'server.key', 'docs/generate.ts', 'action.yml'],
    ...['scenarios/suites/http.ts', '.env', 'receiver/tests/a.ts'],
  ])('%s does not belong into it', (path) => {
    expect(wrongWith([...right, { path, size: 10 }], 1000)).toEqual([`${path} does not belong into it`]);
  });

  it('has what it needs, and is no larger than it may be', () => {
    expect(wrongWith(right.slice(1), 1000)).toEqual(['it lacks dist/bin/hookproof.js']);
    expect(wrongWith([...right, { path: 'dist/a.js', size: 20_000_000 }], 5_000_000)).toEqual([
      'it has 5000000 bytes, and 3000000 are allowed',
      'it unpacks to 20000110 bytes, and 12000000 are allowed',
    ]);
  });
});

describe('licences', () => {
  it.each([
    ...['MIT', 'ISC', 'Apache-2.0', 'BSD-3-Clause', '(MIT OR GPL-3.0-only)', 'GPL-2.0 or MIT', 'MIT AND Apache-2.0'],
    ...['(MIT AND (ISC OR AGPL-3.0))', 'Apache-2.0 WITH LLVM-exception', '((MIT))', 'GPL-2.0 OR MIT AND ISC'],
  ])('%s is allowed', (expression) => {
    expect(isAllowed(expression)).toBe(true);
  });

  it.each([
    ...['GPL-3.0-only', 'MIT AND GPL-3.0-only', '(MIT OR ISC) AND AGPL-3.0', 'UNLICENSED', 'SEE LICENSE IN LICENSE.md'],
    ...['', 'mit', 'MIT OR', '(MIT', 'MIT)', 'MIT ISC', 'OR MIT', 'MIT WITH', 'GPL-2.0 WITH Classpath-exception-2.0'],
    'GPL-3.0 AND MIT OR GPL-2.0',
  ])('%j is refused', (expression) => {
    expect(isAllowed(expression)).toBe(false);
  });

  it('a component with a wrong licence is named, one without any as well, and of several all have to be allowed', () => {
    const components = [
      { name: 'good', version: '1.0.0', licenses: [{ license: { id: 'MIT' } }] },
      { name: 'choice', version: '1.0.0', licenses: [{ expression: 'GPL-3.0-only OR MIT' }] },
      { name: 'made-up-gpl', version: '2.0.0', licenses: [{ license: { id: 'GPL-3.0-only' } }] },
      { name: 'named', version: '3.0.0', licenses: [{ license: { name: 'Ours Alone' } }] },
      { name: 'two', version: '4.0.0', licenses: [{ license: { id: 'MIT' } }, { license: { id: 'GPL-2.0-only' } }] },
      { name: 'silent', version: '5.0.0' },
    ];
    expect(refused(components)).toEqual([
      'made-up-gpl 2.0.0: (GPL-3.0-only)',
      'named 3.0.0: (Ours Alone)',
      'two 4.0.0: (MIT) AND (GPL-2.0-only)',
      'silent 5.0.0: no licence',
    ]);
  });
});

it('the bill holds what the lock file says is for production, and names what it lacks', () => {
  const component = (name: string) => ({
    'bom-ref': `${name}@1.0.0`,
    name,
    version: '1.0.0',
    externalReferences: [{ type: 'distribution', url: 'http://packages.example' }, { type: 'vcs' }],
  });
  const whole = {
    metadata: { component: { 'bom-ref': 'hookproof@0.1.0', name: 'some-folder' } },
    components: ['used', 'deep', 'tool'].map(component),
    dependencies: [
      { ref: 'hookproof@0.1.0', dependsOn: ['used@1.0.0', 'tool@1.0.0'] },
      { ref: 'used@1.0.0', dependsOn: ['deep@1.0.0'] },
      { ref: 'tool@1.0.0', dependsOn: [] },
    ],
  };
  const version = '1.0.0';
  const packages = {
    '': {},
    'node_modules/used': { version },
    'node_modules/used/node_modules/deep': { version },
    'node_modules/tool': { version, dev: true },
    'node_modules/@other/machine': { version, optional: true },
    'node_modules/gone': { version },
  };
  const { bill, missing } = billOfPackage(whole, { packages }, 'hookproof');
  expect(bill.metadata.component.name).toBe('hookproof');
  expect(bill.components.map(({ name }) => name)).toEqual(['used', 'deep']);
  expect(bill.dependencies.map(({ dependsOn }) => dependsOn)).toEqual([['used@1.0.0'], ['deep@1.0.0']]);
  expect(JSON.stringify(bill)).not.toContain('intern');
  expect(missing).toEqual(['gone@1.0.0']);
});
