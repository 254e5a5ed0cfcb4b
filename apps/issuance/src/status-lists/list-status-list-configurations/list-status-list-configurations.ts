import {
  listStatusListConfigurations,
  type ClientContext,
  type PageOf,
  type StatusListConfiguration,
} from '@attestry/contracts';
import { Streams } from '@attestry/event-store';
import { Operation, type RequestOf } from '@attestry/service-kit';
import { pageOf } from '../../reading/bounded-pages/page-of.js';
import {
  statusListConfigurations,
  statusListConfigurationsStream,
} from '../status-list-configurations/status-list-configurations.state.js';

@Operation(listStatusListConfigurations)
export class ListStatusListConfigurations {
  constructor(private readonly streams: Streams) {}

  async execute(
    { query }: RequestOf<typeof listStatusListConfigurations>,
    { tenant }: ClientContext,
  ): Promise<PageOf<StatusListConfiguration>> {
    const { state } = await this.streams.load(statusListConfigurations, statusListConfigurationsStream(tenant.id));
    return pageOf(state, query);
  }
}
