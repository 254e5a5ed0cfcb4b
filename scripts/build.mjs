// Compiles the src/ of every package, or of those that are named (`apps/dids`), to its dist/ with swc, a file at a time. An
// output carries its source's modification time, so that only what changed is compiled. Writes the types of the tests' client first,
// and bundles the programs last.
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { basename, dirname, join, relative, sep } from 'node:path';
import { bundle } from './bundle.mjs';
import { writeInterfaceTypes } from './interface-types.mjs';
import { root } from './setup.mjs';

const parallel = 16;

/**
 * Updates dist/ from src/.
 * @param {string[]} [packages] their folders, from the root; default all
 * @returns {Promise<{compiled: number, removed: number, files: number, errors: string[]}>} `errors`: a text for each
 *   file that does not compile; its old output is removed, and the next build tries it again.
 */
export async function build(packages = []) {
  const folders = packages.length > 0 ? packages.map((it) => join(root, it)) : await packageFolders();
  if (folders.includes(join(root, 'libs/testing'))) await writeInterfaceTypes();
  const sources = (await Promise.all(folders.map(sourcesOf))).flat();
  const settings = ['.swcrc', 'package-lock.json', 'scripts/build.mjs'].map((file) => stat(join(root, file)));
  const settingsChanged = Math.max(...(await Promise.all(settings)).map(({ mtimeMs }) => mtimeMs));
  const work = [];
  for (const { source, output } of sources) {
    const { mtimeMs } = await stat(source);
    const modified = Math.trunc(mtimeMs);
    const built = await stat(output).catch(absent);
    if (built && Math.round(built.mtimeMs) === modified && built.ctimeMs >= settingsChanged) continue;
    work.push({ source, output, modified });
  }
  const removed = await removeStale(folders, sources);
  const compiled = work.length;
  const errors = [];
  if (compiled > 0) {
    const { transform } = await import('@swc/core');
    await Promise.all(
      Array.from({ length: parallel }, async () => {
        for (let item = work.pop(); item; item = work.pop()) {
          const error = await produce(item, transform);
          if (error) errors.push(error);
        }
      }),
    );
  }
  if (packages.length === 0 && errors.length === 0) await bundle();
  return { compiled: compiled - errors.length, removed, files: sources.length, errors: errors.sort() };
}

function absent(error) {
  if (error.code !== 'ENOENT') throw error;
}

async function produce({ source, output, modified }, transform) {
  const text = await readFile(source);
  if (!source.endsWith('.ts')) {
    await put(output, text, modified);
    return undefined;
  }
  try {
    const { code, map } = await transform(text.toString('utf8'), {
      filename: source,
      cwd: root,
      root,
      configFile: join(root, '.swcrc'),
      sourceFileName: relative(dirname(output), source).split(sep).join('/'),
    });
    await put(`${output}.map`, map, modified);
    await put(output, `${code}//# sourceMappingURL=${basename(output)}.map\n`, modified);
    return undefined;
  } catch (error) {
    await rm(output, { force: true });
    return `${relative(root, source)}: ${error.message.split('\n\nCaused by:')[0].trim()}`;
  }
}

// Two builds may run side by side: a reader must never see half a file. The time is the source's when it was checked: a
// source that is saved meanwhile is compiled again by the next build.
export async function put(file, content, modified) {
  await mkdir(dirname(file), { recursive: true });
  const half = `${file}.${process.pid}.half`;
  await writeFile(half, content);
  await utimes(half, modified / 1000, modified / 1000);
  await rename(half, file);
}

async function packageFolders() {
  const { workspaces } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const folders = [];
  for (const pattern of workspaces) {
    if (!pattern.endsWith('/*')) folders.push(join(root, pattern));
    else {
      const parent = join(root, pattern.slice(0, -2));
      for (const entry of await readdir(parent, { withFileTypes: true })) {
        if (entry.isDirectory()) folders.push(join(parent, entry.name));
      }
    }
  }
  return folders;
}

async function sourcesOf(folder) {
  const src = join(folder, 'src');
  return (await filesBelow(src))
    .filter((file) => !/\.((spec|spec-fixture|d)\.ts|md)$/.test(file))
    .map((source) => ({
      source,
      output: join(folder, 'dist', relative(src, source)).replace(/\.ts$/, '.js'),
    }));
}

async function filesBelow(folder) {
  if (!existsSync(folder)) return [];
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter((it) => it.isFile()).map((it) => join(it.parentPath, it.name));
}

async function removeStale(folders, sources) {
  const wanted = new Set(sources.flatMap(({ output }) => [output, `${output}.map`]));
  let removed = 0;
  for (const folder of folders) {
    for (const file of await filesBelow(join(folder, 'dist'))) {
      if (wanted.has(file) || file.endsWith('.half')) continue;
      await rm(file, { force: true });
      removed += 1;
    }
  }
  return removed;
}
