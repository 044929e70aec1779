#!/usr/bin/env python3
"""Writes mistakes.json: one signature for every signing mistake.   make-vectors.py [FILE]

OpenSSL computes every digest, Python everything else. The script uses no code of hookproof, so the vectors can disprove
its table. What PHP, Ruby, Go, Java and JavaScript print is given as text: PHP 8.2, Ruby 3.1, Go 1.19, Java 17 and
Node 20 printed it.

The secrets are passed on OpenSSL's command line, which is acceptable only because they are public.
"""
import base64
import hashlib
import html
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


# ---- what languages print ----

RICH = (
    '{"id": "n-1", "type": "CAAS", "at": 1735787045, "ok": true, "none": null, "empty": "", "padded": " a ", '
    '"list": [1, "\u00e9"], "data": {"it\'s": "\\"x\\" / <\u00e9>\\n", "b": {}, "x": 1.5}}'
)
DATA_BYTES = RICH.encode()
DICT = json.loads(RICH)


def prints(mistake, message):
    signs(mistake, message.encode(), DATA_BYTES)


def lines(width, end):
    whole = text(DATA_BYTES)
    return end.join(whole[at : at + width] for at in range(0, len(whole), width))


LIST = ", ".join(str(byte) for byte in DATA_BYTES)
COMMAS = LIST.replace(" ", "")
HEX = DATA_BYTES.hex()
prints("json-buffer-body", '{"type":"Buffer","data":[' + COMMAS + "]}")
prints("inspected-buffer-body", "<Buffer " + DATA_BYTES[:50].hex(" ") + " ... 127 more bytes>")
prints("comma-bytes-body", COMMAS)
prints("json-uint8array-body", "{" + ",".join('"%d":%d' % pair for pair in enumerate(DATA_BYTES)) + "}")
prints("json-bytes-body", "[" + COMMAS + "]")
prints("python-bytes-body", str(DATA_BYTES))
prints("python-bytearray-body", str(bytearray(DATA_BYTES)))
prints("listed-bytes-body", str(list(DATA_BYTES)))
prints("java-bytes-body", str([byte - 256 if byte > 127 else byte for byte in DATA_BYTES]))
prints("go-bytes-body", "[" + LIST.replace(",", "") + "]")
# Only the escape before "#{" tells it from a JSON string.
signs("ruby-string-body", b'"{\\"id\\":\\"\\#{x}\\"}"', b'{"id":"#{x}"}')
prints("hex-body", HEX)
prints("dashed-hex-body", "-".join(HEX[at : at + 2] for at in range(0, len(HEX), 2)).upper())
prints("seven-bit-body", bytes(byte & 127 for byte in DATA_BYTES).decode())
EVEN = b'{"id":"n-1"}'
signs("utf16-text-body", EVEN.decode("utf-16-le").encode(), EVEN)
prints("base64url-body", base64.urlsafe_b64encode(DATA_BYTES).decode().rstrip("="))
prints("base64-lines-body", lines(60, "\n") + "\n")
prints("python-base64-lines-body", base64.encodebytes(DATA_BYTES).decode())
prints("php-base64-lines-body", lines(76, "\r\n") + "\r\n")
prints("mime-base64-body", lines(76, "\r\n"))
prints("quoted-base64-body", '"' + text(DATA_BYTES) + '"')
prints("percent-encoded-body", urllib.parse.quote(RICH, safe="-_.!~*'()"))
prints("form-encoded-body", urllib.parse.quote_plus(RICH))
prints("data-url-body", "data:application/json;base64," + text(DATA_BYTES))
prints("slashed-body", RICH.replace("\\", "\\\\").replace('"', '\\"').replace("'", "\\'"))
prints("html-escaped-body", html.escape(RICH).replace("&#x27;", "&#039;"))

