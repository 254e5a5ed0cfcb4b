// Parses a command line with commander, runs the command and reports its outcome.
// Exit codes: 0 done, 1 failed, 2 wrong usage. With `--json` standard output is one JSON document, also of a failure.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { Argument, Command, CommanderError, Option } from 'commander';
import { ensureBuilt, root } from '../setup.mjs';
import { commandNames, loadCommand } from './commands.mjs';
import { note, step } from './progress.mjs';
import { runProgram } from './run-program.mjs';

const NAME = 'npx attestry';
const JSON_OPTION = { flags: '--json', about: 'print the result as one JSON document on standard output' };

/** A command was called in a way that it does not support. */
export class UsageError extends Error {}

/** @returns {Promise<number>} the exit code */
export async function runCommandLine(words) {
  const asksJson = words.slice(0, (words.indexOf('--') + 1 || Infinity) - 1).includes('--json');
  let outcome;
  try {
    outcome = await parse(words);
  } catch (error) {
    const { exitCode, line } = failureOf(error);
    if (exitCode === 0) return 0;
    note(process.env.DEBUG && exitCode === 1 ? inspect(error) : line);
    outcome = { exitCode, document: { ok: false, error: line } };
  }
  const { exitCode = 0, document = { ok: exitCode === 0 } } = outcome ?? {};
  // A command that runs until it is stopped has printed its document when it was ready.
  if (asksJson && document !== null) process.stdout.write(`${JSON.stringify(document)}\n`);
  return exitCode;
}

async function parse(words) {
  const names = commandNames();
  const [first, second] = words;
  const program = await makeProgram(names.includes(first) ? [first] : names);
  if (words.length === 0) {
    program.outputHelp();
    return { exitCode: 2, document: null };
  }
  // commander would print the help of the program for `help` with an unknown command.
  const called = first === 'help' && second !== undefined ? second : first;
  if (!called.startsWith('-') && called !== 'help' && !names.includes(called))
    throw unknownCommand(called, names, program);
  let running;
  for (const command of program.commands) {
    const definition = await loadCommand(command.name());
    const end = definition.restTo ? words.indexOf('--') : -1;
    const rest = end < 0 ? [] : words.slice(end + 1);
    if (end >= 0) words = words.slice(0, end);
    command.action((...parsed) => {
      const args = parsed.slice(0, -2);
      running = definition.run({ args, options: command.opts(), rest, words: words.slice(1) }, context(command));
    });
  }
  try {
    program.parse(words, { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError) || error.exitCode === 0) throw error;
    const command = program.commands.find((it) => it.name() === first) ?? program;
    throw new UsageError(`${lineOf(misspelled(error, command, words))}; ${allowed(command)}`);
  }
  return running;
}

const lineOf = ({ message }) => message.replace(/^error: /, '').replaceAll('\n', ' ');

/** Error of commander, with the similar name that it finds. */
function thrownBy(run) {
  try {
    run();
  } catch (error) {
    return error;
  }
}

function unknownCommand(name, names, program) {
  const { message } = thrownBy(() => program.parse([name], { from: 'user' }));
  const similar = /\(Did you mean .*\)$/.exec(message)?.[0];
  const longer = names.filter((it) => it.startsWith(`${name}-`)).join(' or ');
  const hint = similar ?? (longer && `(Did you mean ${longer}?)`);
  return new UsageError(`there is no command ${name}${hint ? ` ${hint}` : ''}; commands: ${names.join(', ')}`);
}

/** A misspelled option rather than the required one that is missing because of it. */
function misspelled(error, command, words) {
  if (error.code !== 'commander.missingMandatoryOptionValue') return error;
  const known = new Set([...command.options.map(({ long }) => long), '--help']);
  const flags = words.filter((word) => word.startsWith('--') && word !== '--').map((word) => word.split('=', 1)[0]);
  const unknown = flags.find((flag) => !known.has(flag));
  return unknown === undefined ? error : thrownBy(() => command.unknownOption(unknown));
}

/** Argument of a command. `say` prints the human-readable result, which `--json` replaces. */
function context(command) {
  const { json = false } = command.opts();
  return {
    json,
    note,
    step,
    say: (line) => (json ? note(line) : console.log(line)),
    wrongUsage: (message) => {
      throw new UsageError(`${message}; ${allowed(command)}`);
    },
    build: () => step('build', ensureBuilt),
    runProgram: (words, options) => runProgram(words, { json, ...options }),
  };
}

function allowed(command) {
  const usage = command.registeredArguments.map((it) => (it.required ? `<${it.name()}>` : `[${it.name()}]`));
  const flags = command.options.map((it) => it.flags);
  return `allowed: ${[...usage, ...flags, '--help'].join(', ')}`;
}

export async function makeProgram(names) {
  const { version, description } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const program = new Command(NAME).description(description).version(version, '--version', 'print the version');
  quiet(program);
  for (const name of names) {
    const definition = await loadCommand(name);
    const command = quiet(new Command(name)).description(definition.description).helpGroup(`${definition.group}:`);
    for (const argument of definition.usage ?? []) command.addArgument(argumentOf(argument));
    for (const option of [...(definition.options ?? []), JSON_OPTION]) command.addOption(optionOf(option));
    if (definition.restTo) command.addHelpText('after', `\nWhat follows a -- goes to ${definition.restTo}.`);
    if (definition.examples?.length)
      command.addHelpText('after', `\nExamples:\n${definition.examples.map((it) => `  $ ${it}`).join('\n')}`);
    program.addCommand(command);
  }
  return program;
}

// Faults are reported in one place, above; commander would end the process with 1 for wrong usage.
function quiet(command) {
  return command
    .exitOverride()
    .configureOutput({ outputError: () => undefined })
    .helpOption('-h, --help', 'print this help');
}

function argumentOf({ name, about, variadic, required, choices }) {
  const text = `${name}${variadic ? '...' : ''}`;
  const argument = new Argument(required ? `<${text}>` : `[${text}]`, about);
  return choices ? argument.choices(choices) : argument;
}

function optionOf({ flags, about, default: given, choices, required, hidden }) {
  const option = new Option(flags, about);
  if (given !== undefined) option.default(given);
  if (choices) option.choices(choices);
  if (hidden) option.hideHelp();
  return option.makeOptionMandatory(required === true);
}

/** An error in one line with its exit code. */
function failureOf(error) {
  if (error instanceof CommanderError) return { exitCode: error.exitCode === 0 ? 0 : 2, line: error.message };
  if (error instanceof UsageError) return { exitCode: 2, line: error.message };
  const causes = [];
  for (let cause = error; cause instanceof Error && causes.length < 5; cause = cause.cause) causes.push(cause.message);
  const line = causes.join(': ').replaceAll(/\s*\n\s*/g, ' ');
  return { exitCode: 1, line: line || String(error) };
}
