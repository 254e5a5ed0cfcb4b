// node deploy/compose/make-env.mjs [file]: writes the .env of docker-compose.yml from .env.example, each empty value
// replaced by 32 random bytes in base64url. Never overwrites: the values belong to the volumes.
import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const [file = join(here, '../../.env')] = process.argv.slice(2);
// A letter first: NATS reads the value of a variable as it reads its file, where digits begin a number.
const secret = () => {
  for (;;) {
    const text = randomBytes(32).toString('base64url');
    if (/^[A-Za-z]/.test(text)) return text;
  }
};
const text = readFileSync(join(here, '.env.example'), 'utf8').replace(
  /^([A-Z_]+)=$/gm,
  (_, name) => `${name}=${secret()}`,
);
try {
  writeFileSync(file, text, { mode: 0o600, flag: 'wx' });
  console.log(`wrote ${file}`);
} catch (error) {
  if (error.code !== 'EEXIST') throw error;
  console.error(`${file} is there already; it belongs to the data in the volumes`);
  process.exitCode = 1;
}
