#!/usr/bin/env bash
# Regenerates the golden vectors, byte for byte:   make-vectors.sh [FOLDER]   (default: the folder of this script)
#
# OpenSSL computes every digest and no code of hookproof is used, so the vectors can show mistakes of hookproof. Node only assembles
# the JSON text. The secrets are on OpenSSL's command line, which is acceptable only because they are public.
#
# Bodies and secrets are written as printf '%b' texts: \x41, \n and \\ are escapes; other characters are literal.
set -euo pipefail
export LC_ALL=C

here=$(cd "$(dirname "$0")" && pwd)
out=${1:-$here}
parts=$(mktemp)
trap 'rm -f "$parts"' EXIT

# ---- digests: arguments are %b texts, unless their name contains HEX ----

hex() { od -An -v -tx1 | tr -d ' \n'; }
hex_of() { printf '%b' "$1" | hex; }
bytes_of() { printf '%b' "$(printf '%s' "$1" | sed 's/../\\x&/g')"; } # of HEX
base64_of() { bytes_of "$1" | openssl base64 -A; }                   # of HEX

# hmac HASH KEY-HEX BODY: the bytes of an HMAC. An empty key is equivalent to one zero byte (keys are padded with zeros), and
# OpenSSL accepts only the latter.
hmac() { printf '%b' "$3" | openssl dgst "-$1" -mac HMAC -macopt "hexkey:${2:-00}" -binary; }
# sign KEY-HEX BODY: an HMAC-SHA256 in base64.
sign() { hmac sha256 "$1" "$2" | openssl base64 -A; }
# right SECRET BODY: the valid signature.
right() { sign "$(hex_of "$1")" "$2"; }

# ---- one vector ----

