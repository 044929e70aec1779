/** The Dockerfile as data, and what speaks against it. */
import { DockerfileParser, type JSONInstruction, type ModifiableInstruction } from 'dockerfile-ast';
import { validate } from 'dockerfile-utils';

export interface Instruction {
  readonly keyword: string;
  /** Its arguments, and without the brackets of the exec form. */
  readonly words: readonly string[];
  /** Everything after the keyword, in one line. */
  readonly text: string;
  readonly exec: boolean;
  readonly flags: Readonly<Record<string, string>>;
}

export interface BuildStage {
  readonly name: string;
  readonly image: string;
  readonly instructions: readonly Instruction[];
}

function readInstruction(
  one: ReturnType<ReturnType<typeof DockerfileParser.parse>['getInstructions']>[number],
): Instruction {
  const json = 'getJSONStrings' in one ? (one as JSONInstruction).getJSONStrings() : [];
  const flags = 'getFlags' in one ? (one as ModifiableInstruction).getFlags() : [];
  const exec = json.length > 0;
  return {
    keyword: one.getKeyword(),
    words: exec ? json.map((word) => word.getJSONValue()) : one.getArguments().map((word) => word.getValue()),
    text: one.getArgumentsContent()?.replaceAll(/\\\n\s*/g, '') ?? '',
    exec,
    flags: Object.fromEntries(flags.map((flag) => [flag.getName(), flag.getValue() ?? ''])),
  };
}

export function readStages(text: string): BuildStage[] {
  const stages: { name: string; image: string; instructions: Instruction[] }[] = [];
  for (const one of DockerfileParser.parse(text).getInstructions()) {
    const instruction = readInstruction(one);
    if (instruction.keyword === 'FROM') {
      const [image = '', , name = String(stages.length)] = instruction.words;
      stages.push({ name, image, instructions: [] });
    } else stages.at(-1)?.instructions.push(instruction);
  }
  return stages;
}

/** What is wrong with it: by its grammar, and by what an image of ours has to be. */
export function wrongWithDockerfile(text: string): string[] {
  const stages = readStages(text);
  const final = stages.at(-1)?.instructions ?? [];
  const last = (keyword: string) => final.findLast((one) => one.keyword === keyword);
  const user = last('USER')?.text ?? 'root';
  const says = (bad: boolean, what: string) => (bad ? [what] : []);
  return [
    ...validate(text, {}).map(({ message, range }) => `line ${range.start.line + 1}: ${message}`),
    ...stages.flatMap(({ image }) =>
      says(!/:\d[\w.-]*(?:@sha256:[0-9a-f]{64})?$/.test(image), `the base ${image} has no tag with a version`),
    ),
    ...says(stages.length < 2, 'it has one stage, so what built it is in it'),
    ...says(!/^[1-9]\d*(?::[1-9]\d*)?$/.test(user), `the user ${user} is no number, or root`),
    ...says(last('ENTRYPOINT')?.exec !== true, 'its ENTRYPOINT is not in exec form, so no signal reaches it'),
    ...says(last('CMD')?.exec === false, 'its CMD is not in exec form'),
    ...final.flatMap(({ keyword }) => says(keyword === 'RUN' || keyword === 'ADD', `${keyword} in the final stage`)),
    ...stages
      .flatMap(({ instructions }) => instructions)
      .flatMap(({ keyword, text: content }) =>
        says(
          (keyword === 'ENV' || keyword === 'ARG') && /secret|password|token|api_?key/i.test(content),
          `${keyword} ${content} looks like a secret`,
        ),
      ),
  ];
}
