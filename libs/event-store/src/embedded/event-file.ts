import { moduleBeside, type JobsSource } from '@attestry/sqlite';
import type { EmbeddedOptions } from './schema.jobs.js';

const JOBS = ['schema', 'event', 'lease', 'checkpoint', 'snapshot'].map((name) =>
  moduleBeside(import.meta.url, `./${name}.jobs`),
);

/** The jobs of a file with events, leases, checkpoints and snapshots. */
export const eventFileJobs = (options: EmbeddedOptions): JobsSource => ({ jobs: JOBS, options });
