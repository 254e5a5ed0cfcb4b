import { QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import type { OperationContext, sealData, SealedData } from '@attestry/contracts';
import type { RequestOf } from '@attestry/service-kit';
import { LoggedDataKeys } from '../logged-data-keys.js';

export class SealData {
  constructor(
    readonly request: RequestOf<typeof sealData>,
    readonly context: OperationContext,
  ) {}
}

@QueryHandler(SealData)
export class SealDataHandler implements IQueryHandler<SealData> {
  constructor(private readonly keys: LoggedDataKeys) {}

  async execute({ request: { body } }: SealData): Promise<SealedData> {
    return { data: await this.keys.seal(body) };
  }
}
