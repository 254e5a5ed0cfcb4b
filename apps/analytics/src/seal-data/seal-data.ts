import { sealData, type SealedData } from '@attestry/contracts';
import { Operation, type RequestOf } from '@attestry/service-kit';
import { LoggedDataKeys } from '../logged-data/logged-data-keys.js';

@Operation(sealData)
export class SealData {
  constructor(private readonly keys: LoggedDataKeys) {}

  async execute({ body }: RequestOf<typeof sealData>): Promise<SealedData> {
    return { data: await this.keys.seal(body) };
  }
}
