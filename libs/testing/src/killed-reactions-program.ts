// Takes notes until one of its reactions has handled some batches, then kills itself between the effects of a batch and its checkpoint.
import { setTimeout as pause } from 'node:timers/promises';
import { openNotes, startNotes, takeNote } from './killed-reactions.js';

const [folder, reaction, batches] = process.argv.slice(2);
const engines = await openNotes(folder!);
let handled = 0;
startNotes(engines, (name) => {
  if (name === reaction && ++handled === Number(batches)) process.kill(process.pid, 'SIGKILL');
});
for (let id = 0; ; id++) {
  await takeNote(engines, String(id));
  await pause(15);
}
