// Preloaded by a platform whose clock a test sets: `PlatformProcess.query` sends by how many milliseconds it is ahead.

const Real = Date;
let aheadMs = 0;
const now = (): number => Real.now() + aheadMs;

globalThis.Date = new Proxy(Real, {
  construct: (target, given: unknown[], newTarget) =>
    Reflect.construct(target, given.length === 0 ? [now()] : given, newTarget) as Date,
  get: (target, member, receiver) => (member === 'now' ? now : (Reflect.get(target, member, receiver) as unknown)),
});

process.on('message', (message: number) => {
  aheadMs = message;
  process.send!(null);
});
// The test ends the process by a signal: the channel does not keep it alive.
process.channel?.unref();
