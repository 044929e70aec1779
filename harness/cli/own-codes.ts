/** The areas of hookproof's own error codes, such as `CONFIG_INVALID`, and where the documents describe each area. */

const AREAS: readonly (readonly [prefixes: string, area: string, described: string])[] = [
  ['BASELINE', 'a list of known failures', 'docs/runs.md, "Known failures"'],
  ['CERTIFY REVISION', 'a certificate of conformance or a revision', 'docs/certification.md'],
  ['FLEET PARTNERS OPERATE REGISTER CONSOLE', 'many partners and their register', 'docs/operator.md'],
  ['CERT CERTIFICATE CHAIN KEY', 'a TLS certificate or its key', 'docs/runs.md, "HTTPS and mutual TLS"'],
  ['CERTS ROGUE', 'test certificates', '`hookproof certs --help`'],
  [
    'CONFIG PARTNER SECRET NO ENDPOINT SEND',
    'the configuration of an endpoint',
    'docs/guide.md and `hookproof doctor`',
  ],
  ['RUN PLAN SCENARIO WATCH', 'a run and the selection of its checks', 'docs/guide.md and `hookproof run --help`'],
  ['REPORT SHARDS', 'a report or the shards of a run', 'docs/runs.md'],
  ['LOG EFFECTS', 'the effects window and the log of a receiver', 'docs/effects.md'],
  ['RECEIVER INBOX STORE INSPECTOR', 'the reference receiver and its inbox', 'receiver/README.md'],
  ['PROXY REPLAY FORWARD DELIVERY', 'the proxy and its deliveries', 'docs/runs.md, "the proxy"'],
  ['MCP', 'the server for coding agents', 'docs/runs.md, "With a coding agent"'],
  ['TRIGGER SET SAMPLE SIGN EVENT AMOUNT PRECISION', 'creating or signing a notification', 'docs/sender.md'],
  ['SCHEME VERIFY', 'a delivery of another service', 'docs/schemes.md'],
  ['INIT EXPLAIN INPUT FETCH PACKAGE VECTORS', 'the input of a command or the installation', '`hookproof help`'],
];

/** Returns what an error code is about and where that is described; null if it is not one. */
export function areaOfCode(name: string): { readonly area: string; readonly described: string } | null {
  const prefix = /^([A-Z]+)(?:_[A-Z]+)+$/.exec(name)?.[1] ?? '';
  const found = AREAS.find(([prefixes]) => prefixes.split(' ').includes(prefix));
  if (found === undefined) return null;
  const [, area, described] = found;
  return { area, described };
}
