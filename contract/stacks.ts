/**
 * The stacks in which receivers are written. Fixes, recipes and the stack guessed from answers derive from this table.
 */

interface StackFacts {
  readonly title: string;
  readonly language: string;
  /**
   * Stacks whose fixes also apply to this one. Where this stack has no fix, the first of these that has one provides
   * it.
   */
  readonly fixesOf: readonly string[];
  /** The receiver to copy, in `recipes/<stack>/`, or the name of the stack whose recipe this one shares. */
  readonly recipe: string | Recipe;
}

export interface Recipe {
  /** The first file is the receiver; the others are those that its framework needs to run it. */
  readonly files: readonly string[];
  /** What must be installed before `install` and `run`, in words. */
  readonly needs: string;
  /** A command that succeeds when everything that `run` needs is installed, except what `install` provides. */
  readonly check: string;
  /** Command to run once in the recipe's folder before the first `run`. */
  readonly install?: string;
  readonly run: string;
  /**
   * Command that answers effects queries from the receiver's journal. The query is appended as the last argument
   * (contract/effects.ts).
   */
  readonly effects: string;
  /** Command to run once before the first `effects`. */
  readonly effectsBuild?: string;
  /** Files in `recipes/` itself that several recipes share. */
  readonly shared: readonly string[];
  /** Reason why no test runs this recipe. */
  readonly notRun?: string;
}

/** The file that serves any command over HTTP as an effects window. */
const NODE_SERVER = 'effects-server.mjs';
const PYTHON_SERVER = 'effects-server.py';

const NODE_SHARED = {
  effects: 'node effects.mjs',
  shared: ['journal.mjs', 'request.mjs', 'effects.mjs', NODE_SERVER],
} as const;
const PYTHON_SHARED = {
  effects: 'python3 effects.py',
  shared: ['journal.py', 'effects.py', PYTHON_SERVER],
} as const;
/** Flask and Django run on the waitress server. */
const WSGI_SHARED = { ...PYTHON_SHARED, shared: ['waitress_server.py', ...PYTHON_SHARED.shared] } as const;
const PHP_EFFECTS = {
  effects: 'php effects.php',
  shared: ['journal.php', 'serve.php', 'effects.php', PYTHON_SERVER],
} as const;
const RUBY_EFFECTS = { effects: 'ruby effects.rb', shared: ['journal.rb', 'effects.rb', PYTHON_SERVER] } as const;

const nodeRecipe = (packageName: string): Recipe => ({
  files: ['receiver.mjs', 'package.json'],
  needs: `Node.js 20 and ${packageName}`,
  check: `node -e "require.resolve('${packageName}')"`,
  install: 'npm install',
  run: 'node receiver.mjs',
  ...NODE_SHARED,
});

/** Uses a virtual environment, because the system's Python often forbids installing other packages. */
const PIP_INSTALL = 'python3 -m venv .venv && . .venv/bin/activate && pip install -r requirements.txt';

