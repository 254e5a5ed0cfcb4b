import { randomBytes } from 'node:crypto';
import { chmod, mkdir, readFile, rename, stat, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { send } from './send.mjs';

const GRANT = 'urn:ietf:params:oauth:grant-type:token-exchange';
const ACCESS_TOKEN = 'urn:ietf:params:oauth:token-type:access_token';
/** An exchanged token that ends within this time is exchanged again, milliseconds. */
const MARGIN_MS = 15_000;

/**
 * A person who signed in for a tenant.
 * @typedef {{ tenant: string, authorizationHost: string, token: string, expiresAt: number, exchanged?: { token: string, expiresAt: number } }} KeptSignIn
 * addresses without a trailing slash, times in milliseconds since the epoch
 */

export const FILE_OPTION = {
  flags: '--file <path>',
  about: 'file that keeps the token; default: attestry/sign-in.json in XDG_CONFIG_HOME or ~/.config',
};

export const fileOf = ({ file }, env = process.env) =>
  file ?? join(env.XDG_CONFIG_HOME || join(homedir(), '.config'), 'attestry', 'sign-in.json');

/**
 * @param {string} name subdomain or address of a tenant
 * @param {string} issuer of the sign-in
 * @returns the addresses of the tenant and of its authorization host; `undefined` for a name that is neither
 */
export function addressesOf(name, { issuer, authorizationHost }, { PORT, BASE_DOMAIN, PUBLIC_SCHEME }) {
  const isSubdomain = /^[a-z0-9-]+$/.test(name);
  // The built-in sign-in is at the first authorization host, which names the domain of its environment.
  const builtIn = /^(https?):\/\/auth\.([^/]+)\/people$/.exec(issuer);
  const [scheme, base] = builtIn?.slice(1) ?? [PUBLIC_SCHEME || 'http', BASE_DOMAIN || `localhost:${PORT || 8080}`];
  const tenant = isSubdomain ? `${scheme}://${name}.${base}` : name.replace(/\/$/, '');
  if (!isOrigin(tenant)) return undefined;
  const { protocol, host } = new URL(tenant);
  const auth = authorizationHost?.replace(/\/$/, '') ?? `${protocol}//auth.${host.slice(host.indexOf('.') + 1)}`;
  return isOrigin(auth) ? { tenant, authorizationHost: auth } : undefined;
}

const isOrigin = (text) => URL.canParse(text) && /^https?:/.test(text) && new URL(text).origin === text;

/** The file is replaced as a whole and is its owner's alone, also where one with other rights was there. */
export async function keepSignIn(path, signIn) {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const written = `${path}.${randomBytes(6).toString('hex')}`;
  await writeFile(written, `${JSON.stringify(signIn)}\n`, { mode: 0o600, flag: 'wx' });
  // The mode of a new file is limited by the umask only; nothing may depend on it.
  await chmod(written, 0o600);
  await rename(written, path);
}

/** @returns {Promise<KeptSignIn>} */
export async function readSignIn(path) {
  const again = 'run: npx attestry sign-in --tenant <tenant>';
  const { mode } = await stat(path).catch((cause) => {
    throw new Error(cause.code === 'ENOENT' ? `no person is signed in: ${again}` : cause.message, { cause });
  });
  if (process.platform !== 'win32' && mode & 0o077)
    throw new Error(`other users may read or write ${path}: it is not used; ${again}`);
  const signIn = JSON.parse(await readFile(path, 'utf8'));
  if (signIn.expiresAt <= Date.now()) throw new Error(`the sign-in for ${signIn.tenant} has ended: ${again}`);
  return signIn;
}

/**
 * The sign-in with a token of the tenant that is valid for a while, exchanged again where there is none.
 * @param {KeptSignIn} signIn
 * @returns {Promise<KeptSignIn>}
 */
export async function withExchangedToken(signIn) {
  if (signIn.exchanged && signIn.exchanged.expiresAt - MARGIN_MS > Date.now()) return signIn;
  const askedAt = Date.now();
  const { status, text } = await send(`${signIn.authorizationHost}/oauth/token`, {
    form: { grant_type: GRANT, subject_token: signIn.token, subject_token_type: ACCESS_TOKEN, audience: signIn.tenant },
  });
  if (status !== 200) throw new Error(`no token for ${signIn.tenant}: ${reasonIn(text) ?? `status ${status}`}`);
  const { access_token: token, expires_in: seconds } = JSON.parse(text);
  return { ...signIn, exchanged: { token, expiresAt: askedAt + seconds * 1000 } };
}

/** Without characters that a terminal interprets. */
const reasonIn = (text) => {
  try {
    const { error, error_description: description } = JSON.parse(text);
    return `${description ?? error}`.replace(/[^\x20-\x7e]/g, '?').slice(0, 300);
  } catch {
    return undefined;
  }
};
