import { open, rename } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Writes a file (mode 0600) completely or not at all, also after a power failure. */
export const writeAtomically = async (file: string, text: string): Promise<void> => {
  const unfinished = `${file}.tmp`;
  const handle = await open(unfinished, 'w', 0o600);
  try {
    await handle.chmod(0o600);
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(unfinished, file);
  const folder = await open(dirname(file), 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
};
