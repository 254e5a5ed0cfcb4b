import type { DiscoveryService } from '@nestjs/core';
import { operationsOf, type Operation } from '@attestry/contracts';
import type { ServiceDefinition } from '../process/service-definition.js';
import { OperationsOfClass, type UseCase } from './use-case.js';

/**
 * The handler of each operation of these services, found among the providers of their modules.
 * @throws Error that names every operation without a handler or with several, and every handler outside the service of its operation
 */
export const discoverUseCases = (
  discovery: DiscoveryService,
  services: readonly Pick<ServiceDefinition, 'name' | 'module'>[],
): Map<Operation, UseCase> => {
  const found = new Map<Operation, UseCase[]>(
    services.flatMap(({ name }) => operationsOf(name).map((operation) => [operation, []])),
  );
  const faults: string[] = [];
  for (const wrapper of discovery.getProviders({ metadataKey: OperationsOfClass.KEY })) {
    const service = services.find(({ module }) => module === wrapper.host?.metatype)?.name;
    for (const operation of discovery.getMetadataByDecorator(OperationsOfClass, wrapper) ?? []) {
      if (operation.service === service && found.has(operation))
        found.get(operation)!.push(wrapper.instance as UseCase);
      else
        faults.push(
          `${wrapper.name} in ${wrapper.host?.name} names ${operation.name}, which its service does not declare`,
        );
    }
  }
  for (const [{ name }, [first, ...further]] of found) {
    if (!first) faults.push(`${name} has no handler`);
    else if (further.length) faults.push(`${name} has several handlers: ${[first, ...further].map(nameOf).join(', ')}`);
  }
  if (faults.length) throw new Error(`operations: ${faults.join('; ')}`);
  return new Map([...found].map(([operation, [useCase]]) => [operation, useCase!]));
};

const nameOf = (useCase: UseCase): string => useCase.constructor.name;
