// Stryker's test runner for this repository. It loads the spec files once, with the test functions and matchers of Jest, and
// repeats the tests that reach a mutant with that mutant switched on: a few milliseconds instead of the half second of CPU that
// Jest needs to start again for each. A mutant that takes effect while modules are loaded gets a separate process.
import { dirname, relative, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { PluginKind, commonTokens, declareClassPlugin, tokens } from '@stryker-mutator/api/plugin';
import {
  DryRunStatus,
  MutantRunStatus,
  TestStatus,
  determineHitLimitReached,
  toMutantRunResult,
} from '@stryker-mutator/api/test-runner';
import { expect } from 'expect';
import * as circus from 'jest-circus';

const TEST_TIMEOUT_MS = 30_000;
/** The variable that instrumented code reads in a thread that starts while the mutant is active. */
const ACTIVE = '__STRYKER_ACTIVE_MUTANT__';

class InProcessTestRunner {
  static inject = tokens(commonTokens.options, commonTokens.logger);
  #files;
  #log;
  #loaded;
  #unhandled = [];

  constructor(options, log) {
    this.#log = log;
    this.#files = options.inProcess.specs;
  }

  /** Modules stay loaded: Stryker starts another process where that matters. */
  capabilities() {
    return { reloadEnvironment: false };
  }

  async init() {
    const { describe, it, test, beforeAll, beforeEach, afterAll, afterEach } = circus;
    Object.assign(globalThis, { describe, it, test, beforeAll, beforeEach, afterAll, afterEach, expect });
    globalThis.__stryker__ ??= {};
    for (const event of ['unhandledRejection', 'uncaughtException'])
      process.on(event, (error) => this.#unhandled.push(error));
    await import('reflect-metadata');
  }

  async dryRun({ coverageAnalysis }) {
    try {
      this.#loaded = await this.#load();
    } catch (error) {
      return { status: DryRunStatus.Error, errorMessage: error.stack };
    }
    const namesTests = coverageAnalysis === 'perTest';
    const result = await this.#run(this.#loaded, { namesTests, bail: false });
    const mutantCoverage = structuredClone(globalThis.__stryker__.mutantCoverage);
    // A test that passes only the first time would seem to kill every mutant.
    const again = await this.#run(this.#loaded, { namesTests: false, bail: false });
    const failed = ({ status }) => status === TestStatus.Failed;
    if (!result.tests.some(failed))
      for (const { id } of again.tests.filter(failed)) {
        this.#log.warn(`left out, because it passes only the first time: ${id}`);
        delete mutantCoverage.perTest[id];
      }
    return { ...result, mutantCoverage };
  }

  async mutantRun({ activeMutant, testFilter, hitLimit, mutantActivation, sandboxFileName, disableBail }) {
    const context = globalThis.__stryker__;
    context.hitLimit = hitLimit;
    context.hitCount = hitLimit === undefined ? undefined : 0;
    if (mutantActivation === 'runtime') this.#loaded ??= await this.#load();
    const bail = !disableBail;
    process.env[ACTIVE] = context.activeMutant = activeMutant.id;
    try {
      if (mutantActivation === 'static') return await this.#runWhileLoading(sandboxFileName, bail);
      const filter = testFilter && new Set(testFilter);
      return toMutantRunResult(await this.#run(this.#loaded, { filter, bail }), disableBail);
    } catch (error) {
      // A mutant with which a module cannot be loaded.
      return toMutantRunResult({ status: DryRunStatus.Error, errorMessage: error.stack });
    } finally {
      delete process.env[ACTIVE];
      delete context.activeMutant;
    }
  }

  /** A mutant that acts while modules are loaded: file by file, those beside it first, until one of its package kills it. */
  async #runWhileLoading(mutated, bail) {
    const path = relative(process.cwd(), mutated).replaceAll('\\', '/');
    const isBeside = (file) => dirname(file) === dirname(path);
    const inPackage = this.#files.filter((file) => file.startsWith(/^[^/]+\/[^/]+\//.exec(path)[0]));
    let result = { status: DryRunStatus.Complete, tests: [] };
    for (const file of [...inPackage.filter(isBeside), ...inPackage.filter((it) => !isBeside(it))]) {
      result = await this.#run(await this.#load([file]), { bail });
      if (toMutantRunResult(result).status !== MutantRunStatus.Survived) break;
    }
    return toMutantRunResult(result, !bail);
  }

  /** Each file has separate state, as in Jest: its hooks apply only to its tests. */
  async #load(files = this.#files) {
    const loaded = [];
    for (const file of files) {
      circus.resetState();
      circus.getState().testTimeout = TEST_TIMEOUT_MS;
      await import(pathToFileURL(file));
      loaded.push({ file, state: circus.getState() });
    }
    return loaded;
  }

  async #run(loaded, { filter, namesTests = false, bail }) {
    const tests = [];
    for (const { file, state } of loaded) {
      const idOf = (name) => `${file} ${name}`;
      const all = testsOf(state.rootDescribeBlock);
      const chosen = filter ? all.filter(({ name }) => filter.has(idOf(name))) : all;
      if (chosen.length === 0) continue;
      for (const { test } of all) Object.assign(test, { errors: [], status: null, seenDone: false, invocations: 0 });
      let stopped = false;
      state.unhandledErrors = [];
      state.testNamePattern = { test: (name) => !stopped && (!filter || filter.has(idOf(name))) };
      this.#unhandled.length = 0;
      const observe = ({ name, test }) => {
        if (name === 'test_start' && namesTests) globalThis.__stryker__.currentTestId = idOf(nameOf(test));
        if (name !== 'test_done') return;
        delete globalThis.__stryker__.currentTestId;
        if (bail && test.errors.length > 0) stopped = true;
      };
      circus.setState(state);
      circus.addEventHandler(observe);
      await circus.run();
      circus.removeEventHandler(observe);
      const unhandled = [...state.unhandledErrors, ...this.#unhandled];
      for (const { name, test } of chosen) {
        const errors = [...test.errors, ...unhandled];
        tests.push({
          id: idOf(name),
          name,
          fileName: resolve(file),
          timeSpentMs: test.duration ?? 0,
          ...outcomeOf(test, errors),
        });
      }
      const limit = determineHitLimitReached(globalThis.__stryker__.hitCount, globalThis.__stryker__.hitLimit);
      if (limit) return limit;
      if (stopped) break;
    }
    return { status: DryRunStatus.Complete, tests };
  }
}

function outcomeOf({ status }, errors) {
  if (errors.length > 0) return { status: TestStatus.Failed, failureMessage: messageOf(errors[0]) };
  return { status: status === 'done' ? TestStatus.Success : TestStatus.Skipped };
}

function messageOf(error) {
  const [first] = Array.isArray(error) ? error : [error];
  return first?.message ?? String(first);
}

function testsOf({ children }) {
  return children.flatMap((child) =>
    child.type === 'describeBlock' ? testsOf(child) : [{ name: nameOf(child), test: child }],
  );
}

/** The form is that of Jest's circus: titles from the outermost block on. */
function nameOf(test) {
  const titles = [];
  for (let at = test; at.parent; at = at.parent) titles.unshift(at.name);
  return titles.join(' ');
}

export const strykerPlugins = [declareClassPlugin(PluginKind.TestRunner, 'in-process', InProcessTestRunner)];

export const strykerValidationSchema = {
  properties: { inProcess: { type: 'object', properties: { specs: { type: 'array', items: { type: 'string' } } } } },
};
