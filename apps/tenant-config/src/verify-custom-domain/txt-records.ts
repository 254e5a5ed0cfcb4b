import { Resolver } from 'node:dns/promises';
import { Injectable } from '@nestjs/common';
import { PlatformConfig } from '@attestry/service-kit';

/** Of the whole look-up, milliseconds. */
export const LOOKUP_MS = 5000;
/** A server that does not answer is given up after this long, so that the next one is asked within the look-up. */
const TRY_MS = 2000;

/** The record could not be had: none there, no such name, or no answer in time. */
export class NoTxtRecord extends Error {
  override readonly name = 'NoTxtRecord';
}

/** TXT records as DNS has them now: nothing is cached here, nor by c-ares under Node. */
@Injectable()
export class TxtRecords {
  constructor(private readonly config: PlatformConfig) {}

  /**
   * Values at exactly this name, the strings of each joined (RFC 1035 §3.3.14: a value may come in several).
   * @throws NoTxtRecord
   */
  async at(domain: string): Promise<string[]> {
    const resolver = new Resolver({ timeout: TRY_MS, tries: 2 });
    if (this.config.dnsServers) resolver.setServers(this.config.dnsServers);
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new NoTxtRecord('no answer in time')), LOOKUP_MS);
    });
    try {
      const records = await Promise.race([resolver.resolveTxt(domain), late]);
      return records.map((strings) => strings.join(''));
    } catch (error) {
      if (error instanceof NoTxtRecord) throw error;
      throw new NoTxtRecord((error as { code?: string }).code ?? 'failed', { cause: error });
    } finally {
      clearTimeout(timer);
      resolver.cancel();
    }
  }
}
