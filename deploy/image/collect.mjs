// node deploy/image/collect.mjs <node_modules> <out>: lays out what runs in production: bundled programs, compiled packages and production
// dependencies. No sources, tests, tools or maps; deploy/Dockerfile calls it.
import { cpSync, existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '../..');
/** Workspaces that only tests and measurements use. */
const notShipped = ['apps/e2e', 'libs/testing', 'bench'];

const [dependencies, out] = process.argv.slice(2).map((path) => resolve(path));
if (!dependencies || !out || (existsSync(out) && readdirSync(out).length > 0)) {
  console.error('node deploy/image/collect.mjs <node_modules> <out>; <out> must be empty or not there');
  process.exit(2);
}
mkdirSync(out, { recursive: true });

/** Maps and types: half of the size, and not read at run time. */
const useful = (file) => !/\.(map|d\.[cm]?ts)$/.test(file);
cpSync(dependencies, join(out, 'node_modules'), { recursive: true, verbatimSymlinks: true, filter: useful });
for (const folder of ['apps', 'libs'].flatMap((it) => readdirSync(join(root, it)).map((name) => `${it}/${name}`))) {
  if (notShipped.includes(folder) || !existsSync(join(root, folder, 'package.json'))) continue;
  const dist = join(root, folder, 'dist');
  if (!existsSync(dist)) throw new Error(`${folder} is not built`);
  take(`${folder}/package.json`);
  cpSync(dist, join(out, folder, 'dist'), { recursive: true, filter: useful });
}
cpSync(join(root, 'apps/platform/bundle'), join(out, 'apps/platform/bundle'), { recursive: true });
for (const file of ['package.json', 'LICENSE', 'deploy/image/healthcheck.mjs']) take(file);
removeDanglingLinks();

function take(file) {
  mkdirSync(dirname(join(out, file)), { recursive: true });
  cpSync(join(root, file), join(out, file));
}

// npm links every workspace, also the excluded ones.
function removeDanglingLinks() {
  const { name } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  for (const scope of [`@${name}`, '.bin']) {
    const folder = join(out, 'node_modules', scope);
    if (!existsSync(folder)) continue;
    for (const entry of readdirSync(folder)) {
      const link = join(folder, entry);
      if (lstatSync(link).isSymbolicLink() && !statSync(link, { throwIfNoEntry: false })) rmSync(link);
    }
  }
}
