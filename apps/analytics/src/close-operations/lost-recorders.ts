/** A process that records operations and has not been closed. */
export interface OpenRecorder {
  instance: string;
  participant: string;
  /** RFC 3339, UTC, milliseconds. */
  started_at: string;
  /** Milliseconds since the epoch. */
  lastSign: number;
}

export type LostRecorder<Recorder> = Recorder & {
  /** When its participant was started again, RFC 3339. */
  nextStart: string;
};

/** Three missed signs of life. */
const SILENT_MS = 30_000;

/**
 * Recorders that ended without being closed: their participant has been started again. Where several processes of a participant may run at
 * once (`shared`) they must also have been silent, since at least the time from which this process receives signs.
 */
export const lostRecorders = <Recorder extends OpenRecorder>(
  open: readonly Recorder[],
  shared: { now: number; heldSince: number } | undefined,
): LostRecorder<Recorder>[] =>
  open.flatMap((recorder) => {
    const { instance, participant, started_at: startedAt, lastSign } = recorder;
    const [next] = open
      .filter((other) => other.participant === participant && other.started_at > startedAt)
      .filter((other) => other.instance !== instance)
      .map(({ started_at }) => started_at)
      .sort();
    if (next === undefined) return [];
    if (shared && shared.now - Math.max(lastSign, shared.heldSince) < SILENT_MS) return [];
    return [{ ...recorder, nextStart: next }];
  });
