import { describe, expect, it } from 'vitest';
import { STACKS, titleOfStack } from '../../contract/index.ts';
import { codeFor, MISTAKES } from '../../contract/mistakes/index.ts';

describe('the fix', () => {
  const fix = {
    rule: 'The rule.',
    node: 'In Node.',
    express: 'In Express.',
    python: 'In Python.',
    django: 'In Django.',
  };
  it.each([
    ['express', 'In Express.'],
    ['django', 'In Django.'],
    ['python', 'In Python.'],
    ['flask', 'In Python.'],
    ['nestjs', 'In Express.'],
    ['node', 'In Node.'],
    ['fastify', 'In Node.'],
  ] as const)('for %s is: %s', (name, text) => {
    expect(codeFor(fix, name)).toBe(text);
  });

  it('for another stack is the rule alone', () => {
    expect(codeFor(fix, 'go')).toBeUndefined();
  });

  it.each(STACKS)('for raw bytes in %s also says what a body gets that is not a JSON object', (stack) => {
    for (const id of ['reserialised-body', 'undefined-body-throws', 'parsing-before-verification'] as const) {
      expect(codeFor(MISTAKES[id].fix, stack)).toMatch(/\b400\b|BadRequestException/);
    }
  });

  it('for a stack never names another language', () => {
    const foreign = Object.entries(MISTAKES).flatMap(([name, { fix: texts }]) =>
      STACKS.flatMap((stack) => {
        const { language } = titleOfStack(stack);
        const text = codeFor(texts, stack) ?? '';
        return FOREIGN.filter(([pattern, own]) => own !== language && pattern.test(text)).map(
          ([pattern]) => `${name}, ${stack}: ${pattern.source}`,
        );
      }),
    );
    expect(foreign).toEqual([]);
  });
});

/** Words that occur in only one language. */
const FOREIGN: readonly (readonly [pattern: RegExp, language: string])[] = [
  [/\bNode\b|Express\b|timingSafeEqual|JSON\.stringify/, 'JavaScript'],
  [/json\.(?:loads|dumps)|compare_digest/, 'Python'],
  [/php:\/\/|json_decode|json_encode|hash_equals/, 'PHP'],
  [/io\.ReadAll|json\.Unmarshal/, 'Go'],
];
