import {
  AppError,
  type Caller,
  type ClientContext,
  type ManagementCaller,
  type ManagementContext,
  type Operation,
  type OperationContext,
} from '@attestry/contracts';
import type { RecordedEvent } from '@attestry/event-store';
import type { RunningProjection } from '@attestry/read-model';
import {
  ServiceClient,
  startServices,
  type RequestOf,
  type ResponseOf,
  type RunningServices,
  type ServiceDefinition,
} from '@attestry/service-kit';
import { EnginesUnderTest, type EnginesUnderTestOptions } from './engines-under-test.js';

export interface ServiceUnderTestOptions extends EnginesUnderTestOptions {
  /** Base address of a tenant; default: the first characters of its id before `.localhost:8080`. */
  baseOf?: (tenantId: string) => string;
}

type Projecting = Pick<RunningProjection<never>, 'waitForHead'>;

/** @returns the error by which an operation refuses a call */
export const refusal = async (call: Promise<unknown>): Promise<AppError> => {
  try {
    await call;
  } catch (error) {
    if (error instanceof AppError) return error;
    throw error;
  }
  throw new Error('it was not refused');
};

/** One service alone, on the engines of the Jest project, and the requests that the gateway would send to it. */
export class ServiceUnderTest extends EnginesUnderTest {
  static readonly TENANT = '11111111-1111-4111-8111-111111111111';
  static readonly OTHER = '22222222-2222-4222-8222-222222222222';

  services!: RunningServices;
  /** The gateway's. */
  client!: ServiceClient;
  /** Number of the last request: `request-<requests>`. */
  requests = 0;
  readonly baseOf: (tenantId: string) => string;

  constructor(
    private readonly service: ServiceDefinition,
    options: ServiceUnderTestOptions = {},
  ) {
    super(options);
    this.baseOf = options.baseOf ?? ((tenantId) => `http://${tenantId.slice(0, 4)}.localhost:8080`);
  }

  /** Opens the engines alone, as a store that is filled before the service starts. */
  readonly openEngines = (change?: Parameters<EnginesUnderTest['open']>[0]): Promise<void> => super.open(change);

  override async open(change?: Parameters<EnginesUnderTest['open']>[0]): Promise<void> {
    await this.openEngines(change);
    await this.start();
  }

  /** Starts the service on open engines. */
  async start(): Promise<void> {
    try {
      this.services = await startServices([this.service], this.engines);
    } catch (error) {
      await super.close();
      throw error;
    }
    this.client = this.clientOf('gateway');
  }

  /** Stops the service; the engines stay open. */
  async stop(): Promise<void> {
    const { services } = this;
    this.services = undefined!;
    await services?.close();
  }

  override async close(): Promise<void> {
    await this.stop();
    await super.close();
  }

  /** A provider of the service's module. */
  readonly get = <T>(type: abstract new (...args: never[]) => T): T => this.services.app.get(type, { strict: false });

  /** Waits until the projections of these read models have handled every event. */
  async catchUp(...readModels: (abstract new (...args: never[]) => { running: Projecting })[]): Promise<void> {
    for (const readModel of readModels)
      if (!(await this.get(readModel).running.waitForHead(20_000)))
        throw new Error(`${readModel.name} did not catch up within 20 s`);
  }

  /** All events, in the order of the store. */
  async events(...categories: string[]): Promise<RecordedEvent[]> {
    const events: RecordedEvent[] = [];
    for (let after: string | undefined; ;) {
      const page = await this.engines.events.readAll({
        limit: 5000,
        ...(categories.length > 0 && { categories }),
        ...(after !== undefined && { after }),
      });
      events.push(...page.events);
      if (page.atEnd) return events;
      after = page.next;
    }
  }

  // --- requests

  readonly clientOf = (participant: ConstructorParameters<typeof ServiceClient>[1]): ServiceClient =>
    new ServiceClient(this.engines.bus, participant);

  /** A request of this caller, to the platform. */
  readonly contextOf = <C extends Caller, More extends Partial<OperationContext>>(caller: C, more?: More) => ({
    caller,
    requestId: `request-${++this.requests}`,
    operation: 'test',
    deadline: Date.now() + 20_000,
    ...(more as More),
  });

  /** A request of this caller, to a tenant. */
  readonly inTenant = <C extends Caller>(tenantId: string, caller: C, more: Partial<OperationContext> = {}) => {
    const baseUrl = this.baseOf(tenantId);
    const tenant = { id: tenantId, host: new URL(baseUrl).host, baseUrl };
    return this.contextOf(caller, { tenant, publicUrl: baseUrl, ...more });
  };

  /** A request of a client of the tenant. */
  readonly asClient = (tenantId: string, more?: Partial<OperationContext>): ClientContext & { publicUrl: string } =>
    this.inTenant(tenantId, { kind: 'client', clientId: 'c' }, more);

  /** A request to the management API. */
  readonly asManagement = <C extends ManagementCaller>(
    caller: C,
    more?: Partial<OperationContext>,
  ): ManagementContext & { caller: C } => this.contextOf(caller, more);

  /** Sends a request as a client of the tenant. @throws AppError */
  readonly admin = <O extends Operation>(
    operation: O,
    request: object,
    tenantId: string = ServiceUnderTest.TENANT,
    more?: Partial<OperationContext>,
  ): Promise<ResponseOf<O>> =>
    this.client.call(
      operation,
      request as Partial<RequestOf<O>>,
      this.asClient(tenantId, { operation: operation.name, ...more }) as never,
    );

  /** Sends a request to a public operation of the tenant. @throws AppError */
  readonly visit = <O extends Operation>(
    operation: O,
    request: object = {},
    tenantId: string = ServiceUnderTest.TENANT,
    more?: Partial<OperationContext>,
  ): Promise<ResponseOf<O>> =>
    this.client.call(
      operation,
      request as Partial<RequestOf<O>>,
      this.inTenant(tenantId, { kind: 'public' }, { operation: operation.name, ...more }) as never,
    );
}
