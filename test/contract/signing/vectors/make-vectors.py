#!/usr/bin/env python3
"""Writes mistakes.json: one signature for every signing mistake.   make-vectors.py [FILE]

OpenSSL computes every digest, Python everything else. The script uses no code of hookproof, so the vectors can disprove
its table. The JSON of PHP, Go and JavaScript is given as text: PHP 8.2, Go 1.19 and Node 20 printed it.

The secrets are passed on OpenSSL's command line, which is acceptable only because they are public.
"""
import base64
import json
import os
import subprocess
import sys
import unicodedata
import urllib.parse

SECRET = "hookproof-public-test-Vector-secret-01"
API_KEY = "hookproof-public-test-vector-api-key-01"
PATH = "/hooks?a=b"
URL = "https://partner.example" + PATH
# Each mistake changes something in it: spaces, both line ends, 1.0, escapes, a decomposed letter, an empty object.
TEXT = (
    '\r\n {"id": "n-1", "type": "CAAS", "at": 1700000000, "data": {"z": 1.0, "a": "caf\u00e9/\\u00e9 e\u0301 <\\/>",'
    ' "b": {}, "n": 12345678901234567890}} \n'
)
BODY = TEXT.encode()
VALUE = json.loads(TEXT)


def openssl(*arguments, message):
    command = ["openssl", "dgst", *arguments, "-binary"]
    return subprocess.run(command, input=message, check=True, capture_output=True).stdout


def hmac(key, message, algorithm="sha256"):
    # OpenSSL takes no empty key. One zero byte is the same key, because keys are padded with zeros.
    return openssl("-" + algorithm, "-mac", "HMAC", "-macopt", "hexkey:" + (key.hex() or "00"), message=message)


def sha256(message):
    return openssl("-sha256", message=message)


def text(digest):
    return base64.b64encode(digest).decode()


vectors = []


def vector(mistake, signature, body=BODY, secret=SECRET):
    """`body` and `secret` are written where they are not those of the document."""
    one = {"mistake": mistake, "signature": signature}
    if body != BODY:
        one["bodyBase64"] = text(body)
    if secret != SECRET:
        one["secret"] = secret
    vectors.append(one)


def signs(mistake, message, body=BODY):
    """The signature is over `message` instead of `body`."""
    vector(mistake, text(hmac(SECRET.encode(), message)), body)


def keys(mistake, key, secret=SECRET):
    """The key is not the bytes of `secret`."""
    vector(mistake, text(hmac(key, BODY)), secret=secret)


# ---- the bytes that are signed ----

