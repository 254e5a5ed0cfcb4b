const HOUR = 3_600_000;
const MINUTE = 60_000;
/** A reader that takes its time keeps a partition from being dropped: later, then. */
const LOCK_NOT_AVAILABLE = '55P03';

/** Has partitions made, opened and dropped when they are due. Every process tries; the server lets one at a time. */
export class PartitionUpkeep {
  private timer: NodeJS.Timeout | undefined;
  private running: Promise<void> | undefined;
  private closed = false;

  /** @param step does one thing that is due; answers what, or null when nothing is */
  constructor(
    private readonly step: () => Promise<string | null>,
    private readonly onFailure: (error: Error) => void,
  ) {}

  /** Resolves after the first round; a failure is told and does not reject. */
  start(): Promise<void> {
    this.running = this.round();
    return this.running;
  }

  async close(): Promise<void> {
    this.closed = true;
    clearTimeout(this.timer);
    await this.running;
  }

  private async round(): Promise<void> {
    let wait = HOUR;
    try {
      while (!this.closed && (await this.step()) !== null);
    } catch (error) {
      wait = MINUTE;
      const { cause } = error as { cause?: { code?: string } };
      if (cause?.code !== LOCK_NOT_AVAILABLE && !this.closed) this.onFailure(error as Error);
    }
    if (!this.closed) this.timer = setTimeout(() => void this.start(), wait).unref();
  }
}
