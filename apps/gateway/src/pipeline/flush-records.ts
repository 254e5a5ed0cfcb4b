import { inTime } from '@attestry/messaging';
import type { Dependencies } from './dependencies.js';
import type { Admitted } from './exchange.js';

/** Longest wait for the feed, milliseconds: during its outage the list is returned without the newest calls. */
const MAX_MS = 250;

/** Records of this process that wait for their batch are sent, so that a list has the calls that were answered before it. */
export const flushRecords = (_exchange: Admitted, { recorders }: Pick<Dependencies, 'recorders'>): Promise<void> =>
  inTime(recorders.flush(), MAX_MS, () => new Error('late')).catch(() => undefined);
