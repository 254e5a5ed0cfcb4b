// Loads TypeScript in the process that runs the tests, and Jest's functions without Jest's own modules.
import { existsSync, readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';
import { transformSync } from '@swc/core';

const JEST_GLOBALS = new URL('jest-globals.mjs', import.meta.url).href;

/** The TypeScript that an import of a `.js` file names; undefined where there is none beside it. */
const sourceOf = (url) => {
  const source = new URL(url.href.replace(/\.js$/, '.ts'));
  return existsSync(source) ? source.href : undefined;
};

registerHooks({
  resolve(specifier, context, next) {
    if (specifier === '@jest/globals') return { url: JEST_GLOBALS, shortCircuit: true };
    const isOwn = context.parentURL?.split('?')[0].endsWith('.ts') && /^\.{1,2}\/.*\.js$/.test(specifier);
    const source = isOwn && sourceOf(new URL(specifier, context.parentURL));
    return source ? { url: source, shortCircuit: true } : next(specifier, context);
  },
  load(url, context, next) {
    const path = url.split('?')[0];
    if (!path.startsWith('file:') || !path.endsWith('.ts')) return next(url, context);
    const filename = fileURLToPath(path);
    const { code } = transformSync(readFileSync(filename, 'utf8'), { filename, sourceMaps: 'inline' });
    return { format: 'module', source: code, shortCircuit: true };
  },
});
