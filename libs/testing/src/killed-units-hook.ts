// Preloaded into a platform, which then kills itself at a gap of a unit of work: between two of its durable steps.
import { EventStore, Streams, type StreamAppend, type UnitOfWork, type UnitWrite } from '@attestry/event-store';
import type { UnitGap, UnitToKill } from './killed-units.js';

let target: UnitToKill | undefined;

const die = (): Promise<never> => {
  process.kill(process.pid, 'SIGKILL');
  return new Promise(() => undefined);
};

/** The engine's own store, without its observers. */
const engineOf = (store: EventStore & { inner?: EventStore }): EventStore =>
  store.inner ? engineOf(store.inner) : store;

const writesOf = (writes: readonly UnitWrite[], gap: UnitGap): readonly UnitWrite[] =>
  writes.map((write) => {
    if (write.kind === 'key') return write;
    if (gap === 'keys') return { ...write, store: die };
    return gap === 'single-use values' ? { ...write, store: () => write.store().then(die) } : write;
  });

/** A store that is killed at a step: the steps before it are durable, as the store waits for them. */
const storeWithGap = (store: EventStore, gap: UnitGap, last: StreamAppend): EventStore =>
  Object.assign(Object.create(store) as EventStore, {
    append: (...words: Parameters<EventStore['append']>) =>
      gap === 'keys' || gap === 'single-use values' || (gap === 'further streams' && words[0] === last.stream)
        ? die()
        : store.append(...words),
  });

const hooked = new WeakSet<EventStore>();
const hook = (store: EventStore): void => {
  if (hooked.has(store)) return;
  hooked.add(store);
  const commit = store.commit.bind(store);
  store.commit = async (unit: UnitOfWork) => {
    const last = unit.appends.at(-1)!;
    if (!target || !last.events.some(({ type }) => type === target!.event)) return commit(unit);
    const { gap } = target;
    const killed = { ...unit, writes: writesOf(unit.writes, gap) };
    await (Object.getPrototypeOf(store) as EventStore).commit.call(storeWithGap(store, gap, last), killed);
    return die();
  };
};

const { decideOn } = Streams.prototype;
Streams.prototype.decideOn = function (this: Streams, ...words: Parameters<typeof decideOn>) {
  hook(engineOf((this as unknown as { store: EventStore }).store));
  return decideOn.apply(this, words);
} as typeof decideOn;

process.on('message', (message: UnitToKill) => {
  target = message;
  process.send!('ready to be killed');
});
// The test ends the process by a signal: the channel does not keep it alive.
process.channel?.unref();