/** The stacks, sorted by language. Lists of stacks are printed in this order. */
const TABLE = {
  node: { title: 'node:http', language: 'JavaScript', fixesOf: [], recipe: 'express' },
  express: {
    title: 'Express',
    language: 'JavaScript',
    fixesOf: ['node'],
    recipe: nodeRecipe('express'),
  },
  fastify: {
    title: 'Fastify',
    language: 'JavaScript',
    fixesOf: ['node'],
    recipe: nodeRecipe('fastify'),
  },
  nestjs: {
    title: 'NestJS',
    language: 'JavaScript',
    fixesOf: ['express', 'node'],
    recipe: {
      ...nodeRecipe('@nestjs/core'),
      files: ['receiver.ts', 'package.json', 'tsconfig.json'],
      run: 'npx tsx receiver.ts',
    },
  },
  hono: {
    title: 'Hono',
    language: 'JavaScript',
    fixesOf: ['node'],
    recipe: nodeRecipe('@hono/node-server'),
  },
  python: {
    title: 'Python standard library',
    language: 'Python',
    fixesOf: [],
    recipe: {
      files: ['receiver.py', 'limited_server.py'],
      needs: 'Python 3.9',
      check: 'python3 --version',
      run: 'python3 receiver.py',
      ...PYTHON_SHARED,
    },
  },
  flask: {
    title: 'Flask',
    language: 'Python',
    fixesOf: ['python'],
    recipe: {
      files: ['receiver.py', 'requirements.txt'],
      needs: 'Flask and waitress',
      check: 'python3 -c "import flask, waitress"',
      install: PIP_INSTALL,
      run: 'python3 receiver.py',
      ...WSGI_SHARED,
    },
  },
  fastapi: {
    title: 'FastAPI',
    language: 'Python',
    fixesOf: ['python'],
    recipe: {
      files: ['receiver.py', 'limited_protocol.py', 'requirements.txt'],
      needs: 'FastAPI, uvicorn and httptools',
      check: 'python3 -c "import fastapi, uvicorn, httptools"',
      install: PIP_INSTALL,
      run: 'python3 receiver.py',
      ...PYTHON_SHARED,
    },
  },
  django: {
    title: 'Django',
    language: 'Python',
    fixesOf: ['python'],
    recipe: {
      files: ['receiver.py', 'requirements.txt'],
      needs: 'Django and waitress',
      check: 'python3 -c "import django, waitress"',
      install: PIP_INSTALL,
      run: 'python3 receiver.py',
      ...WSGI_SHARED,
    },
  },
  go: {
    title: 'Go net/http',
    language: 'Go',
    fixesOf: [],
    recipe: {
      files: ['main.go', 'journal.go', 'go.mod', 'effects.go'],
      needs: 'Go 1.19',
      check: 'go version',
      run: 'go run .',
      effects: 'go run effects.go',
      shared: [PYTHON_SERVER],
    },
  },
  java: {
    title: 'Java JDK',
    language: 'Java',
    fixesOf: [],
    recipe: {
      files: ['Receiver.java', 'Journal.java', 'Json.java', 'Effects.java'],
      needs: 'JDK 17',
      check: 'javac --version',
      run: 'javac -d build *.java && java -XX:+UseSerialGC -Xms32m -cp build Receiver',
      effectsBuild: 'javac -d build Effects.java',
      effects: 'java -cp build Effects',
      shared: [PYTHON_SERVER],
    },
  },
  spring: {
    title: 'Spring Boot',
    language: 'Java',
    fixesOf: ['java'],
    recipe: {
      files: [
        'src/main/java/com/example/Receiver.java',
        'src/main/java/com/example/Journal.java',
        'src/main/java/com/example/Effects.java',
        'pom.xml',
      ],
      needs: 'JDK 17 and Maven',
      check: 'mvn --version',
      run: 'mvn spring-boot:run',
      effectsBuild: 'mvn dependency:copy-dependencies',
      effects: 'java -cp "target/dependency/*" src/main/java/com/example/Effects.java',
      shared: [PYTHON_SERVER],
      notRun: 'Debian has no Spring Boot',
    },
  },
  php: {
    title: 'PHP',
    language: 'PHP',
    fixesOf: [],
    recipe: {
      files: ['receiver.php'],
      needs: 'PHP 8.1',
      check: 'php --version',
      run: 'php receiver.php',
      ...PHP_EFFECTS,
    },
  },
  laravel: {
    title: 'Laravel',
    language: 'PHP',
    fixesOf: ['php'],
    recipe: {
      files: ['WebhookController.php', 'receiver.php', 'composer.json'],
      needs: 'PHP 8.1 and Composer',
      check: 'php --version && composer --version',
      install: 'composer install',
      run: 'php receiver.php',
      ...PHP_EFFECTS,
    },
  },
  ruby: {
    title: 'Ruby Rack',
    language: 'Ruby',
    fixesOf: [],
    recipe: {
      files: ['receiver.rb', 'Gemfile'],
      needs: "Ruby 3.0 and Puma (Bundler, or Debian's puma)",
      check: `ruby -e 'require "puma"'`,
      install: 'bundle install',
      run: 'ruby receiver.rb',
      ...RUBY_EFFECTS,
    },
  },
  rails: {
    title: 'Rails',
    language: 'Ruby',
    fixesOf: ['ruby'],
    recipe: {
      files: ['receiver.rb', 'Gemfile'],
      needs: "Rails 6.1 and Puma (Bundler, or Debian's ruby-railties and puma)",
      check: `ruby -e 'require "puma"; require "action_controller/railtie"'`,
      install: 'bundle install',
      run: 'RUBY_GC_MALLOC_LIMIT_MAX=16000000 ruby receiver.rb',
      ...RUBY_EFFECTS,
    },
  },
  dotnet: {
    title: 'ASP.NET Core',
    language: 'C#',
    fixesOf: [],
    recipe: {
      files: ['Receiver.cs', 'Journal.cs', 'Effects.cs', 'receiver.csproj'],
      needs: '.NET 8',
      check: 'dotnet --version',
      run: 'dotnet run',
      effectsBuild: 'dotnet build',
      effects: 'dotnet run --no-build -- effects',
      shared: [PYTHON_SERVER],
      notRun: 'Debian has no .NET',
    },
  },
  rust: {
    title: 'Rust axum',
    language: 'Rust',
    fixesOf: [],
    recipe: {
      files: ['src/main.rs', 'src/journal.rs', 'src/bin/effects.rs', 'Cargo.toml'],
      needs: 'Cargo',
      check: 'cargo --version',
      run: 'cargo run --release',
      effects: 'cargo run --release --bin effects',
      shared: [PYTHON_SERVER],
      notRun: 'Debian 12 has no axum',
    },
  },
} as const satisfies Readonly<Record<string, StackFacts>>;

