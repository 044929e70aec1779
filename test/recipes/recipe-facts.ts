/** Facts about each recipe for the tests: how to make it faulty, and how its server behaves. */
import type { Stack } from '../../contract/index.ts';

interface RecipeFacts {
  /** A change after which the recipe verifies the signature over re-serialised JSON. */
  readonly mutation: { readonly find: string; readonly replace: string };
  /** Words of the language that the fix for this mutation must contain. */
  readonly fixSays: string;
  /** Checks that warn because of the recipe's server, with the reason. */
  readonly warnings?: Readonly<Record<string, string>>;
  /** A command that prints the version of the recipe's framework or language. */
  readonly version: string;
}

const nodeVersion = (name: string) => `node -p "require('${name}/package.json').version"`;
const pythonVersion = (name: string) => `python3 -c "from importlib.metadata import version as v; print(v('${name}'))"`;

const NODE = { find: '.update(rawBody)', replace: '.update(JSON.stringify(JSON.parse(rawBody)))' };

const PYTHON = {
  find: 'hmac.new(secret.encode(), body,',
  replace: 'hmac.new(secret.encode(), json.dumps(json.loads(body), separators=(",", ":")).encode(),',
};

const PHP = { find: "hash_hmac('sha256', $body,", replace: "hash_hmac('sha256', json_encode(json_decode($body))," };

const RUBY = {
  find: "digest('SHA256', secret, body)",
  replace: "digest('SHA256', secret, (JSON.generate(JSON.parse(body)) rescue body))",
};

/** Checks that may warn on a busy machine, where the sender may see the reset before the 413. */
const WAITRESS = { 'malformed/unsigned-8-mb': 'waitress answers 413 without reading the rest of the body' };

const BLANK_BEFORE_COLON = 'http/space-before-colon';

export const RECIPE_FACTS: Partial<Readonly<Record<Stack, RecipeFacts>>> = {
  express: { mutation: NODE, fixSays: 'express.raw', version: nodeVersion('express') },
  fastify: { mutation: NODE, fixSays: "parseAs: 'buffer'", version: nodeVersion('fastify') },
  nestjs: { mutation: NODE, fixSays: 'app.useBodyParser', version: nodeVersion('@nestjs/core') },
  hono: {
    mutation: NODE,
    fixSays: 'c.req.arrayBuffer()',
    version: 'node -p "JSON.parse(fs.readFileSync(\'node_modules/hono/package.json\')).version"',
  },
  python: {
    version: 'python3 -V',
    mutation: PYTHON,
    fixSays: 'self.rfile.read',
    warnings: { [BLANK_BEFORE_COLON]: 'the parser of http.server ignores the blank' },
  },
  flask: { warnings: WAITRESS, mutation: PYTHON, fixSays: 'request.get_data()', version: pythonVersion('flask') },
  fastapi: {
    version: pythonVersion('fastapi'),
    mutation: PYTHON,
    fixSays: 'await request.body()',
    warnings: { 'http/upgrade-offered': 'uvicorn answers 400 to an offer of any protocol' },
  },
  django: { warnings: WAITRESS, mutation: PYTHON, fixSays: 'request.body', version: pythonVersion('django') },
  php: {
    version: 'php -r "echo PHP_VERSION;"',
    mutation: PHP,
    fixSays: 'php://input',
    warnings: { [BLANK_BEFORE_COLON]: "the parser of PHP's own server ignores the blank" },
  },
  laravel: {
    version: 'dpkg-query --show php-laravel-framework | cut -f2',
    mutation: PHP,
    fixSays: '$request->getContent()',
    warnings: { [BLANK_BEFORE_COLON]: "the parser of PHP's own server ignores the blank" },
  },
  go: {
    version: 'go version',
    mutation: {
      find: 'mac.Write(body)',
      replace: 'var parsed any; json.Unmarshal(body, &parsed); again, _ := json.Marshal(parsed); mac.Write(again)',
    },
    fixSays: 'io.ReadAll(r.Body)',
  },
  java: {
    version: 'javac --version',
    mutation: {
      find: 'mac.doFinal(body)',
      replace:
        'mac.doFinal(new String(body, UTF_8).replaceAll("(\\"([^\\"\\\\\\\\]++|\\\\\\\\.)*+\\")|\\\\s+"' +
        ', "$1").getBytes(UTF_8))',
    },
    fixSays: 'readAllBytes',
  },
  ruby: {
    version: `ruby -e 'require "puma/const"; puts "Ruby #{RUBY_VERSION}, Puma #{Puma::Const::VERSION}"'`,
    mutation: RUBY,
    fixSays: "env['rack.input'].read",
  },
  rails: {
    version: `ruby -e 'require "rails/version"; puts "Ruby #{RUBY_VERSION}, Rails #{Rails.version}"'`,
    mutation: RUBY,
    fixSays: 'request.raw_post',
  },
};
