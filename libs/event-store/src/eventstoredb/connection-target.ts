import parser from '@eventstore/db-client/dist/Client/parseConnectionString.js';

/** Target of a connection string, as the client reads it. */
export interface EventStoreDbTarget {
  hosts: string[];
  /** With `tls=false` the client sends none, whatever the URL contains. */
  credentials: boolean;
  tls: 'verified' | 'none';
  keyFiles: string[];
}

/** @throws Error, whose message may contain a part of the URL, when the client cannot use it */
export const eventStoreDbTarget = (url: string): EventStoreDbTarget => {
  const { hosts, tls, defaultCredentials, userCertFile, userKeyFile } = parser.parseConnectionString(url) as {
    hosts: { address: string }[];
    tls?: boolean;
    defaultCredentials?: object;
    userCertFile?: string;
    userKeyFile?: string;
  };
  return {
    hosts: hosts.map(({ address }) => address),
    credentials: tls !== false && (defaultCredentials ?? userCertFile) !== undefined,
    tls: tls === false ? 'none' : 'verified',
    keyFiles: userKeyFile === undefined ? [] : [userKeyFile],
  };
};
