/** The bill of materials of what a user of the package gets, out of the one of everything that is installed here. Pure. */
import type { Component } from './licences.ts';

interface BillComponent extends Component {
  readonly 'bom-ref': string;
  readonly externalReferences?: readonly { readonly type: string }[];
}

/** The part of CycloneDX that is looked at; the rest is kept as it is. */
export interface Bill {
  readonly metadata: { readonly component: BillComponent };
  readonly components: readonly BillComponent[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
}

interface Locked {
  readonly version?: string;
  readonly dev?: boolean;
  readonly devOptional?: boolean;
  readonly optional?: boolean;
}

export interface Lock {
  readonly packages: Readonly<Record<string, Locked>>;
}

/**
 * The bill of the production dependencies, and those that the lock file has and the bill has not. `npm sbom --omit=dev` is no use: in npm 11 it
 * leaves out production dependencies as well (85 of 142, when this was written), so the lock file decides. The name is that of the package, where npm takes that of the
 * folder; the registry that a machine happens to use is left out.
 */
export function billOfPackage(whole: Bill, lock: Lock, name: string): { bill: Bill; missing: string[] } {
  const production = Object.entries(lock.packages).filter(
    ([path, { dev = false, devOptional = false }]) => path !== '' && !dev && !devOptional,
  );
  const refOf = (path: string, version = '') => `${path.replace(/^.*node_modules\//, '')}@${version}`;
  const refs = new Set(production.map(([path, { version }]) => refOf(path, version)));
  const root = whole.metadata.component['bom-ref'];
  const within = (ref: string) => ref === root || refs.has(ref);
  const components = whole.components
    .filter((component) => refs.has(component['bom-ref']))
    .map(({ externalReferences = [], ...component }) => ({
      ...component,
      externalReferences: externalReferences.filter(({ type }) => type !== 'distribution'),
    }));
  const dependencies = whole.dependencies
    .filter(({ ref }) => within(ref))
    .map(({ dependsOn, ref }) => ({ ref, dependsOn: dependsOn.filter(within) }));
  const component = { ...whole.metadata.component, name };
  const there = new Set(components.map((one) => one['bom-ref']));
  const missing = production
    // What is for another kind of machine is not installed here.
    .filter(([path, { optional = false, version }]) => !optional && !there.has(refOf(path, version)))
    .map(([path, { version }]) => refOf(path, version));
  return { bill: { ...whole, metadata: { ...whole.metadata, component }, components, dependencies }, missing };
}
