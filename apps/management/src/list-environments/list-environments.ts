import { QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import type { Environment, listEnvironments, OperationContext, PageOf } from '@attestry/contracts';
import { InvalidCursor } from '@attestry/read-model';
import { PlatformConfig, type RequestOf } from '@attestry/service-kit';
import { managementCaller } from '../management-caller.js';
import { DEFAULT_LIMIT, ListCursors } from '../tenant-lists/list-cursors.js';

export class ListEnvironments {
  constructor(
    readonly request: RequestOf<typeof listEnvironments>,
    readonly context: OperationContext,
  ) {}
}

/** Environments have no time of creation: their order is that of the configuration, and their cursors name only the id. */
const NO_TIME = '1970-01-01T00:00:00.000Z';

@QueryHandler(ListEnvironments)
export class ListEnvironmentsHandler implements IQueryHandler<ListEnvironments> {
  constructor(
    private readonly config: PlatformConfig,
    private readonly cursors: ListCursors,
  ) {}

  async execute({ request, context }: ListEnvironments): Promise<PageOf<Environment>> {
    managementCaller(context);
    const { environments } = this.config;
    const codec = this.cursors.codec('environments', '');
    const { limit = DEFAULT_LIMIT, cursor } = request.query;
    const start = await this.cursors.read(() => {
      if (cursor === undefined) return 0;
      const { id } = codec.decode(cursor);
      const at = environments.findIndex((environment) => environment.id === id);
      if (at < 0) throw new InvalidCursor();
      return at + 1;
    });
    const data = environments.slice(start, start + limit);
    const last = start + limit < environments.length ? data.at(-1) : undefined;
    return { data, ...(last && { nextCursor: codec.encode({ time: NO_TIME, id: last.id }) }) };
  }
}
