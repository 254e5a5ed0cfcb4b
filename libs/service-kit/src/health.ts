/** What `/health/ready` asks. A check that is not healthy makes the process unready and names why. */
export interface HealthCheck {
  name: string;
  healthy: boolean;
  /** Not yet ready, but nothing failed (catching up). */
  starting?: boolean;
  error?: string;
}

export class Health {
  private readonly checks = new Map<string, () => HealthCheck[]>();
  private closing = false;

  register(name: string, check: () => HealthCheck[]): void {
    if (this.checks.has(name)) throw new Error(`health check ${name} is registered twice`);
    this.checks.set(name, check);
  }

  /** From now on unready: the process is shutting down. */
  close(): void {
    this.closing = true;
  }

  report(): { ready: boolean; checks: HealthCheck[] } {
    const checks = [...this.checks.values()].flatMap((check) => check());
    return { ready: !this.closing && checks.every(({ healthy, starting }) => healthy && !starting), checks };
  }
}
