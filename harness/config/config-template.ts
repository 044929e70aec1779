/** The file that `hookproof init` writes. */

/** A commented hookproof.yaml: what everybody needs is set, everything else stands in comments with its default. */
export function configTemplate(url = 'https://partner.example/webhooks'): string {
  return `# The configuration of hookproof. Flags and HOOKPROOF_ variables come before what stands here;
# \`hookproof config show\` prints every value with its source.
# Relative paths are relative to this file. Secrets are never written here: refer to them
# with \${env:NAME} (an environment variable) or \${file:PATH} (a file that is not committed).

# The endpoint that receives the notifications.
url: ${JSON.stringify(url)}

# The HMAC signature. Its secret turns it on.
hmac:
  secret: \${env:WEBHOOK_SECRET}
  # header: X-Service-Signature

# The API key. Its value turns it on.
# api-key:
#   value: \${file:./api-key.txt}
#   header: X-API-Key

# Custom headers on every delivery. References work in values.
# headers:
#   X-Tenant: acme
#   Authorization: Bearer \${env:GATEWAY_TOKEN}

# Mutual TLS (client-cert, client-key), and authorities to trust beside the system's (ca). PEM or DER.
# tls:
#   client-cert: ./client.pem
#   client-key: ./client.key
#   passphrase: \${env:CLIENT_KEY_PASSPHRASE}
#   ca: ./ca.pem

# Client certificates that only the authority of the one above can issue, for the checks that need them.
# Each may have a passphrase, as above. Without them these checks are reported as not verified.
# mtls:
#   fixtures:
#     expired: { cert: ./expired.pem, key: ./expired.key, passphrase: "\${env:EXPIRED_KEY_PASSPHRASE}" }
#     not-yet-valid: { cert: ./not-yet-valid.pem, key: ./not-yet-valid.key }
#     wrong-purpose: { cert: ./server-only.pem, key: ./server-only.key }
#     revoked: { cert: ./revoked.pem, key: ./revoked.key }
#     other-subject: { cert: ./other-subject.pem, key: ./other-subject.key }

# Which features must be on: basic (HTTPS, API key), staging (HTTPS, HMAC), production (HTTPS, HMAC).
# Without it, what is configured is what is checked.
# profile: staging
# revision: 1       # which revision of the catalogue says what is scored for the profile; the newest when it is not set

# Run only a part of the catalogue; \`hookproof list\` shows what there is.
# suites: [valid, signature]
# scenarios: [signature/missing]
# grep: [duplicate]

# How the run goes.
# concurrency: 8    # deliveries at the same time, 1 to 64
# timeout: 10s      # for one delivery, 100ms to 10m
# recovery: 10s     # how long to wait for an endpoint that went down
# max-time: 30m    # the run ends after this; by the number of checks when it is not set
# allow-private: [staging.example]   # hosts with private addresses, where only public ones are allowed otherwise
# seed: "1"         # makes the same run again; chosen by the run when it is not set
# strict: false     # warnings fail the run
# baseline: ./known-failures.yaml   # failures that do not fail the run, each with reason, owner and day of expiry
# stack: express    # the stack that fixes are told for; guessed from the answers when it is not set
# bail: false       # stop at the first failure
# evidence: false   # keep the exchanges of passed scenarios too

# Which reports are written: human, html, json, junit, ctrf, github, ndjson or badge, each as name=file; name alone is standard output.
# reporters: [human, json=run.json, junit=junit.xml]

# A directory that gets run.json, junit.xml and report.html.
# output-dir: hookproof-run
`;
}
