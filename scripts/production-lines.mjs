// Counts the lines of production code: TypeScript below apps/*/src and libs/*/src, without specs, contract suites,
// generated files, libs/testing and apps/e2e. Blank lines and lines that hold only a comment do not count.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './setup.mjs';

const isProduction = (file) =>
  /^(apps|libs)\/[^/]+\/src\/.+\.ts$/.test(file) &&
  !/\.(spec|contract|generated|d)\.ts$/.test(file) &&
  !/^(libs\/testing|apps\/e2e)\//.test(file);

const listed = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '-z', 'apps', 'libs'], {
  cwd: root,
  encoding: 'utf8',
});
const files = [...new Set(listed.split('\0'))].filter((file) => isProduction(file) && existsSync(join(root, file)));
const lines = files.reduce((sum, file) => sum + codeLines(readFileSync(join(root, file), 'utf8')), 0);
console.log(`production lines: ${lines} in ${files.length} files`);

/** Prettier puts a multi-line comment on separate lines, so that a line is either a comment or code. */
function codeLines(text) {
  let inComment = false;
  return text.split('\n').filter((line) => {
    const trimmed = line.trim();
    if (!inComment && trimmed.startsWith('/*')) inComment = true;
    if (inComment) {
      if (trimmed.includes('*/')) inComment = false;
      return false;
    }
    return trimmed !== '' && !trimmed.startsWith('//');
  }).length;
}
