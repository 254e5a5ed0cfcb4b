import { QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import type { Environment, listEnvironments, OperationContext, PageOf } from '@attestry/contracts';
import { KeyVault } from '@attestry/keys';
import { InvalidCursor } from '@attestry/read-model';
import { DEFAULT_LIMIT, listCursors, PlatformConfig, type RequestOf } from '@attestry/service-kit';
import { managementCaller } from '../management-caller.js';

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
    private readonly vault: KeyVault,
  ) {}

  async execute({ request, context }: ListEnvironments): Promise<PageOf<Environment>> {
    managementCaller(context);
    const { environments } = this.config;
    const codec = listCursors(this.vault, ['management', 'environments']);
    const { limit = DEFAULT_LIMIT, cursor } = request.query;
    let start = 0;
    if (cursor !== undefined) {
      const { id } = codec.decode(cursor);
      start = environments.findIndex((environment) => environment.id === id) + 1;
      if (start === 0) throw new InvalidCursor();
    }
    const data = environments.slice(start, start + limit);
    const last = start + limit < environments.length ? data.at(-1) : undefined;
    return { data, ...(last && { nextCursor: codec.encode({ time: NO_TIME, id: last.id }) }) };
  }
}
