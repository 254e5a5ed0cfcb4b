import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A folder for one run. */
export class TemporaryFolder {
  private constructor(readonly path: string) {}

  static async make(prefix: string): Promise<TemporaryFolder> {
    const path = await mkdtemp(join(tmpdir(), prefix));
    // Engines that do not run as root reach their own folder in it.
    await chmod(path, 0o711);
    return new TemporaryFolder(path);
  }

  async remove(): Promise<void> {
    await rm(this.path, { recursive: true, force: true });
  }
}
