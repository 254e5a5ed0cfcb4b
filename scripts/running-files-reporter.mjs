// A Jest reporter that keeps the names of the test files being run in the file named in ATTESTRY_RUNNING_FILE,
// so that a run that is stopped at its time limit can name what it was waiting for.
import { writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import { root } from './setup.mjs';

export default class RunningFilesReporter {
  #running = new Set();

  onTestFileStart({ path }) {
    this.#running.add(relative(root, path));
    this.#write();
  }

  onTestFileResult({ path }) {
    this.#running.delete(relative(root, path));
    this.#write();
  }

  #write() {
    writeFileSync(process.env.ATTESTRY_RUNNING_FILE, [...this.#running].map((file) => `${file}\n`).join(''));
  }
}
