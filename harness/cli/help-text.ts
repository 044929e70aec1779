/**
 * The output of `hookproof --help` as plain text, so that it is printed before anything is imported. A test checks that
 * it lists the commands of the command table.
 */
export const HELP_TEXT = `hookproof: tests webhook receivers

Usage: hookproof <command> [options]

  hookproof run https://partner.example/hooks    check an endpoint (secret and key from the environment)
  hookproof demo                                 watch a complete run against the reference receiver
  hookproof explain signature/missing            what a check means, why it matters, how to fix it

Commands:
  run [URL]            run the suites against an endpoint
  demo                 start the reference receiver and run every suite against it
  receiver             start the reference receiver; --fault NAME gives it one deliberate fault
  proxy                forward plain HTTP to your receiver; show the deliveries, and why signatures do not match
  replay [ID]          resend deliveries that the proxy has saved
  list                 list checks (scenarios), suites, requirements, faults, error codes; --json, --schemas
  explain ID           explain a check, a requirement, a fault, a status or an error code
  trigger NAME URL     send one notification, or a sequence of them (a flow), as the real sender does
  sign [FILE]          sign a body, offline
  verify [FILE]        explain why a signature does not match, offline
  doctor [URL]         check DNS, connection, TLS chain, client certificate, secrets and clock; no pass or fail
  certs FOLDER         write test certificates for HTTPS and mutual TLS
  report FILE...       render a saved run again; --merge joins shards
  certify [URL]        issue a signed conformance certificate if every check passes; --partners FOLDER: for many
  certify keygen       generate the key pair that signs and verifies certificates
  certify verify FILE  check whether a certificate is valid, offline
  certify merge FOLDER  join the shards of a certification of many partners
  certify recheck FILE  send a few deliveries to a certified endpoint and report what has changed
  partners [NAME]      list which partners may get traffic now, until when and on what evidence
  operate              certify and recheck partners when they are due, as one of several workers
  revoke NAME          end the certificate of a partner
  override NAME        reinstate a certificate that a failing run or a drift has suspended
  console              serve the register as pages and as a JSON API; it needs PostgreSQL
  config show          print every setting with its source; secrets are never shown
  config schema        print the JSON Schema of hookproof.yaml
  inbox list           list the entries in the inbox of a receiver, newest first
  inbox show ID        print one entry in full, with its body
  inbox replay [ID]    handle entries again, for example --state dead
  inbox export         write entries with their bodies, as NDJSON
  inbox prune          remove old entries that are done or superseded
  mcp                  serve the Model Context Protocol, for coding agents that fix a receiver
  baseline update FILE  record the failures of a run in a baseline, for run --baseline
  init [FILE]          write a commented hookproof.yaml
  completion SHELL     print the completion script for bash, zsh or fish

Secrets come from files or the environment (HOOKPROOF_SECRET, HOOKPROOF_API_KEY),
never directly from the command line.

Exit codes:
  0  conformant (warnings allowed unless --strict)
  1  at least one failure that is not in the baseline, or a stale entry in the baseline
  2  usage or configuration error; nothing selected
  3  no verdict: unreachable, or inconclusive checks and no failure
  4  internal error
  130, 143  interrupted; the partial report is written

hookproof <command> --help prints the options and examples of a command.
`;
