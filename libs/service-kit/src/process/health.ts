import { setTimeout as pause } from 'node:timers/promises';

/** Source of `/health/ready`. An unhealthy check makes the process unready and is named with its reason. */
export interface HealthCheck {
  name: string;
  healthy: boolean;
  /** Not yet ready, but nothing failed (catching up). */
  starting?: boolean;
  error?: string;
}

export class Health {
  private readonly checks = new Map<string, () => HealthCheck[]>();
  isClosing = false;

  register(name: string, check: () => HealthCheck[]): void {
    if (this.checks.has(name)) throw new Error(`health check ${name} is registered twice`);
    this.checks.set(name, check);
  }

  /**
   * Status of a consumer of events, a projection or a reaction. While it waits for a newer release it is healthy, and ready if it had
   * caught up before (ADR 0057).
   */
  follow(name: string, health: () => { healthy: boolean; caughtUp: boolean; error?: string }): void {
    this.register(name, () => {
      const { healthy, caughtUp, error } = health();
      return [{ name, healthy, starting: !caughtUp, ...(error !== undefined && { error }) }];
    });
  }

  /** Unready from now on: the process is shutting down. */
  close(): void {
    this.isClosing = true;
  }

  /** Resolves once the report is ready, or after a time. */
  async untilReady(withinMs: number, intervalMs = 10): Promise<void> {
    for (const end = performance.now() + withinMs; !this.report().ready && performance.now() < end;)
      await pause(intervalMs);
  }

  report(): { ready: boolean; checks: HealthCheck[] } {
    const checks = [...this.checks.values()].flatMap((check) => check());
    return { ready: !this.isClosing && checks.every(({ healthy, starting }) => healthy && !starting), checks };
  }
}
