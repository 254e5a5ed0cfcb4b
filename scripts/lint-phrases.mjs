// Fails when a phrase of phrases.json occurs in a public text: a page, an OpenAPI document, a string in the sources, or a docstring
// of libs/contracts, which the documents are generated from. `node scripts/lint-phrases.mjs [folder]`; default: the repository.
import { readFileSync, readdirSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import ts from 'typescript';
import { root } from './setup.mjs';

const PAGE =
  /^(?:README|SECURITY|CONTRIBUTING)\.md$|^docs\/guides\/|^docs\/reference\/.*\.md$|^libs\/contracts\/src\/openapi\/.*\.json$|^deploy\/.*\.md$/;
const SOURCE = /^scripts\/.+\.mjs$|^(?:apps|libs)\/[^/]+\/src\/.*\.ts$/;
// Specs and their fixtures.
const NOT_PUBLIC = /\.(?:spec|spec-fixture|contract|generated|d)\.ts$|^apps\/e2e\/|^libs\/testing\//;
const phrases = JSON.parse(readFileSync(join(import.meta.dirname, 'phrases.json'), 'utf8'));
// Words may be separated by a line break, in a docstring with the asterisk of the next line.
const pattern = new RegExp(
  `(?<![\\w-])(?:${phrases.map((it) => it.replaceAll(' ', '\\s+(?:\\*\\s+)?')).join('|')})(?![\\w-])`,
  'gi',
);

const folder = process.argv[2] ?? root;
const faults = [...filesBelow(folder)].flatMap((path) => {
  if (PAGE.test(path)) return phrasesIn(path, read(path));
  return SOURCE.test(path) && !NOT_PUBLIC.test(path) ? phrasesIn(path, read(path), textsOf) : [];
});
for (const fault of faults) console.error(fault);
process.exit(faults.length > 0 ? 1 : 0);

function* filesBelow(path) {
  for (const entry of readdirSync(path, { withFileTypes: true })) {
    const below = join(path, entry.name);
    if (entry.isFile()) yield relative(folder, below).split(sep).join('/');
    else if (entry.isDirectory() && !/^(?:\.|node_modules$|dist$)/.test(entry.name)) yield* filesBelow(below);
  }
}

function read(path) {
  return readFileSync(join(folder, path), 'utf8');
}

/** `file:line: "phrase"` for each occurrence. A file without a phrase is not parsed. */
function phrasesIn(path, text, ranges = () => [[0, text.length]]) {
  const found = [...text.matchAll(pattern)];
  if (found.length === 0) return [];
  const places = ranges(path, text);
  return found
    .filter(({ index }) => places.some(([start, end]) => index >= start && index < end))
    .map(({ 0: phrase, index }) => {
      const line = text.slice(0, index).split('\n').length;
      return `${path}:${line}: "${phrase.replace(/\s+(?:\*\s+)?/g, ' ')}"`;
    });
}

/** Start and end of every string and template text, in libs/contracts also of every docstring. */
function textsOf(path, text) {
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const found = [];
  const visit = (node) => {
    // A literal without white space is an identifier, not a text.
    if (
      (ts.isStringLiteralLike(node) && /\s/.test(node.text)) ||
      ts.isTemplateHead(node) ||
      ts.isTemplateMiddleOrTemplateTail(node)
    )
      found.push([node.getStart(file), node.end]);
    if (path.startsWith('libs/contracts/')) for (const { pos, end } of node.jsDoc ?? []) found.push([pos, end]);
    ts.forEachChild(node, visit);
  };
  visit(file);
  return found;
}
