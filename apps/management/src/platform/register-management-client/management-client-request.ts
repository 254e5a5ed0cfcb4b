import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { newId } from '@attestry/keys';
import { newClientCredentials } from '../client-credentials/client-credentials.js';
import { CLIENT_ID_PATTERN, jsonFaultPosition } from '@attestry/contracts';
import type { ManagementClientCredentials } from './register-management-client.js';
import { secretDigest } from '../client-credentials/secret-digest.js';
import { writeAtomically } from './write-atomically.js';

/**
 * How a management client is created while a platform runs on the data folder: a command writes `<uuid>.json` to `management-clients.d`
 * (mode 0700) and shows the secret it generated; the platform registers the client and replaces the file by `<uuid>.done`, or
 * `<uuid>.rejected` with the reason. The secret itself is never written to the disk.
 */
export interface ManagementClientRequest {
  name: string;
  client_id: string;
  /** base64url SHA-256 */
  client_secret_sha256: string;
}

export type RequestOutcome = { status: 'pending' } | { status: 'done' } | { status: 'rejected'; reason: string };

export const requestFolder = (dataDir: string): string => join(dataDir, 'management-clients.d');

export const requestFile = (dataDir: string, id: string, ending: 'json' | 'done' | 'rejected'): string =>
  join(requestFolder(dataDir), `${id}.${ending}`);

/** @returns the request, or what is wrong with it */
export const parseManagementClientRequest = (text: string): ManagementClientRequest | string => {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return `must be JSON: ${jsonFaultPosition(text)}`;
    throw error;
  }
  const { name, client_id, client_secret_sha256 } = (value ?? {}) as Record<string, unknown>;
  if (typeof name !== 'string' || !name.trim() || name.length > 255 || !name.isWellFormed())
    return 'name must have 1 to 255 characters';
  if (typeof client_id !== 'string' || !CLIENT_ID_PATTERN.test(client_id))
    return 'client_id must have 32 letters and digits';
  if (typeof client_secret_sha256 !== 'string' || !/^[A-Za-z0-9_-]{43}$/.test(client_secret_sha256))
    return 'client_secret_sha256 must be 32 bytes in base64url';
  return { name: name.trim(), client_id, client_secret_sha256 };
};

/** For the command line: generates credentials and writes the request. `id` identifies it for {@link managementClientOutcome}. */
export const requestManagementClient = async (
  dataDir: string,
  name: string,
): Promise<ManagementClientCredentials & { id: string }> => {
  const { clientId, clientSecret } = newClientCredentials();
  const request: ManagementClientRequest = {
    name,
    client_id: clientId,
    client_secret_sha256: secretDigest(clientSecret),
  };
  const checked = parseManagementClientRequest(JSON.stringify(request));
  if (typeof checked === 'string') throw new Error(checked);
  const id = newId();
  await mkdir(requestFolder(dataDir), { recursive: true, mode: 0o700 });
  await writeAtomically(requestFile(dataDir, id, 'json'), `${JSON.stringify(request)}\n`);
  return { id, clientId, clientSecret };
};

/** Outcome of a request: `done` once the client can get tokens. */
export const managementClientOutcome = async (dataDir: string, id: string): Promise<RequestOutcome> => {
  const read = async (ending: 'done' | 'rejected'): Promise<string | undefined> => {
    try {
      return await readFile(requestFile(dataDir, id, ending), 'utf8');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw error;
    }
  };
  if ((await read('done')) !== undefined) return { status: 'done' };
  const rejected = await read('rejected');
  return rejected === undefined
    ? { status: 'pending' }
    : { status: 'rejected', reason: (JSON.parse(rejected) as { reason: string }).reason };
};
