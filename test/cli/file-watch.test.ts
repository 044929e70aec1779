import { expect, it } from 'vitest';
import { Changes, isIgnored } from '../../harness/cli/watch/file-watch.ts';

it.each([
  ['src/server.ts', false],
  ['app.py', false],
  ['config/routes.rb', false],
  ['distance/target.go', false],
  ['', false],
  ['node_modules/express/index.js', true],
  ['dist/server.js', true],
  ['.git/index', true],
  ['api/__pycache__/app.pyc', true],
  ['journal.ndjson', true],
  ['data/inbox.sqlite-wal', true],
  ['src/.server.ts.swp', true],
  ['hookproof-run/run.json', true],
])('%s: ignored is %s', (path, ignored) => {
  expect(isIgnored(path)).toBe(ignored);
});

it('ignores a file that the endpoint writes with every delivery, and no file that a person saves', () => {
  const changes = new Changes();
  changes.begin();
  for (let at = 0; at < 4; at++) changes.add('/data.json', true);
  changes.add('/server.js', true);
  expect(changes.end()).toEqual(['/data.json']);
  expect(changes.names()).toEqual(['/server.js']);
  expect(changes.add('/data.json', true)).toBe(false);
});

it('ignores a file that changes in three runs in a row', () => {
  const changes = new Changes();
  const run = (...paths: string[]) => {
    changes.begin();
    for (const path of paths) changes.add(path, true);
    return changes.end();
  };
  expect([run('/a'), run('/a', '/b'), run('/b'), run('/a', '/b'), run('/a'), run('/a')]).toEqual([
    [],
    [],
    [],
    ['/b'],
    [],
    ['/a'],
  ]);
});
