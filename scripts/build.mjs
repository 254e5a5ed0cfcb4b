// Compiles every package's src/ to its dist/ with swc, a file at a time, and only what changed since the last build.
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ensureInstalled, root } from './setup.mjs';

// Below node_modules, so that a new installation (and with it perhaps another compiler) starts from nothing.
const recordFile = join(root, 'node_modules', '.cache', 'attestry', 'build.json');
const parallel = 16;

/**
 * Brings dist/ in line with src/.
 * @returns {Promise<{compiled: number, removed: number, files: number, errors: string[]}>} `errors`: a text for each
 *   file that does not compile; its old output is gone, and the next build tries it again.
 */
export async function build() {
  const key = settingsKey();
  const last = lastRecord(key);
  const record = { key, files: {} };
  const sources = (await Promise.all((await packageFolders()).map(sourcesOf))).flat();
  const work = [];
  for (const { source, output } of sources) {
    const { mtimeMs, size } = await stat(source);
    const name = relative(root, source);
    const known = last.files[name];
    const built = existsSync(output);
    if (built && known?.mtimeMs === mtimeMs && known.size === size) record.files[name] = known;
    else {
      const text = await readFile(source);
      const entry = { mtimeMs, size, hash: createHash('sha256').update(text).digest('base64url') };
      if (built && known?.hash === entry.hash) record.files[name] = entry;
      else work.push({ source, output, name, entry, text });
    }
  }
  const removed = await removeStale(sources);
  const errors = [];
  if (work.length > 0) {
    const { transform } = await import('@swc/core');
    await Promise.all(
      Array.from({ length: parallel }, async () => {
        for (let item = work.pop(); item; item = work.pop()) {
          const error = await produce(item, transform);
          if (error) errors.push(error);
          else record.files[item.name] = item.entry;
        }
      }),
    );
  }
  const compiled = Object.keys(record.files).filter((name) => record.files[name] !== last.files[name]).length;
  if (compiled > 0 || removed > 0 || Object.keys(last.files).length !== Object.keys(record.files).length) {
    await put(recordFile, JSON.stringify(record));
  }
  return { compiled, removed, files: sources.length, errors: errors.sort() };
}

async function produce({ source, output, text }, transform) {
  if (!source.endsWith('.ts')) {
    await put(output, text);
    return undefined;
  }
  try {
    // The text that was hashed, not the file: somebody may be saving it right now.
    const { code, map } = await transform(text.toString('utf8'), {
      filename: source,
      cwd: root,
      root,
      configFile: join(root, '.swcrc'),
      sourceFileName: relative(dirname(output), source).split(sep).join('/'),
    });
    await put(`${output}.map`, map);
    await put(output, `${code}//# sourceMappingURL=${basename(output)}.map\n`);
    return undefined;
  } catch (error) {
    await rm(output, { force: true });
    return `${relative(root, source)}: ${error.message.split('\n\nCaused by:')[0].trim()}`;
  }
}

// Two builds may run side by side; a reader must never see half a file.
async function put(file, content) {
  await mkdir(dirname(file), { recursive: true });
  const half = `${file}.${process.pid}.half`;
  await writeFile(half, content);
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
    .filter((file) => !/\.(spec\.ts|d\.ts|md)$/.test(file))
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

async function removeStale(sources) {
  const wanted = new Set(sources.flatMap(({ output }) => [output, `${output}.map`]));
  let removed = 0;
  for (const folder of await packageFolders()) {
    for (const file of await filesBelow(join(folder, 'dist'))) {
      if (wanted.has(file) || file.endsWith('.half')) continue;
      await rm(file, { force: true });
      removed += 1;
    }
  }
  return removed;
}

function settingsKey() {
  const hash = createHash('sha256');
  for (const file of ['.swcrc', 'package-lock.json', 'scripts/build.mjs']) hash.update(readFileSync(join(root, file)));
  return hash.digest('hex');
}

function lastRecord(key) {
  if (!existsSync(recordFile)) return { files: {} };
  const record = JSON.parse(readFileSync(recordFile, 'utf8'));
  return record.key === key ? record : { files: {} };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await ensureInstalled();
  const start = performance.now();
  const { compiled, removed, files, errors } = await build();
  for (const error of errors) console.error(error);
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  console.log(`build: ${compiled} of ${files} files compiled, ${removed} stale outputs removed, ${seconds} s`);
  process.exit(errors.length > 0 ? 1 : 0);
}
