// Test environment for Jest where test-runner.mjs runs the tests: there is no context beside that of the process.
import { ModuleMocker } from 'jest-mock';

export default class ProcessEnvironment {
  /** Jest replaces its console. */
  global = {};
  moduleMocker = new ModuleMocker(globalThis);
  fakeTimers = null;
  fakeTimersModern = null;

  async setup() {}

  async teardown() {}

  exportConditions() {
    return [];
  }

  getVmContext() {
    return null;
  }
}
