/**
 * Builds the command line with a larger catalogue, which contains each check several times under different ids.
 * Everything else is the product as built, so that its commands can be measured.
 */
import { readFileSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { build, type Plugin } from 'esbuild';
import { PROGRAM } from '../../../build.ts';

/**
 * Returns the folder of the program. It is next to the folders of the compiled product, so that the files of the
 * catalogue are found.
 */
const folderOf = (times: number) => `dist/catalogue-x${times}`;

/** Compiles the command line with a catalogue of `times` copies of each check, and returns its file. */
export async function compileRepeated(times: number): Promise<string> {
  await build({ ...PROGRAM, outdir: folderOf(times), plugins: [...PROGRAM.plugins, repeatSuites(times)] });
  return join(folderOf(times), 'bin', 'hookproof.js');
}

export function removeRepeated(times: number): void {
  rmSync(folderOf(times), { recursive: true, force: true });
}

/** The first copy of a check keeps its id, because some checks have a role in the run. */
const COPY = (times: number) => `
  const copyOf = (scenario, at) => (at === 0 ? scenario : { ...scenario, id: scenario.id + '--' + (at + 1) });
  export const repeated = (suite) => ({
    ...suite,
    scenarios: Array.from({ length: ${times} }, (_, at) => suite.scenarios.map((one) => copyOf(one, at))).flat(),
  });
`;

/** Replaces the suites that the catalogue imports with suites that contain each scenario several times. */
function repeatSuites(times: number): Plugin {
  return {
    name: 'repeat-suites',
    setup(builder) {
      builder.onResolve({ filter: /^\.\/suites\// }, ({ path, importer, resolveDir, pluginData }) =>
        importer.endsWith('scenarios/catalogue.ts') && pluginData !== 'original'
          ? { path: resolve(resolveDir, path), namespace: 'repeated-suite' }
          : undefined,
      );
      builder.onResolve({ filter: /^repeat$/ }, () => ({ path: 'repeat', namespace: 'repeat' }));
      builder.onLoad({ filter: /./, namespace: 'repeat' }, () => ({ contents: COPY(times) }));
      builder.onLoad({ filter: /./, namespace: 'repeated-suite' }, ({ path }) => {
        const name = /export const (\w+Suite)\b/.exec(readFileSync(path, 'utf8'))?.[1];
        if (name === undefined) throw new Error(`${path} exports no suite`);
        const contents = [
          `import { ${name} as once } from ${JSON.stringify(path)};`,
          `import { repeated } from 'repeat';`,
          `export const ${name} = repeated(once);`,
        ].join('\n');
        return { contents, resolveDir: resolve('scenarios') };
      });
    },
  };
}