prints("python-dict-body", str(DICT))
prints("python-query-body", urllib.parse.urlencode(DICT))
RUBY = (
    '{"id"=>"n-1", "type"=>"CAAS", "at"=>1735787045, "ok"=>true, "none"=>nil, "empty"=>"", "padded"=>" a ", '
    '"list"=>[1, "\u00e9"], "data"=>{"it\'s"=>"\\"x\\" / <\u00e9>\\n", "b"=>{}, "x"=>1.5}}'
)
prints("ruby-hash-body", RUBY)
prints("ruby-spaced-hash-body", RUBY.replace("=>", " => "))
JAVA = (
    "{id=n-1, type=CAAS, at=%s, ok=true, none=null, empty=, padded= a , "
    'list=[%s, \u00e9], data={it\'s="x" / <\u00e9>\n, b={}, x=1.5}}'
)
prints("java-map-body", JAVA % ("1735787045", "1"))
prints("java-double-map-body", JAVA % ("1.735787045E9", "1.0"))
GO = (
    'map[at:%s data:map[b:map[] it\'s:"x" / <\u00e9>\n x:1.5] empty: id:n-1 list:[1 \u00e9] none:<nil> ok:true '
    "padded: a  type:CAAS]"
)
prints("go-map-body", GO % "1.735787045e+09")
prints("go-number-map-body", GO % "1735787045")
prints("php-array-body", "Array")
prints(
    "php-serialize-body",
    'a:9:{s:2:"id";s:3:"n-1";s:4:"type";s:4:"CAAS";s:2:"at";i:1735787045;s:2:"ok";b:1;s:4:"none";N;s:5:"empty";s:0:"";'
    's:6:"padded";s:3:" a ";s:4:"list";a:2:{i:0;i:1;i:1;s:2:"\u00e9";}s:4:"data";a:3:{s:4:"it\'s";s:11:""x" / '
    '<\u00e9>\n";s:1:"b";a:0:{}s:1:"x";d:1.5;}}',
)
prints(
    "php-var-export-body",
    """array (
  'id' => 'n-1',
  'type' => 'CAAS',
  'at' => 1735787045,
  'ok' => true,
  'none' => NULL,
  'empty' => '',
  'padded' => ' a ',
  'list' =>\x20
  array (
    0 => 1,
    1 => '\u00e9',
  ),
  'data' =>\x20
  array (
    'it\\'s' => '"x" / <\u00e9>
',
    'b' =>\x20
    array (
    ),
    'x' => 1.5,
  ),
)""",
)
prints(
    "php-print-r-body",
    """Array
(
    [id] => n-1
    [type] => CAAS
    [at] => 1735787045
    [ok] => 1
    [none] =>\x20
    [empty] =>\x20
    [padded] =>  a\x20
    [list] => Array
        (
            [0] => 1
            [1] => \u00e9
        )

    [data] => Array
        (
            [it's] => "x" / <\u00e9>

            [b] => Array
                (
                )

            [x] => 1.5
        )

)
""",
)
prints(
    "php-query-body",
    "id=n-1&type=CAAS&at=1735787045&ok=1&empty=&padded=+a+&list%5B0%5D=1&list%5B1%5D=%C3%A9&"
    "data%5Bit%27s%5D=%22x%22+%2F+%3C%C3%A9%3E%0A&data%5Bx%5D=1.5",
)
prints(
    "node-query-body",
    "id=n-1&type=CAAS&at=1735787045&ok=true&none=&empty=&padded=%20a%20&list=1&list=%C3%A9&data=",
)
prints(
    "search-params-body",
    "id=n-1&type=CAAS&at=1735787045&ok=true&none=null&empty=&padded=+a+&list=1%2C%C3%A9&data=%5Bobject+Object%5D",
)
prints(
    "node-inspect-body",
    "{\n  id: 'n-1',\n  type: 'CAAS',\n  at: 1735787045,\n  ok: true,\n  none: null,\n  empty: '',\n  padded: ' a ',\n"
    "  list: [ 1, '\u00e9' ],\n  data: { \"it's\": '\"x\" / <\u00e9>\\n', b: {}, x: 1.5 }\n}",
)


