/** Many partners: the document about them, its exit code, trend, shards. Free of command line, processes and files. */
export {
  type FleetDocument,
  type FleetPartner,
  fleetDocument,
  fleetPartner,
  OUTCOMES,
  type Outcome,
} from './fleet-document.ts';
export { mergeFleets, type NamedFleet } from './merge-fleets.ts';
export {
  against,
  type Change,
  changeOf,
  exitCodeOfFleet,
  factsOf,
  NO_FACTS,
  outcomeOf,
  type RunFacts,
  shownUrl,
  totalsOf,
} from './outcome.ts';
export { sideBySide } from './side-by-side.ts';