signs("body-newline-added", BODY + b"\n")
signs("body-newline-removed", BODY[:-1])
signs("trimmed-body", TEXT.strip().encode())
signs("lower-case-body", TEXT.lower().encode())
LATIN1 = '{"id":"caf\u00e9"}'
signs("latin1-body", LATIN1.encode("latin-1"), LATIN1.encode())
signs("ascii-body", TEXT.encode("ascii", "replace"))
signs("double-utf8-body", BODY.decode("latin-1").encode())
INVALID = b'{"id":"\xff"}'
signs("lossy-utf8-body", INVALID.decode(errors="replace").encode(), INVALID)
signs("bom-stripped-body", BODY, b"\xef\xbb\xbf" + BODY)
signs("bom-added-body", b"\xef\xbb\xbf" + BODY)
signs("crlf-to-lf-body", BODY.replace(b"\r\n", b"\n"))
signs("lf-to-crlf-body", BODY.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n"))
signs("line-ends-removed-body", BODY.replace(b"\r", b"").replace(b"\n", b""))
signs("white-space-removed-body", "".join(TEXT.split()).encode())
signs("slashes-unescaped-body", TEXT.replace("\\/", "/").encode())
signs("normalised-body", unicodedata.normalize("NFC", TEXT).encode())
signs("utf16-body", TEXT.encode("utf-16-le"))

SHARED = '"id":"n-1","type":"CAAS","at":1700000000'
A = '"a":"caf\u00e9/\u00e9 e\u0301 </>"'
DATA = '{"z":1,' + A + ',"b":{},"n":12345678901234567000}'
signs("reserialised-json", ("{" + SHARED + ',"data":' + DATA + "}").encode())
signs("data-only", DATA.encode())
signs(
    "sorted-json",
    ('{"at":1700000000,"data":{' + A + ',"b":{},"n":12345678901234567000,"z":1},"id":"n-1","type":"CAAS"}').encode(),
)
signs(
    "go-json",
    (
        '{"at":1700000000,'
        '"data":{"a":"caf\u00e9/\u00e9 e\u0301 \\u003c/\\u003e","b":{},"n":12345678901234567000,"z":1},'
        '"id":"n-1","type":"CAAS"}'
    ).encode(),
)
signs(
    "php-json",
    (
        "{" + SHARED + ',"data":{"z":1,"a":"caf\\u00e9\\/\\u00e9 e\\u0301 <\\/>","b":[],"n":1.2345678901234567e+19}}'
    ).encode(),
)
signs("php-unescaped-json", ("{" + SHARED + ',"data":{"z":1,' + A + ',"b":[],"n":1.2345678901234567e+19}}').encode())


def indented(indent):
    """The output of JSON.stringify with an indent."""
    # JavaScript has no integers of this size and no 1.0; both languages write an empty object on one line.
    value = json.loads(TEXT.replace("1.0", "1").replace("12345678901234567890", "12345678901234567000"))
    return json.dumps(value, ensure_ascii=False, indent=indent).encode()


signs("pretty-json-2", indented(2))
signs("pretty-json-4", indented(4))
signs("pretty-json-tab", indented("\t"))
signs("pretty-json-crlf", indented(2).replace(b"\n", b"\r\n"))
signs("python-json", json.dumps(VALUE).encode())
signs("python-unicode-json", json.dumps(VALUE, ensure_ascii=False).encode())
signs("python-compact-json", json.dumps(VALUE, ensure_ascii=False, separators=(",", ":")).encode())
signs("python-compact-ascii-json", json.dumps(VALUE, separators=(",", ":")).encode())
signs("python-sorted-json", json.dumps(VALUE, sort_keys=True).encode())
signs("python-sorted-compact-json", json.dumps(VALUE, sort_keys=True, separators=(",", ":")).encode())
signs("data-only-python", json.dumps(VALUE["data"]).encode())

signs("timestamp-dot-body", b"1700000000." + BODY)
signs("id-timestamp-body", b"n-1.1700000000." + BODY)
signs("id-body", b"n-1" + BODY)
signs("id-dot-body", b"n-1." + BODY)
signs("id-only", b"n-1")
signs("url-body", URL.encode() + BODY)
signs("url-only", URL.encode())
signs("path-body", PATH.encode() + BODY)
signs("empty-body", b"")
signs("empty-object-body", b"{}")
signs("object-object-body", b"[object Object]")
signs("undefined-body", b"undefined")
signs("quoted-body", json.dumps(TEXT, ensure_ascii=False).encode())
signs("base64-body", base64.b64encode(BODY))
signs("hashed-body", sha256(BODY).hex().encode())

# ---- the key ----

keys("secret-newline", SECRET.encode() + b"\n")
keys("secret-crlf", SECRET.encode() + b"\r\n")
keys("secret-cr", SECRET.encode() + b"\r")
keys("secret-space", SECRET.encode() + b" ")
keys("secret-bom", b"\xef\xbb\xbf" + SECRET.encode())
keys("trimmed-secret", SECRET.encode(), " " + SECRET + "\n")
BASE64_SECRET = text(b"a public test secret in base64..")
keys("base64-decoded-secret", base64.b64decode(BASE64_SECRET), BASE64_SECRET)
HEX_SECRET = b"a public test secret in hex.....".hex()
keys("hex-decoded-secret", bytes.fromhex(HEX_SECRET), HEX_SECRET)
# Two prefixes in one, and both are cut off.
keys("prefix-stripped-decoded-secret", base64.b64decode(BASE64_SECRET), "key_live_" + BASE64_SECRET)
keys("prefix-stripped-secret", SECRET.encode(), "whsec_" + SECRET)
ACCENTED = SECRET + "\u00e9"
keys("latin1-secret", ACCENTED.encode("latin-1"), ACCENTED)
keys("ascii-secret", ACCENTED.encode("ascii", "replace"), ACCENTED)
keys("quoted-secret", ('"' + SECRET + '"').encode())
keys("single-quoted-secret", ("'" + SECRET + "'").encode())
keys("unquoted-secret", SECRET.encode(), '"' + SECRET + '"')
keys("first-32-of-secret", SECRET[:32].encode())
keys("first-64-of-secret", (SECRET * 2).encode()[:64], SECRET * 2)
keys("upper-case-secret", SECRET.upper().encode())
keys("lower-case-secret", SECRET.lower().encode())
keys("url-decoded-secret", urllib.parse.unquote_plus(SECRET + "%2F+").encode(), SECRET + "%2F+")
keys("url-encoded-secret", urllib.parse.quote(SECRET + "/+=", safe="").encode(), SECRET + "/+=")
keys("base64-encoded-secret", base64.b64encode(SECRET.encode()))
keys("hex-encoded-secret", SECRET.encode().hex().encode())
keys("hashed-secret", sha256(SECRET.encode()))
keys("utf16-secret", SECRET.encode("utf-16-le"))
keys("api-key-as-secret", API_KEY.encode())
keys("empty-secret", b"")
keys("undefined-secret", b"undefined")
keys("null-secret", b"null")

# ---- the function ----

for name in ("sha1", "sha224", "sha384", "sha512", "sha3-256", "md5"):
    vector("hmac-" + name, text(hmac(SECRET.encode(), BODY, name)))
vector("unkeyed-sha256", text(sha256(BODY)))
vector("secret-then-body", text(sha256(SECRET.encode() + BODY)))
vector("body-then-secret", text(sha256(BODY + SECRET.encode())))
vector("swapped-arguments", text(hmac(BODY, SECRET.encode())))

# ---- the encoding ----

# A digest whose base64 has a "+" and a "/", so that each encoding differs from the others.
for nonce in range(1000):
    TELLING = b'{"n":%d}' % nonce
    DIGEST = hmac(SECRET.encode(), TELLING)
    if {"+", "/"} <= set(text(DIGEST)):
        break
for name, value in {
    "hex": DIGEST.hex(),
    "prefixed-hex": "sha256=" + DIGEST.hex(),
    "upper-hex": DIGEST.hex().upper(),
    "unpadded-base64": text(DIGEST).rstrip("="),
    "base64url": base64.urlsafe_b64encode(DIGEST).decode().rstrip("="),
    "padded-base64url": base64.urlsafe_b64encode(DIGEST).decode(),
    "base64-of-hex": text(DIGEST.hex().encode()),
    "prefixed-base64": "sha256=" + text(DIGEST),
    "double-base64": text(text(DIGEST).encode()),
    "percent-encoded": urllib.parse.quote(text(DIGEST), safe=""),
    "plus-as-space": text(DIGEST).replace("+", " "),
    "lower-case-base64": text(DIGEST).lower(),
    "base64-of-text": text(DIGEST.decode(errors="replace").encode()),
}.items():
    vector(name, value, TELLING)



def entry(one):
    """One line, or one line for each field if it would be longer than 120 characters."""
    line = "    " + json.dumps(one).replace("{", "{ ", 1)[:-1] + " }"
    if len(line) <= 119:
        return line
    return "    " + json.dumps(one, indent=2).replace("\n", "\n    ")


document = {
    "title": "One signature for every signing mistake",
    "warning": "PUBLIC TEST SECRETS. Everyone can read them. Never configure one of them anywhere.",
    "apiKey": API_KEY,
    "url": URL,
    "secret": SECRET,
    "bodyBase64": text(BODY),
}
fields = ["  " + json.dumps(name) + ": " + json.dumps(value) for name, value in document.items()]
fields.append('  "vectors": [\n' + ",\n".join(map(entry, vectors)) + "\n  ]")
target = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(os.path.abspath(__file__)), "mistakes.json")
with open(target, "w", encoding="utf-8") as file:
    file.write("{\n" + ",\n".join(fields) + "\n}\n")