def changed(value, change):
    """Fields at every level after a change; None for those that it removes."""
    if isinstance(value, list):
        return [changed(item, change) for item in value]
    if not isinstance(value, dict):
        return change(value)
    fields = {key: changed(one, change) for key, one in value.items()}
    return {key: one for key, one in fields.items() if one is not ...}


for name, change in {
    "nulls-removed": lambda one: ... if one is None else one,
    "empty-as-null": lambda one: None if one == "" else one,
    "trimmed-fields": lambda one: (one.strip() or None) if isinstance(one, str) else one,
    "empty-removed": lambda one: ... if one is None or one == "" else one,
}.items():
    value = changed(DICT, change)
    compact = json.dumps(value, separators=(",", ":"))
    prints(name + "-json", json.dumps(value, separators=(",", ":"), ensure_ascii=False))
    prints(name + "-php-json", compact.replace("/", "\\/").replace("{}", "[]"))
    prints(name + "-python-json", json.dumps(value))

for name, word in {
    "promise": "[object Promise]",
    "array-buffer": "[object ArrayBuffer]",
    "stream": "[object ReadableStream]",
    "dotnet-bytes": "System.Byte[]",
    "null": "null",
    "none": "None",
    "nil": "nil",
    "false": "false",
    "empty-list": "[]",
    "empty-string": '""',
    "python-empty-bytes": "b''",
    "empty-buffer": '{"type":"Buffer","data":[]}',
}.items():
    signs(name + "-body", word.encode())

signs("body-id", BODY + b"n-1")
signs("timestamp-body", b"1700000000" + BODY)
signs("body-timestamp", BODY + b"1700000000")
signs("body-url", BODY + URL.encode())
signs("method-body", b"POST" + BODY)
signs("method-path-body", b"POST" + PATH.encode() + BODY)
signs("method-path-body-spaces", b"POST " + PATH.encode() + b" " + BODY)
signs("method-path-body-lines", b"POST\n" + PATH.encode() + b"\n" + BODY)
signs("method-url-body", b"POST" + URL.encode() + BODY)
signs("api-key-body", API_KEY.encode() + BODY)
signs("base64-hashed-body", text(sha256(BODY)).encode())
signs("md5-body", hashlib.md5(BODY).hexdigest().encode())

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



def mangles(mistake, key, odd=""):
    """The key is a text that is not the secret, which ends in `odd`."""
    keys(mistake, key.encode(), SECRET + odd)


