import { Module, type Type } from '@nestjs/common';
import { DiscoveryModule, DiscoveryService } from '@nestjs/core';
import { Test } from '@nestjs/testing';
import { CommandBus, CqrsModule, QueryBus } from '@nestjs/cqrs';
import {
  createDid,
  defineOperation,
  deleteDid,
  exportEvents,
  listEvents,
  listEventsOfTenant,
  listEventTypes,
  publicAccess,
  sealData,
  type OperationContext,
  type ServiceName,
} from '@attestry/contracts';
import { discoverUseCases } from './discover-use-cases.js';
import { registerUseCase } from './operation-handler.js';
import { Operation, type RequestOf } from './use-case.js';

@Operation(listEvents)
class ListEvents {
  async execute({ query }: RequestOf<typeof listEvents>, { requestId }: OperationContext): Promise<unknown> {
    return { query, requestId };
  }
}
@Operation(exportEvents)
class ExportEvents extends ListEvents {}
@Operation(listEventsOfTenant, listEventTypes)
class OtherQueries {
  async execute(): Promise<never> {
    throw new Error('other queries');
  }
}
@Operation(sealData)
class SealData {
  async execute(): Promise<{ data: string }> {
    return { data: 'sealed' };
  }
}
@Operation(sealData)
class SealDataAgain extends SealData {}
@Operation(createDid)
class CreateDid extends OtherQueries {}
@Operation(deleteDid)
class DeleteDid extends OtherQueries {}
const forgotten = defineOperation({
  name: 'analytics.forgotten',
  summary: 'Not in the registry',
  access: publicAccess,
  errors: 'tenant',
});
@Operation(forgotten)
class Forgotten extends OtherQueries {}

const all = [ListEvents, ExportEvents, OtherQueries, SealData];

describe('the use cases of the services of a process', () => {
  const start = async (providers: Partial<Record<ServiceName, Type[]>>) => {
    const services = Object.entries(providers).map(([name, classes]) => {
      @Module({ providers: classes })
      class ServiceModule {}
      Object.defineProperty(ServiceModule, 'name', { value: `${name} module` });
      return { name: name as ServiceName, module: ServiceModule };
    });
    const imports = [CqrsModule.forRoot(), DiscoveryModule, ...services.map(({ module }) => module)];
    const app = await Test.createTestingModule({ imports }).compile();
    await app.init();
    const buses = { command: app.get(CommandBus), query: app.get(QueryBus) };
    return { useCases: discoverUseCases(app.get(DiscoveryService), services), buses };
  };

  it('are found by the operations they name, and are called over the bus of their kind', async () => {
    const { useCases, buses } = await start({ analytics: all });
    expect([...useCases].map(([{ name }, useCase]) => [name, useCase.constructor.name])).toEqual([
      ['analytics.export-events', 'ExportEvents'],
      ['analytics.list-event-types', 'OtherQueries'],
      ['analytics.list-events', 'ListEvents'],
      ['analytics.list-events-of-tenant', 'OtherQueries'],
      ['analytics.seal-data', 'SealData'],
    ]);
    const published: unknown[] = [];
    buses.query.subscribe((message) => published.push(message));
    const list = registerUseCase(listEvents, useCases.get(listEvents)!, buses);
    const types = registerUseCase(listEventTypes, useCases.get(listEventTypes)!, buses);
    const request = { params: {}, query: { limit: 1 }, body: {} };
    const context = { requestId: 'r' } as OperationContext;
    expect(await list.execute(request, context)).toEqual({ query: { limit: 1 }, requestId: 'r' });
    await expect(types.execute(request, context)).rejects.toThrow('other queries');
    expect(published).toEqual([
      { request, context },
      { request, context },
    ]);
    expect(published[0]!.constructor).not.toBe(published[1]!.constructor);
  });

  it('are complete and unambiguous, or the error names every fault', async () => {
    const faulty = start({ analytics: [ListEvents, OtherQueries, SealData, SealDataAgain, CreateDid, Forgotten] });
    await expect(faulty).rejects.toThrow(
      'operations: CreateDid in analytics module names dids.create-did, which its service does not declare; ' +
        'Forgotten in analytics module names analytics.forgotten, which its service does not declare; ' +
        'analytics.export-events has no handler; ' +
        'analytics.seal-data has several handlers: SealData, SealDataAgain',
    );
  });

  it('belong to the module of their own service', async () => {
    const faulty = start({ analytics: [...all, DeleteDid], dids: [CreateDid] });
    await expect(faulty).rejects.toThrow(/DeleteDid in analytics module .*dids\.delete-did has no handler/);
  });
});
