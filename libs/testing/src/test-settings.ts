/** Settings of services under test: quiet, and lists show what was written, however busy the machine is. */
export const TEST_SETTINGS = { NODE_ENV: 'test', LOG_LEVEL: 'silent', OWN_WRITE_WAIT_MS: '10000' } as const;
