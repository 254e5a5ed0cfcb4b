import { Injectable } from '@nestjs/common';
import type { ActiveConfiguration } from '../../settings/credential-configuration/credential-configuration.decisions.js';
import { Formats } from '../../formats/formats.js';
import { PublishedConfigurations } from '../../settings/credential-configuration/published-configurations.js';
import { publishedMembers } from './published-members.js';
import { checkPublishedSize, type PublishedSize } from './published-size.decisions.js';

/** Bounds the issuer metadata of a tenant: anyone may request it, and one tenant's must not hold up the others (ADR 0041). */
@Injectable()
export class PublishedSizes {
  private readonly known = new WeakMap<ActiveConfiguration, number>();

  constructor(
    private readonly published: PublishedConfigurations,
    private readonly formats: Formats,
  ) {}

  /**
   * Changes at the same time do not see each other and may exceed the bounds by as much.
   * @param configuration that is created, or with its new content
   * @throws AppError 409
   */
  async check(tenantId: string, configuration: ActiveConfiguration, replaced?: ActiveConfiguration): Promise<void> {
    const others: PublishedSize = { configurations: 0, bytes: 0 };
    for (const other of await this.published.listActive(tenantId)) {
      if (other.id === configuration.id) continue;
      others.configurations++;
      others.bytes += this.sizeOf(other);
    }
    checkPublishedSize(others, this.sizeOf(configuration), replaced && this.sizeOf(replaced));
  }

  private sizeOf(configuration: ActiveConfiguration): number {
    const known = this.known.get(configuration);
    if (known !== undefined) return known;
    const bytes = Buffer.byteLength(
      JSON.stringify(publishedMembers(configuration, this.formats.byName[configuration.format])),
    );
    this.known.set(configuration, bytes);
    return bytes;
  }
}