mangles("space-secret", " " + SECRET)
mangles("secret-tab", SECRET + "\t")
mangles("secret-semicolon", SECRET + ";")
mangles("secret-comma", SECRET + ",")
mangles("json-quoted-secret", '"' + SECRET + '\\\\"', "\\")
mangles("assigned-secret", "SECRET=" + SECRET)
mangles("double-utf8-secret", SECRET + "\u00c3\u00a9", "\u00e9")
for name, odd, escaped in (
    ("html-escaped-secret", "\"<'&", "&quot;&lt;&#039;&amp;"),
    ("html-escaped-secret-double-quotes", "\"<'", "&quot;&lt;'"),
    ("html-escaped-secret-no-quotes", '"<', '"&lt;'),
    ("html-escaped-secret-python", "<'", "&lt;&#x27;"),
    ("html-escaped-secret-ruby", "<'", "&lt;&#39;"),
    ("html-escaped-secret-go", '<"', "&lt;&#34;"),
    ("html-unescaped-secret", "&amp;&quot;&#39;", "&\"'"),
    ("percent-decoded-secret", "%2F+", "/+"),
    ("raw-url-encoded-secret", "!/", "%21%2F"),
    ("path-encoded-secret", "/+", "/%2B"),
    ("uri-encoded-secret", "+^", "+%5E"),
    ("form-encoded-secret", " ~*", "+%7E%2A"),
    ("form-encoded-secret-python", " ~*", "+~%2A"),
    ("form-encoded-secret-java", " ~*", "+%7E*"),
    ("json-escaped-secret", '/"\u00e9', '/\\"\u00e9'),
    ("json-escaped-secret-php", '/"\u00e9', '\\/\\"\\u00e9'),
    ("json-escaped-secret-python", '/"\u00e9', '/\\"\\u00e9'),
    ("json-escaped-secret-go", "&/", "\\u0026/"),
    ("backslash-doubled-secret", '\\"', '\\\\"'),
    ("slashed-secret", "\\'", "\\\\\\'"),
    ("backslash-dropped-secret", "\\q", "q"),
    ("newline-unescaped-secret", "\\n\\t", "\n\\t"),
    ("unescaped-secret", "\\n\\t", "\n\t"),
    ("expanded-secret", "$no_such_name/${no_such_name}$1x", "/x"),
    ("dollar-unescaped-secret", "$$/", "$/"),
    ("secret-cut-at-hash", " #x", ""),
    ("secret-cut-at-space", " x", ""),
    ("secret-cut-at-equals", "=x", ""),
    ("secret-cut-at-dollar", "$-x", ""),
    ("secret-cut-at-ampersand", "&x", ""),
    ("secret-cut-at-semicolon", ";x", ""),
    ("secret-cut-at-comma", ",x", ""),
    ("secret-cut-at-colon", ":x", ""),
    ("secret-cut-at-quote", '"x', ""),
    ("secret-cut-at-backslash", "\\x/", ""),
):
    mangles(name, SECRET + escaped, odd)
mangles("secret-after-colon", "x", ":x")
mangles("secret-without-last", SECRET[:-1])
mangles("secret-without-first", SECRET[1:])
for length in (16, 20, 24):
    mangles("first-%d-of-secret" % length, SECRET[:length])
for length in (40, 50, 100, 128, 255):
    mangles("first-%d-of-secret" % length, (SECRET * 8)[:length], SECRET * 7)
mangles("base64-of-line-secret", text(SECRET.encode() + b"\n"))
SECRET_LIST = ", ".join(str(byte) for byte in SECRET.encode())
mangles("python-bytes-secret", str(SECRET.encode()))
mangles("json-buffer-secret", '{"type":"Buffer","data":[' + SECRET_LIST.replace(" ", "") + "]}")
mangles("inspected-buffer-secret", "<Buffer " + SECRET.encode().hex(" ") + ">")
mangles("comma-bytes-secret", SECRET_LIST.replace(" ", ""))
mangles("listed-bytes-secret", "[" + SECRET_LIST + "]")
mangles("go-bytes-secret", "[" + SECRET_LIST.replace(",", "") + "]")
mangles("base64url-secret", base64.urlsafe_b64encode(SECRET.encode()).decode().rstrip("="))
mangles("base64-lines-secret", text(SECRET.encode()) + "\n")
mangles("hex-hashed-secret", sha256(SECRET.encode()).hex())
mangles("base64-hashed-secret", text(sha256(SECRET.encode())))
for name in ("md5", "sha1", "sha512"):
    mangles(name + "-secret", hashlib.new(name, SECRET.encode()).hexdigest())
for name, word in {
    "none": "None",
    "nil": "nil",
    "go-nil": "<nil>",
    "false": "false",
    "object-object": "[object Object]",
    "promise": "[object Promise]",
}.items():
    mangles(name + "-secret", word)
for name in ("WEBHOOK_SECRET", "SECRET", "HMAC_SECRET", "SIGNING_SECRET", "HOOKPROOF_SECRET"):
    mistake = "name-" + name.lower().replace("_", "-")
    mangles(mistake, name)
    mangles(mistake + "-dollar", "$" + name)
    mangles(mistake + "-braces", "${" + name + "}")

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
