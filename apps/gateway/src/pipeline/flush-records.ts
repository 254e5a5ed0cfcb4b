import type { Dependencies } from './dependencies.js';
import type { Admitted } from './exchange.js';

type Used = Pick<Dependencies, 'recorders' | 'config'>;

/** Records of this process that wait for their batch are sent, so that a list has the calls that were answered before it. */
export const flushRecords = (_exchange: Admitted, { recorders, config }: Used): Promise<void> =>
  recorders.flush(config.ownWriteMs);
