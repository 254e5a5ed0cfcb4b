import { findPostgres, PostgresServer } from './postgres-server.js';
import { skipSuite } from './skipped-suite.js';

/**
 * A suite on a separate PostgreSQL server, reported as skipped when none is installed. Uses Jest's globals.
 * @param settings of the server
 */
export const describeOnPostgres = (
  suite: string,
  tests: (server: () => PostgresServer) => void,
  settings?: Record<string, string>,
): void => {
  const programs = findPostgres();
  if (programs === undefined) {
    skipSuite(suite, 'PostgreSQL is not installed (Debian: apt install postgresql)');
    // Jest wants a test in each file.
    it.skip(suite, () => undefined);
    return;
  }
  describe(suite, () => {
    let server: PostgresServer;
    beforeAll(async () => {
      server = await PostgresServer.start(programs, undefined, settings);
    }, 60_000);
    tests(() => server);
    // After those of the tests, which may still be connected.
    afterAll(() => server.stop());
  });
};