theme=
# vector ID RESULT FAULT FLAGS SECRET BODY SIGNATURE COMMENT
vector() { printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n' "$theme" "$@" >>"$parts"; }
# valid ID FLAGS SECRET BODY COMMENT
valid() { vector "$1" valid '' "$2" "$3" "$4" "$(right "$3" "$4")" "$5"; }
# header ID FAULT FLAGS SIGNATURE COMMENT: the usual secret and body, another header value
header() { vector "$1" invalid "$2" "$3" "$secret" "$body" "$4" "$5"; }
# keyed ID FAULT SECRET KEY-HEX COMMENT: the usual body, signed with a key that is not the secret
keyed() { vector "$1" invalid "$2" '' "$3" "$body" "$(sign "$4" "$body")" "$5"; }
# signed ID FAULT BODY OTHER COMMENT: the usual secret, and a signature over another body
signed() { vector "$1" invalid "$2" '' "$secret" "$3" "$(sign "$key" "$4")" "$5"; }
# made ID FAULT COMMENT: the usual secret and body, with the digest read from standard input
made() { vector "$1" invalid "$2" '' "$secret" "$body" "$(openssl base64 -A)" "$3"; }

repeat() { local text=; local i; for ((i = 0; i < $2; i++)); do text=$text$1; done; printf '%s' "$text"; }

secret='hookproof-public-test-vector-secret-01'
# With this nonce the signature contains a "+", a "/", upper and lower case.
body='{"id":"5f0c1d9e-0000-4000-8000-000000000400","type":"WALLET","at":"2025-01-02T03:04:05Z","data":{"nonce":"n0"}}'
key=$(hex_of "$secret")

# =====================================================================================================================
theme=valid-bodies

valid 101 notification "$secret" '{"id":"5f0c1d9e-0000-4000-8000-000000000101","type":"CAAS","at":1735787045,"data":{"type":"BUY","providerId":"provider-1","transactionId":"transaction-101","metadata":{"orderStatus":"COMPLETED","blockchainData":{"targetWalletAddress":"target-wallet-1","blockchainTransactionId":"chain-hash-101","blockchainMemo":"","currency":"ETH","chain":"ETHEREUM","refundWalletAddress":"","sourceWalletAddress":"source-wallet-1"}},"errorData":null}}' 'CAAS BUY, completed'
valid 102 notification "$secret" '{"id":"5f0c1d9e-0000-4000-8000-000000000102","type":"CAAS","at":1735787046,"data":{"type":"SELL","providerId":"provider-1","transactionId":"transaction-102","metadata":{"orderStatus":"FAILED","blockchainData":{"targetWalletAddress":"","blockchainTransactionId":"","blockchainMemo":"","currency":"BTC","chain":"BITCOIN","refundWalletAddress":"refund-wallet-1","sourceWalletAddress":"source-wallet-1"}},"errorData":{"code":"352-204-S3","message":"rejected"}}}' 'CAAS SELL, failed, with errorData'
valid 103 notification "$secret" '{"id":"5f0c1d9e-0000-4000-8000-000000000103","type":"CAAS","at":1735787047,"data":{"type":"ORDER_TRACKING","providerId":"provider-2","transactionId":"transaction-103","metadata":{"orderType":"SELL","providerTransactionId":"provider-transaction-103","providerTransactionRef":"REF 103","providerTransactionStatus":"EXPIRED","trackingStateDescription":"cash was not picked up"},"errorData":null}}' 'CAAS ORDER_TRACKING, expired'
valid 104 notification "$secret" '{"id":"5f0c1d9e-0000-4000-8000-000000000104","type":"REFUND","at":1735787048,"data":{"providerId":"provider-1","transactionId":"transaction-102","status":"SUCCESS","metadata":{"blockchainTransactionId":"chain-hash-104","amount":"0.10","currency":"BTC","walletAddress":"refund-wallet-1"},"errorData":null}}' 'REFUND, success'
valid 105 notification "$secret" '{"id":"5f0c1d9e-0000-4000-8000-000000000105","type":"PAYMENT_METHOD","at":1735787049,"data":{"status":"DECLINED","paymentMethodId":"payment-method-105","accountId":"account-1","errorCode":"313-702-S3"}}' 'PAYMENT_METHOD, declined'
valid 106 notification "$secret" '{"id":"5f0c1d9e-0000-4000-8000-000000000106","type":"WALLET","at":"2025-01-02T03:04:10Z","data":{"operation":"WALLET_CREATED","customerId":"customer-1","walletAddress":"custodial-wallet-106","assetId":"ETH","chain":"ETHEREUM"}}' 'WALLET, created'
valid 107 notification "$secret" '{"id":"5f0c1d9e-0000-4000-8000-000000000107","type":"CAAS_BLOCKCHAIN","at":"2025-01-02T03:04:11Z","data":{"type":"RECEIVE","status":"COMPLETED","partnerTransactionId":"partner-transaction-107","customerId":"customer-1","metadata":{"sourceAddress":"source-wallet-1","destinationAddress":"custodial-wallet-106","asset":{"amount":"1000000000000000001","currency":"ETH"},"blockchainTransactionId":"chain-hash-107"}}}' 'CAAS_BLOCKCHAIN, received'

valid 111 ascii "$secret" '{"id":"a"}' 'Compact ASCII'
valid 112 white-space "$secret" '{ "id" : "a" , "n" : [ 1 , 2 ] }' 'Spaces around everything'
valid 113 white-space "$secret" '{"id": "a", "n": [1, 2]}' 'A space behind each colon and comma, as Python writes'
valid 114 white-space "$secret" '{\n  "id": "a",\n  "n": [\n    1\n  ]\n}' 'Indented by two spaces'
valid 115 white-space "$secret" '{\n\t"id":\t"a"\n}' 'Indented by tabs'
valid 116 number "$secret" '{"n":1.0}' 'A number with a zero fraction'
valid 117 number "$secret" '{"n":[0.10,1e3,1E+2,-0,-0.0,1e-7]}' 'Numbers that no serialiser writes back as they were'
valid 118 number "$secret" '{"n":9007199254740993}' 'An integer beyond 2^53'
valid 119 number "$secret" '{"n":12345678901234567890}' 'An integer beyond 64 bits'
valid 120 number "$secret" '{"n":0.123456789012345678}' 'Eighteen decimals'
valid 121 number "$secret" '{"n":1e400}' 'A number beyond what a double can hold'
valid 122 escape "$secret" '{"u":"https:\\/\\/example.com\\/a"}' 'Escaped slashes'
valid 123 ascii "$secret" '{"u":"https://example.com/a"}' 'Plain slashes'
valid 124 escape "$secret" '{"s":"\\u00e9"}' 'An escaped e-acute, lower-case hexadecimal'
valid 125 escape "$secret" '{"s":"\\u00E9"}' 'An escaped e-acute, upper-case hexadecimal'
valid 126 non-ascii "$secret" '{"s":"\xc3\xa9"}' 'A raw e-acute'
valid 127 non-ascii "$secret" '{"s":"e\xcc\x81"}' 'An e and a combining acute (NFD): looks like 126, and has other bytes'
valid 128 non-ascii "$secret" '{"s":"\xf0\x9f\x98\x80"}' 'A raw emoji: four bytes'
valid 129 escape "$secret" '{"s":"\\ud83d\\ude00"}' 'The emoji of 128 as two escapes'
valid 130 escape "$secret" '{"s":"\\ud83d"}' 'Half of a surrogate pair, escaped'
valid 131 non-ascii "$secret" '{"s":"\xe2\x80\xa8\xe2\x80\xa9"}' 'Raw line and paragraph separators (U+2028, U+2029)'
valid 132 non-ascii "$secret" '{"s":"\xe6\x97\xa5\xe6\x9c\xac \xd7\xa9\xd7\x9c\xd7\x95\xd7\x9d"}' 'Japanese and Hebrew'
valid 133 ascii "$secret" '{"s":"<b>&amp;'"'"'</b>"}' 'Characters that HTML-safe serialisers escape'
valid 134 escape "$secret" '{"s":"\\u003cb\\u003e\\u0026"}' 'The same, escaped'
valid 135 escape "$secret" '{"s":"\\u0000\\b\\f\\n\\r\\t\\"\\\\"}' 'Escaped control characters, quote and backslash'
valid 136 ascii "$secret" '{"b":1,"a":2}' 'Keys that are not in order'
valid 137 ascii "$secret" '{"10":1,"9":2,"a":3}' 'Keys that look like integers: JavaScript reorders them'
valid 138 ascii "$secret" '{"a":1,"a":2}' 'A key that occurs twice'
valid 139 ascii "$secret" '{"o":{},"l":[],"z":null,"t":true,"s":""}' 'Empty things'
valid 140 ascii "$secret" "{\"s\":\"$(repeat 'sixteen letters ' 192)\"}" 'A body of 3 kB'

# =====================================================================================================================
theme=odd-bytes

valid 201 not-json "$secret" '' 'No body at all'
valid 202 not-json "$secret" ' ' 'One space'
valid 203 white-space "$secret" '{"id":"a"}\n' 'A line feed at the end'
valid 204 white-space "$secret" '{\r\n"id":"a"\r\n}\r\n' 'Windows line ends'
valid 205 white-space "$secret" ' {"id":"a"}' 'A space in front'
valid 206 white-space "$secret" '{"id":"a"}   ' 'Spaces at the end'
valid 207 not-json,non-ascii "$secret" '\xef\xbb\xbf{"id":"a"}' 'A byte order mark in front'
valid 208 not-utf8 "$secret" '{"id":"x\xff\xfe"}' 'Bytes that never occur in UTF-8'
valid 209 not-utf8 "$secret" '{"id":"\xc3"}' 'Half of a two-byte character'
valid 210 not-utf8 "$secret" '{"id":"\xc0\xaf"}' 'An overlong form'
valid 211 not-utf8 "$secret" '{"id":"\xed\xa0\xbd"}' 'A surrogate encoded as three bytes'
valid 212 not-utf8 "$secret" '{"id":"\xe9"}' 'An e-acute in Latin-1'
valid 213 not-json "$secret" '{"id":"a\x00b"}' 'A NUL byte'
valid 214 not-json "$secret" '{"id":"\x01\x02\x1b[31m\x7f"}' 'Raw control characters'
valid 215 not-json "$secret" 'id=a&type=CAAS' 'A form, not JSON'
valid 216 not-json "$secret" '{"id":"a"' 'JSON that is cut off'
valid 217 not-utf8 "$secret" "$(for i in {0..255}; do printf '\\x%02x' "$i"; done)" 'Every byte once'
valid 218 not-utf8 "$secret" '\xff\xfe{\x00}\x00' 'UTF-16 with its mark'
valid 219 block-size "$secret" "{\"s\":\"$(repeat x 47)\"}" 'A body of 55 bytes: the longest whose length fits into the block of its end'
valid 220 block-size "$secret" "{\"s\":\"$(repeat x 48)\"}" 'A body of 56 bytes'
valid 221 block-size "$secret" "{\"s\":\"$(repeat x 55)\"}" 'A body of 63 bytes'
valid 222 block-size "$secret" "{\"s\":\"$(repeat x 56)\"}" 'A body of 64 bytes: one block of SHA-256'
valid 223 block-size "$secret" "{\"s\":\"$(repeat x 57)\"}" 'A body of 65 bytes'

# =====================================================================================================================
theme=secrets

base64ish='hookproofPublicTestVectorSecretNumberTwo'
hexish='feedfacedecadefacadedeafbeefcafebabedeadc0dedecadefacade'
prefixed='whsec_PublicTestOnlyNo'
accented='hookproof-public-test-vector-s\xc3\xa9cret-03'
quoted='"hookproof-public-test-vector-secret-04"'
spaced='  hookproof-public-test-vector-secret-05 '
escaped='hookproof-public-test%2Dvector+secret-06'
long="$secret-$(repeat 'and-on-and-on-' 6)the-end"

valid 301 '' 'hookproof-public-test-secret-032' "$body" '32 characters, the recommended least'
valid 302 block-size "hookproof-public-test-vector-secret-$(repeat x 27)" "$body" '63 bytes'
valid 303 block-size "hookproof-public-test-vector-secret-$(repeat x 28)" "$body" '64 bytes: one block of SHA-256'
valid 304 block-size "hookproof-public-test-vector-secret-$(repeat x 29)" "$body" '65 bytes: longer keys are hashed first'
valid 305 block-size "$long" "$body" 'More than twice the block'
valid 306 non-ascii "$accented" "$body" 'Outside ASCII: keyed with its UTF-8 bytes'
valid 307 non-ascii 'hookproof-public-test-vector-se\xcc\x81cret' "$body" 'A combining accent (NFD), not to be composed'
valid 308 non-ascii 'hookproof-public-test-vector-\xf0\x9f\x94\x91-key' "$body" 'An emoji'
valid 309 short-secret 'eight-ch' "$body" 'Eight characters: right, and far too short'
valid 310 short-secret 'x' "$body" 'One character'
valid 311 white-space 'hookproof public test vector secret' "$body" 'Spaces within'
valid 312 white-space "$spaced" "$body" 'Spaces at both ends, which belong to it'
valid 313 white-space "$secret\\n" "$body" 'A line feed at the end, which belongs to it'
valid 314 white-space "hookproof-public\\ttest-vector-secret-07" "$body" 'A tab within'
valid 315 '' "$base64ish" "$body" 'Looks like base64, and is not to be decoded'
valid 316 '' "$hexish" "$body" 'Looks like hexadecimal, and is not to be decoded'
valid 317 short-secret "$prefixed" "$body" 'Has a prefix, which belongs to it'
valid 318 '' "$quoted" "$body" 'Has quotes around it, which belong to it'
valid 319 '' "$escaped" "$body" 'Has "%2D" and "+", which stand for themselves'
valid 320 '' 'hookproof-public-$HOME-\\n-test-vector-08' "$body" 'Has a dollar sign and a backslash, which stand for themselves'

# =====================================================================================================================
theme=wrong-signatures

sum=$(hmac sha256 "$key" "$body" | hex)
signature=$(base64_of "$sum")
other=$(right 'hookproof-public-test-vector-secret-99' "$body")
# flipped POSITION: the valid digest with the lowest bit of one byte flipped
flipped() { local byte=$((16#${sum:$(($1 * 2)):2} ^ 1)); printf '%s%02x%s' "${sum:0:$(($1 * 2))}" "$byte" "${sum:$(($1 * 2 + 2))}"; }

header 401 empty-header '' '' 'An empty header'
header 402 altered-signature '' "$(base64_of "$(flipped 0)")" 'A bit flipped in byte 0 of the digest'
header 403 altered-signature '' "$(base64_of "$(flipped 7)")" 'A bit flipped in byte 7'
header 404 altered-signature '' "$(base64_of "$(flipped 15)")" 'A bit flipped in byte 15'
header 405 altered-signature '' "$(base64_of "$(flipped 16)")" 'A bit flipped in byte 16'
header 406 altered-signature '' "$(base64_of "$(flipped 31)")" 'A bit flipped in byte 31, the last'
header 407 unrelated-value '' "$(base64_of "${sum:0:42}$(repeat 00 11)")" 'The last 11 bytes are zero'
header 408 unrelated-value '' "$(base64_of "$(repeat 00 11)${sum:22}")" 'The first 11 bytes are zero'
header 409 unrelated-value '' "$(base64_of "$(repeat 00 32)")" 'All bits zero'
header 410 unrelated-value '' "$(base64_of "$(repeat ff 32)")" 'All bits one'
header 411 unrelated-value '' 'undefined' 'The word "undefined"'
header 412 unrelated-value '' "\\xc3\\xa9${signature:2}" 'Characters outside ASCII'
header 413 unrelated-value '' "${signature:0:1}" 'The first character only'
header 414 unrelated-value '' "${signature:0:4}" 'The first four characters'
header 415 truncated-signature '' "${signature:0:20}" 'The first twenty characters'
header 416 truncated-signature '' "${signature:0:42}" 'The last data character and the padding are missing'
header 417 unpadded-base64 lenient-decoder "${signature:0:43}" 'The padding is missing'
header 418 truncated-digest '' "$(base64_of "${sum:0:32}")" 'Base64 of the first half of the digest'
header 419 extra-characters lenient-decoder "${signature}AAAA" 'More base64 behind the right signature'
header 420 extra-characters lenient-decoder "${signature}=" 'One "=" too many'
header 421 several-values lenient-decoder "$signature,$signature" 'The right signature twice, with a comma'
header 422 several-values lenient-decoder "$signature, $other" 'The right signature and a wrong one'
header 423 several-values '' "$other, $signature" 'A wrong signature and the right one'
header 424 spare-bits lenient-decoder "${signature:0:42}$(printf '%s' "${signature:42:1}" | tr 'AEIMQUYcgkosw048' 'BFJNRVZdhlptx159')=" 'Another spelling: the two bits that decoders ignore are not zero'
header 425 hex '' "$sum" 'Hexadecimal'
header 426 upper-hex '' "$(printf '%s' "$sum" | tr a-f A-F)" 'Upper-case hexadecimal'
header 427 prefixed-hex '' "sha256=$sum" 'Hexadecimal with "sha256=" in front'
header 428 prefixed-base64 '' "sha256=$signature" 'Base64 with "sha256=" in front'
header 429 prefixed-header '' "v1,$signature" 'Base64 with a version in front'
header 430 hex+prefixed-header '' "t=1735787045,v1=$sum" 'A time, and hexadecimal with a version in front'
header 431 base64url lenient-decoder "$(printf '%s' "${signature:0:43}" | tr '+/' '-_')" 'The URL-safe alphabet without padding'
header 432 padded-base64url lenient-decoder "$(printf '%s' "$signature" | tr '+/' '-_')" 'The URL-safe alphabet with padding'
header 433 double-base64 '' "$(printf '%s' "$signature" | openssl base64 -A)" 'Base64 of the base64'
header 434 base64-of-hex '' "$(printf '%s' "$sum" | openssl base64 -A)" 'Base64 of the hexadecimal text'
header 435 lower-case-base64 '' "$(printf '%s' "$signature" | tr A-Z a-z)" 'In lower case'
header 436 letter-case '' "$(printf '%s' "$signature" | tr A-Za-z a-zA-Z)" 'Upper and lower case swapped'
header 437 percent-encoded '' "$(printf '%s' "$signature" | sed 's/+/%2B/g;s/\//%2F/g;s/=/%3D/g')" 'Percent-encoded'
header 438 plus-as-space '' "$(printf '%s' "$signature" | tr '+' ' ')" 'Spaces in place of "+"'
header 439 quoted-header lenient-decoder "\"$signature\"" 'In quotes'
header 440 inner-white-space lenient-decoder "${signature:0:22} ${signature:22}" 'A space in the middle'
header 441 header-name-included '' "X-Service-Signature: $signature" 'The name of the header in front'
header 442 secret-as-signature '' "$secret" 'The secret itself'
header 443 secret-as-signature '' "$(printf '%b' "$secret" | openssl base64 -A)" 'The secret in base64'

# =====================================================================================================================
theme=wrong-secrets

keyed 501 other-secret "$secret" "$(hex_of 'hookproof-public-test-vector-secret-99')" 'Another secret'
keyed 502 other-secret "$secret" "$(hex_of 'hookproof-public-test-vector-secret-02')" 'A secret that differs in its last character'
keyed 503 empty-secret "$secret" '' 'An empty secret'
keyed 504 undefined-secret "$secret" "$(hex_of undefined)" 'The word "undefined"'
keyed 505 null-secret "$secret" "$(hex_of null)" 'The word "null"'
keyed 506 secret-newline "$secret" "$(hex_of "$secret\\n")" 'With a line feed at the end'
keyed 507 secret-crlf "$secret" "$(hex_of "$secret\\r\\n")" 'With a Windows line end'
keyed 508 secret-cr "$secret" "$(hex_of "$secret\\r")" 'With a carriage return at the end'
keyed 509 secret-space "$secret" "$(hex_of "$secret ")" 'With a space at the end'
keyed 510 secret-bom "$secret" "$(hex_of "\\xef\\xbb\\xbf$secret")" 'With a byte order mark in front'
keyed 511 trimmed-secret "$spaced" "$(hex_of 'hookproof-public-test-vector-secret-05')" 'Without the spaces at its ends'
keyed 512 trimmed-secret "$secret\\n" "$(hex_of "$secret")" 'Without the line feed that belongs to it'
keyed 513 base64-decoded-secret "$base64ish" "$(printf '%s' "$base64ish" | openssl base64 -A -d | hex)" 'Base64-decoded'
keyed 514 hex-decoded-secret "$hexish" "$hexish" 'Hex-decoded'
keyed 515 prefix-stripped-secret "$prefixed" "$(hex_of "${prefixed#whsec_}")" 'Without its prefix'
keyed 516 prefix-stripped-decoded-secret "$prefixed" "$(printf '%s' "${prefixed#whsec_}" | openssl base64 -A -d | hex)" 'Without its prefix, and base64-decoded'
keyed 517 latin1-secret "$accented" "$(hex_of 'hookproof-public-test-vector-s\xe9cret-03')" 'Encoded in Latin-1'
keyed 518 ascii-secret "$accented" "$(hex_of 'hookproof-public-test-vector-s?cret-03')" 'With "?" for what is not ASCII'
keyed 519 utf16-secret "$secret" "$(hex_of "$secret" | sed 's/../&00/g')" 'Encoded in UTF-16'
keyed 520 quoted-secret "$secret" "$(hex_of "\"$secret\"")" 'With double quotes around it'
keyed 521 single-quoted-secret "$secret" "$(hex_of "'$secret'")" 'With single quotes around it'
keyed 522 unquoted-secret "$quoted" "$(hex_of 'hookproof-public-test-vector-secret-04')" 'Without the quotes that belong to it'
keyed 523 first-32-of-secret "$secret" "$(hex_of "${secret:0:32}")" 'Its first 32 characters'
keyed 524 first-64-of-secret "$long" "$(hex_of "${long:0:64}")" 'Its first 64 bytes'
keyed 525 upper-case-secret "$secret" "$(hex_of "$(printf '%s' "$secret" | tr a-z A-Z)")" 'In upper case'
keyed 526 lower-case-secret "$base64ish" "$(hex_of "$(printf '%s' "$base64ish" | tr A-Z a-z)")" 'In lower case'
keyed 527 url-decoded-secret "$escaped" "$(hex_of 'hookproof-public-test-vector secret-06')" 'URL-decoded'
keyed 528 url-encoded-secret "$spaced" "$(hex_of '%20%20hookproof-public-test-vector-secret-05%20')" 'URL-encoded'
keyed 529 base64-encoded-secret "$secret" "$(hex_of "$(printf '%b' "$secret" | openssl base64 -A)")" 'Base64-encoded'
keyed 530 hex-encoded-secret "$secret" "$(hex_of "$(hex_of "$secret")")" 'Hex-encoded'
keyed 531 hashed-secret "$secret" "$(printf '%b' "$secret" | openssl dgst -sha256 -binary | hex)" 'Its SHA-256'

# =====================================================================================================================
theme=wrong-bodies

odd=' { "id": "n-600", "at": 1735787045, "data": { "b": 1.0, "a": "caf\xc3\xa9/\\u00e9 <\\/>", "n": 12345678901234567890 } }\r\n'
signed 601 other-body "$body" '{"id":"5f0c1d9e-0000-4000-8000-000000000601","type":"WALLET"}' 'The signature of another notification'
signed 602 other-body "$body" "${body/WALLET/WALLEU}" 'One bit of the body differs'
signed 603 other-body "$body" "$body " 'One space less in the body'
signed 604 other-body '' "$body" 'The body is missing'
signed 605 empty-body "$body" '' 'The signature of an empty body'
signed 606 body-newline-added "$odd" "$odd\\n" 'With a line feed at its end'
signed 607 body-newline-removed "$odd" "${odd%\\r\\n}" 'Without its line end'
signed 608 trimmed-body "$odd" "$(x=${odd%\\r\\n}; printf '%s' "${x# }")" 'Without the white space at its ends'
signed 609 reserialised-json "$odd" '{"id":"n-600","at":1735787045,"data":{"b":1,"a":"caf\xc3\xa9/\xc3\xa9 </>","n":12345678901234567000}}' 'Written back by JavaScript'
signed 610 python-json "$odd" '{"id": "n-600", "at": 1735787045, "data": {"b": 1.0, "a": "caf\\u00e9/\\u00e9 </>", "n": 12345678901234567890}}' 'Written back by Python'
signed 611 python-compact-json "$odd" '{"id":"n-600","at":1735787045,"data":{"b":1.0,"a":"caf\xc3\xa9/\xc3\xa9 </>","n":12345678901234567890}}' 'Written back by Python, Ruby or Java as compact JSON'
signed 612 python-compact-ascii-json "$odd" '{"id":"n-600","at":1735787045,"data":{"b":1.0,"a":"caf\\u00e9/\\u00e9 </>","n":12345678901234567890}}' 'Written back by Python as compact JSON with escapes'
signed 613 php-json "$odd" '{"id":"n-600","at":1735787045,"data":{"b":1,"a":"caf\\u00e9\\/\\u00e9 <\\/>","n":1.2345678901234567e+19}}' 'Written back by PHP'
signed 614 php-unescaped-json "$odd" '{"id":"n-600","at":1735787045,"data":{"b":1,"a":"caf\xc3\xa9/\xc3\xa9 </>","n":1.2345678901234567e+19}}' 'Written back by PHP without escapes'
signed 615 go-json "$odd" '{"at":1735787045,"data":{"a":"caf\xc3\xa9/\xc3\xa9 \\u003c/\\u003e","b":1,"n":12345678901234567000},"id":"n-600"}' 'Written back by Go'
signed 616 sorted-json "$odd" '{"at":1735787045,"data":{"a":"caf\xc3\xa9/\xc3\xa9 </>","b":1,"n":12345678901234567000},"id":"n-600"}' 'Written back by JavaScript with sorted keys'
signed 617 python-sorted-json "$odd" '{"at": 1735787045, "data": {"a": "caf\\u00e9/\\u00e9 </>", "b": 1.0, "n": 12345678901234567890}, "id": "n-600"}' 'Written back by Python with sorted keys'
signed 618 python-sorted-compact-json "$odd" '{"at":1735787045,"data":{"a":"caf\\u00e9/\\u00e9 </>","b":1.0,"n":12345678901234567890},"id":"n-600"}' 'Written back by Python with sorted keys as compact JSON'
signed 619 pretty-json-2 "$odd" '{\n  "id": "n-600",\n  "at": 1735787045,\n  "data": {\n    "b": 1,\n    "a": "caf\xc3\xa9/\xc3\xa9 </>",\n    "n": 12345678901234567000\n  }\n}' 'Written back with an indent of two spaces'
signed 620 data-only "$odd" '{"b":1,"a":"caf\xc3\xa9/\xc3\xa9 </>","n":12345678901234567000}' 'The data object alone'
signed 621 timestamp-dot-body "$odd" "1735787045.$odd" 'The time, a dot and the body'
signed 622 id-timestamp-body "$odd" "n-600.1735787045.$odd" 'The id, the time and the body'
signed 623 id-body "$odd" "n-600$odd" 'The id and the body'
signed 624 id-only "$odd" 'n-600' 'The id alone'
signed 625 empty-object-body "$odd" '{}' 'An empty object'
signed 626 object-object-body "$odd" '[object Object]' 'The text that JavaScript makes of an object'
signed 627 latin1-body "$odd" "${odd/\\xc3\\xa9/\\xe9}" 'Encoded in Latin-1'
signed 628 ascii-body "$odd" "${odd/\\xc3\\xa9/?}" 'With "?" for what is not ASCII'
signed 629 double-utf8-body "$odd" "${odd/\\xc3\\xa9/\\xc3\\x83\\xc2\\xa9}" 'Encoded in UTF-8 twice'
signed 630 lossy-utf8-body '{"id":"x\xff\xfe"}' '{"id":"x\xef\xbf\xbd\xef\xbf\xbd"}' 'Decoded with replacement characters'
signed 631 bom-stripped-body '\xef\xbb\xbf{ "id": "a" }' '{ "id": "a" }' 'Without its byte order mark'
signed 632 bom-added-body "$odd" "\\xef\\xbb\\xbf$odd" 'With a byte order mark'
signed 633 crlf-to-lf-body '{\r\n "id":"a"\r\n}\r\n' '{\n "id":"a"\n}\n' 'Windows line ends turned into line feeds'
signed 634 lf-to-crlf-body '{\n "id":"a"\n}\n' '{\r\n "id":"a"\r\n}\r\n' 'Line feeds turned into Windows line ends'
signed 635 quoted-body '{"id": "a"}' '"{\\"id\\": \\"a\\"}"' 'As a JSON text'
signed 636 base64-body "$odd" "$(printf '%b' "$odd" | openssl base64 -A)" 'In base64'
signed 637 hashed-body "$odd" "$(printf '%b' "$odd" | openssl dgst -sha256 -binary | hex)" 'Its SHA-256 in hexadecimal'
signed 638 normalised-body '{"s": "e\xcc\x81"}' '{"s": "\xc3\xa9"}' 'Composed (NFC)'
signed 639 slashes-unescaped-body '{ "u": "a\\/b" }' '{ "u": "a/b" }' 'Its escaped slashes unescaped'
vector 640 invalid reserialised-json+hex '' "$secret" '{"n": 1.0}' "$(hmac sha256 "$key" '{"n":1}' | hex)" 'Written back by JavaScript, and in hexadecimal'
vector 641 invalid reserialised-json+secret-newline '' "$secret" '{"n": 1.0}' "$(right "$secret\\n" '{"n":1}')" 'Written back by JavaScript, and the secret has a line feed at its end'

# =====================================================================================================================
theme=wrong-algorithms

hmac sha1 "$key" "$body" | made 701 hmac-sha1 'HMAC with SHA-1'
hmac sha224 "$key" "$body" | made 702 hmac-sha224 'HMAC with SHA-224'
hmac sha384 "$key" "$body" | made 703 hmac-sha384 'HMAC with SHA-384'
hmac sha512 "$key" "$body" | made 704 hmac-sha512 'HMAC with SHA-512'
hmac sha512 "$key" "$body" | head -c 32 | made 705 truncated-sha512 'The first 32 bytes of an HMAC with SHA-512: the length is right'
hmac sha3-256 "$key" "$body" | made 706 hmac-sha3-256 'HMAC with SHA3-256: the length is right'
hmac md5 "$key" "$body" | made 707 hmac-md5 'HMAC with MD5'
printf '%b' "$body" | openssl dgst -sha256 -binary | made 708 unkeyed-sha256 'SHA-256 of the body, without any secret'
printf '%b' "$secret$body" | openssl dgst -sha256 -binary | made 709 secret-then-body 'SHA-256 of the secret and the body'
printf '%b' "$body$secret" | openssl dgst -sha256 -binary | made 710 body-then-secret 'SHA-256 of the body and the secret'
hmac sha256 "$(hex_of "$body")" "$secret" | made 711 swapped-arguments 'The body as key and the secret as message'

# =====================================================================================================================
# Writes the parts as JSON text. Node converts the %b texts to bytes here; every vector with an escape checks that.

node --input-type=commonjs - "$parts" "$out" <<'ASSEMBLE'
const { readFileSync, writeFileSync } = require('node:fs');
const [, , parts, out] = process.argv;
const titles = {
  'valid-bodies': 'Right signatures over every kind of notification and over JSON of every shape',
  'odd-bytes': 'Right signatures over bodies that are no JSON, no UTF-8 or hardly a body',
  secrets: 'Right signatures under secrets of every length and shape',
  'wrong-signatures': 'Right body and secret, but the header value is spelt or copied wrongly',
  'wrong-secrets': 'Signatures that were made with something other than the secret',
  'wrong-bodies': 'Signatures that were made over something other than the exact body',
  'wrong-algorithms': 'Signatures that are not HMAC-SHA256',
};
const ESCAPES = { n: '\n', r: '\r', t: '\t', '\\': '\\' };
// By way of Latin-1, in which a byte is a character.
const bytesOf = (source) => Buffer.from(source.replace(/\\(?:x([0-9a-f]{2})|(.))/g, (_, hex, letter) => hex ? String.fromCharCode(parseInt(hex, 16)) : ESCAPES[letter]), 'latin1');
const text = (source) => bytesOf(source).toString('utf8');
// The same body as text, for people to read: only where the text says it all.
const clean = (bytes) => Buffer.from(bytes.toString('utf8')).equals(bytes) && !/[\0-\x08\x0b\x0c\x0e-\x1f\x7f\u0300-\u036f\u2028\u2029\ufeff]/.test(bytes.toString('utf8'));
const themes = new Map(Object.keys(titles).map((theme) => [theme, []]));
for (const line of readFileSync(parts, 'latin1').split('\n').filter(Boolean)) {
  const [theme, id, result, fault, flags, secret, body, signature, comment] = line.split('\t');
  const bytes = bytesOf(body);
  themes.get(theme).push({
    id: Number(id),
    comment,
    bodyBase64: bytes.toString('base64'),
    ...(clean(bytes) ? { bodyText: bytes.toString('utf8') } : {}),
    secret: text(secret),
    signature: text(signature),
    result,
    fault: fault === '' ? null : fault,
    flags: flags === '' ? [] : flags.split(','),
  });
}
for (const [theme, vectors] of themes) {
  const file = {
    $schema: './vectors.schema.json',
    theme,
    title: titles[theme],
    warning: 'PUBLIC TEST SECRETS. Everybody can read them. Never configure one of them anywhere.',
    algorithm: 'base64(HMAC-SHA256(key = UTF-8 bytes of secret, message = exact bytes of body))',
    numberOfVectors: vectors.length,
    vectors,
  };
  writeFileSync(`${out}/${theme}.json`, `${JSON.stringify(file, null, 2)}\n`);
}
ASSEMBLE
