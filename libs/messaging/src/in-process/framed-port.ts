import type { MessagePort } from 'node:worker_threads';

/** Sends frames over a port; those of one turn travel together, because each postMessage wakes the other thread. */
export const framedPort = <Incoming, Outgoing>(port: MessagePort) => {
  let queue: Outgoing[] = [];
  const flush = () => {
    if (!queue.length) return;
    const frames = queue;
    queue = [];
    port.postMessage(frames);
  };
  return {
    send(frame: Outgoing): void {
      if (queue.push(frame) === 1) queueMicrotask(flush);
    },
    onFrame(listener: (frame: Incoming) => void): void {
      port.on('message', (frames: Incoming[]) => frames.forEach(listener));
    },
    /** Sends what is queued, then closes both ends. */
    close(): void {
      flush();
      port.close();
    },
  };
};
