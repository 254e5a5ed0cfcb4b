// Runs another program of the repository on the repository's Node, in the foreground.
import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { join } from 'node:path';
import { root } from '../setup.mjs';
import { note, step } from './progress.mjs';

/**
 * The program reports its own errors in one line. With `json` its standard output is taken as the JSON document of the result.
 *
 * @param words flags of Node, file and arguments
 * @param isText its output is for people only
 * @param name shown with the elapsed time when the program takes longer than 3 s; absent where it shows its own progress
 */
export function runProgram(words, { json = false, isText = false, name, env }) {
  const run = () =>
    new Promise((resolve, reject) => {
      const child = spawn(process.execPath, words, {
        stdio: json ? ['inherit', isText ? 2 : 'pipe', 'pipe'] : 'inherit',
        env: { ...process.env, ...env },
      });
      let out = '';
      child.stdout?.setEncoding('utf8').on('data', (text) => (out += text));
      const lastLine = passOnErrors(child);
      const forward = (signal) => child.kill(signal);
      for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, forward);
      child.on('error', reject);
      child.on('close', (code, signal) => {
        for (const it of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.off(it, forward);
        const exitCode = code ?? 128 + (constants.signals[signal] ?? 0);
        resolve({ exitCode, ...(json && { document: documentOf(out, exitCode, lastLine()) }) });
      });
    });
  return name ? step(name, run) : run();
}

/** Passes on a program's standard error. @returns its last line once it has ended: the error */
export function passOnErrors(child) {
  let last = '';
  child.stderr?.setEncoding('utf8').on('data', (text) => {
    process.stderr.write(text);
    last = (last + text).trimEnd().split('\n').at(-1);
  });
  return () => last;
}

function documentOf(out, exitCode, last) {
  try {
    return JSON.parse(out);
  } catch {
    // Output for people is still shown, but is not the document.
    if (out.trim()) note(out.trimEnd());
    return exitCode === 0 ? { ok: true } : { ok: false, error: last };
  }
}

/** `run` of a command that is a compiled program of apps/platform, which the image starts without this command line. */
export const platformProgram =
  (name, { takesJson = false } = {}) =>
  async ({ words }, cli) => {
    await cli.build();
    const file = join(root, 'apps', 'platform', 'bundle', `${name}.js`);
    const passed = words.filter((word) => takesJson || word !== '--json');
    return cli.runProgram(['--no-warnings', file, ...passed], { name });
  };
