import { createDecipheriv } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/**
 * An attack with a copy of the data folder and MASTER_KEY, without the vault's own code: unwraps the remaining keys
 * and tries them on all data that may be sealed. Formats: libs/keys, seal.ts and key-schema.jobs.ts.
 */
export interface RemainingKeys {
  tenantKeys: { tenant: string; key: Buffer }[];
  dataKeys: { tenant: string; purpose: string; id: string; key: Buffer }[];
  /** `d`: the private scalar or seed. */
  signingKeys: { tenant: string; purpose: string; id: string; d: Buffer }[];
}

const IV = 12;
const TAG = 16;
const SEALED_KEY = IV + 32 + TAG;
/** Before a wrapped tenant key: the version of the master key. */
const VERSION = 4;

const bind = (...parts: readonly string[]): Buffer =>
  Buffer.from(parts.map((part) => `${part.length}:${part}`).join(''), 'utf8');

/** Decrypts and verifies; undefined when the key or the associated data is another. */
const open = (key: Uint8Array, sealed: Uint8Array, associated: Uint8Array): Buffer | undefined => {
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, IV), { authTagLength: TAG });
  decipher.setAAD(associated);
  decipher.setAuthTag(sealed.subarray(sealed.length - TAG));
  const plain = decipher.update(sealed.subarray(IV, sealed.length - TAG));
  try {
    decipher.final();
  } catch {
    return undefined;
  }
  return plain;
};

/** The stream cipher alone: whoever has the key need not care about tag and associated data. */
const decrypt = (key: Uint8Array, sealed: Uint8Array): Buffer =>
  createDecipheriv('aes-256-gcm', key, sealed.subarray(0, IV), { authTagLength: TAG }).update(
    sealed.subarray(IV, sealed.length - TAG),
  );

const mustOpen = (key: Uint8Array, sealed: Uint8Array, associated: Uint8Array, what: string): Buffer => {
  const plain = open(key, sealed, associated);
  if (!plain) throw new Error(`${what} does not open: another format, or another master key`);
  return plain;
};

type Row = Record<string, unknown>;
const text = (row: Row, name: string): string => row[name] as string;
const blob = (row: Row, name: string): Uint8Array => row[name] as Uint8Array;

/** `masterKey`: 32 bytes in base64url, as in MASTER_KEY. The folder must not be in use: give a copy. */
export const remainingKeys = (dataDir: string, masterKey: string): RemainingKeys => {
  const master = Buffer.from(masterKey, 'base64url');
  const db = new DatabaseSync(join(dataDir, 'events.db'));
  try {
    const rows = (table: string): Row[] => db.prepare(`SELECT * FROM ${table} WHERE live = 1`).all() as Row[];
    const tenantKeys = rows('tenant_keys').map((row) => {
      const tenant = text(row, 'tenant');
      const wrapped = Buffer.from(blob(row, 'wrapped'));
      const associated = bind('tenant-key', tenant, String(wrapped.readUInt32BE(0)));
      return { tenant, key: mustOpen(master, wrapped.subarray(VERSION), associated, `the key of ${tenant}`) };
    });
    const tenantKey = (tenant: string): Buffer => tenantKeys.find((one) => one.tenant === tenant)!.key;
    const dataKeys = rows('data_keys').map((row) => {
      const [tenant, purpose, id] = [text(row, 'tenant'), text(row, 'purpose'), text(row, 'id')];
      const associated = bind('data-key', tenant, purpose, id);
      return { tenant, purpose, id, key: mustOpen(tenantKey(tenant), blob(row, 'sealed'), associated, `key ${id}`) };
    });
    const signingKeys = rows('signing_keys').map((row) => {
      const [tenant, purpose, id] = [text(row, 'tenant'), text(row, 'purpose'), text(row, 'key_id')];
      const associated = bind('signing-key', tenant, purpose, id);
      return { tenant, purpose, id, d: mustOpen(tenantKey(tenant), blob(row, 'sealed'), associated, `key ${id}`) };
    });
    return { tenantKeys, dataKeys, signingKeys };
  } finally {
    db.close();
  }
};

/** `v1.<key id>.<iv>.<ciphertext and tag>`; a key id may hold dots. */
const SEALED = /v1\.[\x21\x23-\x7e]{1,200}?\.([A-Za-z0-9_-]{16})\.([A-Za-z0-9_-]{22,})/g;

const sealedIn = (text: string): [string, Buffer][] =>
  [...text.matchAll(SEALED)].map(([, iv, content]) => [iv! + content!, Buffer.from(iv! + content!, 'base64url')]);

/** Every sealed value in every file of the folder, also those stored with a key: iv, ciphertext, tag. */
export const sealedValues = async (dataDir: string): Promise<Buffer[]> => {
  const found = new Map<string, Buffer>();
  for (const entry of await readdir(dataDir, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const text = (await readFile(join(entry.parentPath, entry.name))).toString('latin1');
    for (const [at, value] of sealedIn(text)) found.set(at, value);
  }
  const db = new DatabaseSync(join(dataDir, 'events.db'));
  try {
    for (const row of db.prepare('SELECT value FROM sealed_values').all() as Row[]) {
      const value = Buffer.from(blob(row, 'value'));
      found.set(value.toString('base64url'), value);
    }
  } finally {
    db.close();
  }
  return [...found.values()];
};

/** Every sealed value under every key, whatever it was meant for, and what is sealed in it. */
export const decryptEverything = async (dataDir: string, keys: RemainingKeys): Promise<Buffer[]> => {
  const all = [...keys.tenantKeys, ...keys.dataKeys].map(({ key }) => key);
  const plain: Buffer[] = [];
  const values = await sealedValues(dataDir);
  // The list grows: a value may be sealed twice.
  for (const sealed of values)
    for (const key of all) {
      const opened = decrypt(key, sealed);
      plain.push(opened);
      const text = opened.toString('latin1');
      if (text.startsWith('v1.')) values.push(...sealedIn(text).map(([, value]) => value));
    }
  return plain;
};

/** Whether a destroyed data key is still present, sealed, anywhere in the file of the keys or its log. */
export const isKeyRecoverable = async (
  dataDir: string,
  keys: RemainingKeys,
  { tenant, purpose, id }: { tenant: string; purpose: string; id: string },
): Promise<boolean> => {
  const tenantKey = keys.tenantKeys.find((one) => one.tenant === tenant)!.key;
  const associated = bind('data-key', tenant, purpose, id);
  for (const name of (await readdir(dataDir)).filter((one) => one.startsWith('events.db'))) {
    const content = await readFile(join(dataDir, name));
    for (let at = 0; at + SEALED_KEY <= content.length; at++) {
      const window = content.subarray(at, at + SEALED_KEY);
      if (window[0] === 0 && window[1] === 0 && window[2] === 0 && window[3] === 0) continue;
      if (open(tenantKey, window, associated)) return true;
    }
  }
  return false;
};
