const HOUR = 3_600_000;
const MINUTE = 60_000;
/** A long-running read prevents a partition from being dropped: retry later. */
const LOCK_NOT_AVAILABLE = '55P03';

/** Has partitions created, opened and dropped when they are due. Every process tries; the server admits one at a time. */
export class PartitionUpkeep {
  private timer: NodeJS.Timeout | undefined;
  private running: Promise<void> | undefined;
  private closed = false;

  /** @param step does one due step and returns its name, or null when none is due */
  constructor(
    private readonly step: () => Promise<string | null>,
    private readonly onFailure: (error: Error) => void,
  ) {}

  /** Resolves after the first round; a failure is reported and does not reject. */
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
