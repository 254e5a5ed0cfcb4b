import { findNatsServer, NatsServer, skipSuite } from '@attestry/testing';
import { describeMessageBus, type BusUnderTest } from '../messaging.contract.js';
import { connectNats } from './connect-nats.js';
import { migrateNats } from './migrate-nats.js';
import { NatsBus } from './nats-bus.js';

const program = findNatsServer();

if (program === undefined) {
  skipSuite('message bus: NATS', 'nats-server is not installed (Debian: apt install nats-server)');
  // Jest wants a test in each file.
  it.skip('message bus: NATS', () => undefined);
} else {
  let server: NatsServer;
  let tests = 0;
  beforeAll(async () => {
    server = await NatsServer.start(program);
  });
  afterAll(() => server.stop());

  const make = async (): Promise<BusUnderTest> => {
    const options = { servers: [server.url], namespace: `test${++tests}` };
    const errors: { subject: string; error: unknown }[] = [];
    const connection = await connectNats(options);
    await migrateNats(connection, options.namespace);
    await connection.close();
    const open = () => NatsBus.open({ ...options, onError: (subject, error) => void errors.push({ subject, error }) });
    let bus = await open();
    return {
      bus,
      errors,
      reopen: async () => {
        await bus.close();
        return (bus = await open());
      },
      close: () => bus.close(),
    };
  };
  describeMessageBus('NATS', make);
}
