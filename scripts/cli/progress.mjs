// Progress on standard error: standard output belongs to the result of a command.

const FIRST_MS = 3000;
const NEXT_MS = 10_000;
const MOST_MS = 60_000;

export const note = (line) => process.stderr.write(`${line}\n`);

const secondsSince = (start) => ((Date.now() - start) / 1000).toFixed(1);

/** Runs one step. A step that takes longer than 3 s is named, with the time it has taken until then, and again when it ends. */
export async function step(name, run) {
  const start = Date.now();
  let shown = false;
  let pause = NEXT_MS;
  const show = () => {
    shown = true;
    note(`${name}: running for ${secondsSince(start)} s`);
    timer = setTimeout(show, pause);
    pause = Math.min(2 * pause, MOST_MS);
  };
  let timer = setTimeout(show, FIRST_MS);
  try {
    return await run();
  } finally {
    clearTimeout(timer);
    if (shown) note(`${name}: ended after ${secondsSince(start)} s`);
  }
}
