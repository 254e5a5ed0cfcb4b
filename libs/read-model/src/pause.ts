/** Waits that can be cut short. A wake-up while nobody waits counts for the next wait, unless told otherwise. */
export class Pause {
  private readonly waiting = new Set<() => void>();
  private woken = false;

  for(ms: number): Promise<void> {
    if (this.woken) {
      this.woken = false;
      return Promise.resolve();
    }
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer);
        this.waiting.delete(done);
        resolve();
      };
      const timer = setTimeout(done, ms);
      timer.unref();
      this.waiting.add(done);
    });
  }

  constructor(private readonly remembers = true) {}

  wake(): void {
    this.woken = this.remembers && this.waiting.size === 0;
    for (const done of [...this.waiting]) done();
  }
}
