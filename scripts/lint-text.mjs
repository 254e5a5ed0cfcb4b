// Lints texts that are not on disk, with the repository's own configuration: the tests prove with it that a rule reports violations.
// In (stdin): a JSON array of {filePath, text}. Out: a JSON array, in the same order, of arrays of {rule, message}.
// A text whose file exists is linted with types; any other without the rules that need them.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { text as readAll } from 'node:stream/consumers';
import { ESLint } from 'eslint';
import tseslint from 'typescript-eslint';
import { root } from './setup.mjs';

const typed = new ESLint({ cwd: root });
const untyped = new ESLint({
  cwd: root,
  overrideConfig: [{ files: ['**/*.ts'], ...tseslint.configs.disableTypeChecked }],
});
const answers = [];
for (const { filePath, text } of JSON.parse(await readAll(process.stdin))) {
  const file = join(root, filePath);
  const [result] = await (existsSync(file) ? typed : untyped).lintText(text, { filePath: file });
  answers.push(result.messages.map(({ ruleId, message }) => ({ rule: ruleId, message })));
}
process.stdout.write(JSON.stringify(answers));
