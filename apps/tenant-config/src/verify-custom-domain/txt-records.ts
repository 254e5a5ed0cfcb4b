import { Injectable } from '@nestjs/common';
import { DnsBudgetExceeded, OutboundResolver } from '@attestry/service-kit';

/** The record could not be had: none there, no such name, or no answer in time. */
export class NoTxtRecord extends Error {
  override readonly name = 'NoTxtRecord';
}

/** TXT records as DNS has them now: nothing is cached here, nor by c-ares under Node. */
@Injectable()
export class TxtRecords {
  constructor(private readonly resolver: OutboundResolver) {}

  /**
   * Values at exactly this name, the strings of each joined (RFC 1035 §3.3.14: a value may come in several).
   * @throws NoTxtRecord; DnsBudgetExceeded (503) when the tenant's look-ups took too long before this one
   */
  async at(tenantId: string, domain: string): Promise<string[]> {
    try {
      const records = await this.resolver.txt(tenantId, domain);
      return records.map((strings) => strings.join(''));
    } catch (error) {
      if (error instanceof DnsBudgetExceeded) throw error;
      throw new NoTxtRecord((error as { code?: string }).code ?? 'failed', { cause: error });
    }
  }
}
