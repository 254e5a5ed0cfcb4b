/** Records that the recorders of this process have not sent yet: a query of analytics sends them first (ADR 0073). */
export class PendingRecords {
  private readonly flushes: (() => Promise<void>)[] = [];

  /** @param flush resolves when every record that was added before is in the feed */
  add(flush: () => Promise<void>): void {
    this.flushes.push(flush);
  }

  async flush(): Promise<void> {
    await Promise.all(this.flushes.map((flush) => flush()));
  }
}
