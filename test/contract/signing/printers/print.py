"""Prints the forms of Python of each body on standard input (a JSON list), in base64, as one JSON list of lists."""
import base64
import html
import json
import sys
import urllib.parse


def forms(body):
    value, data = json.loads(body), body.encode()
    return [
        str(value),
        urllib.parse.urlencode(value),
        str(data),
        str(bytearray(data)),
        str(list(data)),
        base64.encodebytes(data).decode(),
        html.escape(body),
        urllib.parse.quote(body),
        urllib.parse.quote_plus(body),
        json.dumps(body)[1:-1],
    ]


print(json.dumps([[base64.b64encode(form.encode()).decode() for form in forms(body)] for body in json.load(sys.stdin)]))
