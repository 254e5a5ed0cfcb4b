// The commands: one file each in scripts/commands, named after the command. Its default export has
//   group        heading in the help
//   description  what it does, in one line
//   usage        its arguments, where it has some: [{ name, about, variadic?, required? }]
//   options      [{ flags, about, default?, choices?, required?, hidden? }]
//   restTo       the program that gets what follows a `--`
//   examples     lines that can be copied
//   run          (given, cli) => result; `given` has args, options and rest, `cli` is made in program.mjs
// A definition imports nothing that is not there before the first installation and build: `run` imports what it needs.
import { readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const folder = join(dirname(dirname(fileURLToPath(import.meta.url))), 'commands');

/** Sorted. */
export const commandNames = () =>
  readdirSync(folder)
    .map((file) => file.replace(/\.mjs$/, ''))
    .sort();

export const loadCommand = async (name) => (await import(pathToFileURL(join(folder, `${name}.mjs`)))).default;
