import { Injectable } from '@nestjs/common';
import { DnsBudgetExceeded, OutboundResolver } from '@attestry/service-kit';

/** No name server answered whether there are records: none responded in time, or the response was an error. */
export class TxtLookupFailed extends Error {
  override readonly name = 'TxtLookupFailed';
}

/** c-ares: the name exists without TXT records, and it does not exist. */
const NO_RECORDS: readonly unknown[] = ['ENODATA', 'ENOTFOUND'];

/** Present TXT records: not cached here, nor by c-ares under Node. */
@Injectable()
export class TxtRecords {
  constructor(private readonly resolver: OutboundResolver) {}

  /**
   * Values at exactly this name, the strings of each joined (RFC 1035 §3.3.14: a value may come in several); empty without records.
   * @throws TxtLookupFailed; DnsBudgetExceeded (503) when the tenant's look-ups took too long before this one
   */
  async lookUp(tenantId: string, domain: string): Promise<string[]> {
    try {
      const records = await this.resolver.txt(tenantId, domain);
      return records.map((strings) => strings.join(''));
    } catch (error) {
      if (error instanceof DnsBudgetExceeded) throw error;
      const { code } = error as { code?: string };
      if (NO_RECORDS.includes(code)) return [];
      throw new TxtLookupFailed(code ?? 'failed', { cause: error });
    }
  }
}
