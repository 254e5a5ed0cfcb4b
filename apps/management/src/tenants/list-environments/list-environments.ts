import { listEnvironments, type Environment, type ManagementContext, type PageOf } from '@attestry/contracts';
import { Macs } from '@attestry/keys';
import { countFittingEntries, InvalidCursor } from '@attestry/read-model';
import { DEFAULT_LIMIT, listCursors, Operation, PlatformConfig, type RequestOf } from '@attestry/service-kit';
import { managementCaller } from '../caller/management-caller.js';

/** Environments have no creation time: their order is that of the configuration, and their cursors contain only the id. */
const NO_TIME = '1970-01-01T00:00:00.000Z';

@Operation(listEnvironments)
export class ListEnvironments {
  constructor(
    private readonly config: PlatformConfig,
    private readonly macs: Macs,
  ) {}

  async execute(request: RequestOf<typeof listEnvironments>, context: ManagementContext): Promise<PageOf<Environment>> {
    managementCaller(context);
    const { environments } = this.config;
    const codec = listCursors(this.macs, ['management', 'environments']);
    const { limit = DEFAULT_LIMIT, cursor } = request.query;
    let start = 0;
    if (cursor !== undefined) {
      const { id } = codec.decode(cursor);
      start = environments.findIndex((environment) => environment.id === id) + 1;
      if (start === 0) throw new InvalidCursor();
    }
    const limited = environments.slice(start, start + limit);
    const data = limited.slice(0, countFittingEntries(limited));
    const last = start + data.length < environments.length ? data.at(-1) : undefined;
    return { data, ...(last && { nextCursor: codec.encode({ time: NO_TIME, id: last.id }) }) };
  }
}