export type Stack = keyof typeof TABLE;

export const STACKS = Object.keys(TABLE) as readonly Stack[];

/** Returns the display names of a stack and its language. */
export function titleOfStack(stack: Stack): { readonly title: string; readonly language: string } {
  return TABLE[stack];
}

/** Lists the files of a recipe, each with its path in `recipes/` and its path in the folder to which it is copied. */
export function filesOf({
  stack,
  files,
  shared,
}: ReturnType<typeof recipeOf>): readonly { from: string; to: string }[] {
  return [...files.map((to) => ({ from: `${stack}/${to}`, to })), ...shared.map((to) => ({ from: to, to }))];
}

/** The stacks that have a recipe for a sender of another scheme, by scheme. */
export const SCHEME_RECIPES: Readonly<Record<string, readonly Stack[]>> = { 'standard-webhooks': ['express', 'flask'] };

/** Returns the receiver to copy for a stack in a scheme. Its folder has both names, and it has no effects window. */
export function recipeInScheme(stack: Stack, scheme: string): ReturnType<typeof recipeOf> {
  const recipe = recipeOf(stack);
  const shared = recipe.shared.filter((name) => !/effects/.test(name));
  // The folder is looked up by name only.
  return { ...recipe, shared, stack: `${recipe.stack}-${scheme}` as Stack };
}

/** Returns the command that serves a recipe's effects window over HTTP. */
export function effectsServerOf({ effects, shared }: Recipe): string {
  const server = shared.includes(NODE_SERVER) ? `node ${NODE_SERVER}` : `python3 ${PYTHON_SERVER}`;
  return `${server} ${effects}`;
}

/** Returns the stack itself, then the stacks whose fixes also apply to it. */
export function fixSources(stack: Stack): readonly Stack[] {
  return [stack, ...TABLE[stack].fixesOf];
}

/** Returns the receiver to copy for a stack, and the stack whose folder in `recipes/` contains it. */
export function recipeOf(stack: Stack): Recipe & { readonly stack: Stack } {
  const { recipe } = TABLE[stack];
  return typeof recipe === 'string' ? recipeOf(recipe) : { ...recipe, stack };
}
