/** Bytes that belong to work in progress. */
export interface Hold {
  /** To fewer bytes, when they are known. */
  shrink(bytes: number): void;
  release(): void;
}

/** Bounds the bytes that work in progress holds: further work waits, in the order in which it came. */
export class HeldBytes {
  private held = 0;
  private readonly waiting: { bytes: number; begin: () => void }[] = [];

  constructor(private readonly most: number) {}

  /** @param bytes at most `most` */
  async hold(bytes: number): Promise<Hold> {
    if (this.waiting.length > 0 || this.held + bytes > this.most)
      await new Promise<void>((begin) => this.waiting.push({ bytes, begin }));
    else this.held += bytes;
    let own = bytes;
    const shrink = (to: number): void => {
      if (to >= own) return;
      this.held -= own - to;
      own = to;
      this.beginNext();
    };
    return { shrink, release: () => shrink(0) };
  }

  private beginNext(): void {
    for (let next = this.waiting[0]; next && this.held + next.bytes <= this.most; next = this.waiting[0]) {
      this.waiting.shift();
      this.held += next.bytes;
      next.begin();
    }
  }
}
