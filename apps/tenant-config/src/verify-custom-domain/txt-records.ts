import { Injectable } from '@nestjs/common';
import { DnsBudgetExceeded, OutboundResolver } from '@attestry/service-kit';

/** The record is unavailable: it or the name does not exist, or there was no response in time. */
export class NoTxtRecord extends Error {
  override readonly name = 'NoTxtRecord';
}

/** Present TXT records: not cached here, nor by c-ares under Node. */
@Injectable()
export class TxtRecords {
  constructor(private readonly resolver: OutboundResolver) {}

  /**
   * Values at exactly this name, the strings of each joined (RFC 1035 §3.3.14: a value may come in several).
   * @throws NoTxtRecord; DnsBudgetExceeded (503) when the tenant's look-ups took too long before this one
   */
  async lookUp(tenantId: string, domain: string): Promise<string[]> {
    try {
      const records = await this.resolver.txt(tenantId, domain);
      return records.map((strings) => strings.join(''));
    } catch (error) {
      if (error instanceof DnsBudgetExceeded) throw error;
      throw new NoTxtRecord((error as { code?: string }).code ?? 'failed', { cause: error });
    }
  }
}
