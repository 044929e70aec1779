/** Packages that only some features need. They are optional peer dependencies, which npm does not install. */
import { HookproofError } from './hookproof-error.ts';

const PACKAGES = {
  'graphile-worker': { range: '0.16', feature: 'hookproof operate' },
  pg: { range: '8', feature: 'PostgreSQL' },
  'prom-client': { range: '15', feature: 'A server for health and metrics' },
  '@photostructure/sqlite': { range: '1', feature: 'A SQLite file on Node before 22.13' },
} as const;

/** Loads an optional package. Throws `HookproofError` `PACKAGE_MISSING` when it is not installed. */
export async function loadOptional<Module>(name: keyof typeof PACKAGES, load: () => Promise<Module>): Promise<Module> {
  try {
    return await load();
  } catch (cause) {
    // The bundle is CommonJS, whose error code has no `ERR_` prefix.
    const isMissing = cause instanceof Error && 'code' in cause && /^(?:ERR_)?MODULE_NOT_FOUND$/.test(`${cause.code}`);
    // The missing package may instead be a dependency of this one, which is a different error.
    if (!isMissing || !cause.message.includes(`'${name}'`)) throw cause;
    const { range, feature } = PACKAGES[name];
    throw new HookproofError('PACKAGE_MISSING', `${feature} needs the package ${name}, which is not installed.`, {
      hint: `Install it next to hookproof: npm install ${name}@${range}`,
      cause,
    });
  }
}
