/**
 * The first help, as plain text: `hookproof --help` answers before anything is imported. A test holds it against the command table.
 */
export const HELP_TEXT = `hookproof: proves that a webhook receiver is right

Usage: hookproof <command> [options]

  hookproof run https://partner.example/hooks    check an endpoint (secret and key from the environment)
  hookproof demo                                 see a whole run against the reference receiver
  hookproof explain signature/missing            what a check means, why it matters, how to mend it

Commands:
  run [URL]            run the suites against an endpoint
  demo                 start the reference receiver and run every suite against it
  receiver             serve the reference receiver; --fault NAME makes a known mistake
  list                 scenarios, suites, requirements, faults, error codes; --json, --schemas
  explain ID           a scenario, a requirement, a fault, a status or an error code, in plain words
  trigger NAME URL     send one notification or one flow through the sender core
  sign [FILE]          sign a body, offline
  verify [FILE]        say why a signature does not match, offline
  doctor [URL]         DNS, connection, TLS chain, client certificate, secrets, clock: findings with fixes
  certs DIR            write test certificates for HTTPS and mutual TLS
  report FILE...       write the reports of a saved run again; --merge joins shards
  certify [URL]        run a profile and issue a signed certificate; --partners DIR: of many
  certify keygen       make the keys that certificates are signed and verified with
  certify verify FILE  say whether a certificate is good, offline
  certify merge DIR    join the shards of a certification of many partners
  certify recheck FILE  send a short canary to a certified endpoint
  config show          every setting with its source; secrets are never shown
  config schema        the JSON Schema of hookproof.yaml
  inbox list           what is in the inbox of a receiver, newest first
  inbox show ID        everything of one entry, with its body
  inbox replay [ID]    have entries handled again: --state dead
  inbox export         entries with their bodies, as NDJSON
  inbox prune          remove what was done long ago
  baseline update FILE  write the failures of a run as known, for run --baseline
  init [FILE]          write a commented hookproof.yaml

Secrets come from files or the environment (HOOKPROOF_SECRET, HOOKPROOF_API_KEY), never from the command line.

Exit codes:
  0  conformant (warnings allowed unless --strict)
  1  at least one failure that is not known, or a stale entry in a baseline
  2  usage or configuration error; nothing selected
  3  no verdict: unreachable, or inconclusive checks and no failure
  4  internal or harness error
  130, 143  interrupted; the partial report is written

hookproof <command> --help shows the options and examples of a command.
`;
