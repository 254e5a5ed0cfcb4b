import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { newId } from '@attestry/keys';
import type { TokenKeyRotation } from '../token-keys/token-keys.js';
import { writeAtomically } from '../../platform/register-management-client/write-atomically.js';

/**
 * How the token keys are rotated while a platform runs on the data folder: the command writes a request with an id, the
 * platform rotates, writes the outcome under that id and removes the request.
 */
const requestFile = (dataDir: string): string => join(dataDir, 'token-key-rotation.json');
const outcomeFile = (dataDir: string): string => join(dataDir, 'token-key-rotation.done');

const MAX_LENGTH = 4096;

const readJson = async (file: string): Promise<{ id?: unknown; rotation?: TokenKeyRotation } | undefined> => {
  try {
    const text = await readFile(file, 'utf8');
    if (text.length > MAX_LENGTH) return {};
    return JSON.parse(text) as { id?: unknown };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    if (error instanceof SyntaxError) return {};
    throw error;
  }
};

/** For the command line. @returns the id of the request */
export const requestTokenKeyRotation = async (dataDir: string): Promise<string> => {
  const id = newId();
  await writeAtomically(requestFile(dataDir), `${JSON.stringify({ id })}\n`);
  return id;
};

/** Outcome of the request; `undefined` until the platform has handled it. */
export const tokenKeyRotationOutcome = async (dataDir: string, id: string): Promise<TokenKeyRotation | undefined> => {
  const outcome = await readJson(outcomeFile(dataDir));
  return outcome?.id === id ? outcome.rotation : undefined;
};

/**
 * For the platform: rotates when it was requested. A crash before the request is removed repeats it, which has no effect while the rotation
 * is in progress.
 */
export const takeTokenKeyRequest = async (dataDir: string, rotate: () => Promise<TokenKeyRotation>): Promise<void> => {
  const request = await readJson(requestFile(dataDir));
  if (!request) return;
  const rotation = await rotate();
  await writeAtomically(outcomeFile(dataDir), `${JSON.stringify({ id: request.id, rotation })}\n`);
  await rm(requestFile(dataDir), { force: true });
};
