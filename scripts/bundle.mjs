// Puts the compiled programs of apps/platform, with all that they import, into a few files: to find and read 2,500 modules takes
// a process twice as long as to start (ADR 0126).
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { readFile, rm, stat } from 'node:fs/promises';
import { findPackageJSON } from 'node:module';
import { join, relative, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import { put } from './build.mjs';
import { root } from './setup.mjs';

const compiled = join(root, 'apps', 'platform', 'dist');
const folder = join(root, 'apps', 'platform', 'bundle');
/** Inputs of the bundle: paths from the root. Written last, with the time at which the bundle was begun. */
const stamp = join(folder, 'inputs.json');
const DAY_MS = 86_400_000;
const fromRoot = (path) => relative(root, path).split(sep).join('/');

/** Makes the bundle again when something that is in it has changed. */
export async function bundle() {
  if (await isCurrent()) return;
  const { build } = await import('esbuild');
  const begun = Date.now();
  const programs = readdirSync(compiled).filter(
    (file) => file.endsWith('.js') && /^runCommand\(/m.test(readFileSync(join(compiled, file), 'utf8')),
  );
  const { outputFiles, metafile } = await build({
    absWorkingDir: root,
    entryPoints: programs.map((file) => join(compiled, file)),
    outdir: folder,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: `node${process.versions.node}`,
    keepNames: true,
    // It adds to a global what every other file needs at once, and files of a bundle have no such order.
    external: ['reflect-metadata'],
    // CommonJS packages ask for modules of Node.
    banner: {
      js: `import { createRequire as bundleRequire } from 'node:module'; const bundleUrl = import.meta.url, require = bundleRequire(bundleUrl);`,
    },
    plugins: [whereItWas, leaveToNode],
    metafile: true,
    write: false,
    logLevel: 'error',
  });
  const files = outputFiles.map(({ path }) => path);
  // Programs import the other files, which therefore come first.
  const isProgram = ({ path }) => programs.includes(relative(folder, path));
  for (const { path, contents } of outputFiles.toSorted((a, b) => isProgram(a) - isProgram(b)))
    await put(path, contents, begun);
  // A process that runs may import a file of the bundle it began with.
  for (const file of readdirSync(folder).map((name) => join(folder, name)))
    if (!files.includes(file) && (await stat(file)).mtimeMs < begun - DAY_MS) await rm(file, { force: true });
  await put(stamp, JSON.stringify(Object.keys(metafile.inputs)), begun);
}

async function isCurrent() {
  if (!existsSync(stamp)) return false;
  const { mtimeMs: begun } = await stat(stamp);
  const inputs = ['scripts/bundle.mjs', 'package-lock.json', ...JSON.parse(readFileSync(stamp, 'utf8'))];
  const times = await Promise.all(inputs.map((file) => stat(join(root, file)).catch(() => undefined)));
  return times.every((it) => it !== undefined && it.ctimeMs < begun);
}

/** A file that starts a thread or reads another beside it finds it where it was compiled or installed. */
const whereItWas = {
  name: 'where it was',
  setup: ({ onLoad }) =>
    onLoad({ filter: /\.[cm]?js$/ }, async ({ path }) => {
      const text = await readFile(path, 'utf8');
      const url = `new URL('../../../${fromRoot(path)}', bundleUrl)`;
      if (/\bimport\.meta\b/.test(text))
        return { contents: text.replaceAll(/\bimport\.meta\b/g, `({ url: ${url}.href })`) };
      if (!/\b__(?:dirname|filename)\b/.test(text)) return undefined;
      const names = `const __filename = require('node:url').fileURLToPath(${url}), __dirname = require('node:path').dirname(__filename);`;
      return { contents: `${names}${text}` };
    }),
};

/**
 * Packages import others that are there only where they are used: such an import fails when it is made, as it does in production.
 * A CommonJS module that is imported at run time is left to Node, which finds its named exports; esbuild would give `default` only.
 */
const leaveToNode = {
  name: 'leave to Node',
  setup({ onResolve, resolve }) {
    const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
    onResolve({ filter: /./ }, async ({ path, kind, importer, resolveDir, pluginData }) => {
      if (kind !== 'dynamic-import' || pluginData === leaveToNode) return undefined;
      const found = await resolve(path, { kind, importer, resolveDir, pluginData: leaveToNode });
      const [installed] = /^node_modules\/(?:.*\/node_modules\/)?(?:@[^/]+\/)?[^/]+/.exec(fromRoot(found.path)) ?? [];
      if (found.errors.length > 0 || packages[installed]?.dev) return { path, external: true };
      if (found.external || findPackageType(found.path) === 'module') return found;
      return { path: `../../../${fromRoot(found.path)}`, external: true };
    });
  },
};

function findPackageType(file) {
  if (file.endsWith('.mjs')) return 'module';
  if (file.endsWith('.cjs')) return 'commonjs';
  return JSON.parse(readFileSync(findPackageJSON(pathToFileURL(file)), 'utf8')).type ?? 'commonjs';
}
