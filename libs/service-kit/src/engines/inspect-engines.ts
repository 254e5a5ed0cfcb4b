import { lookup as systemLookup } from 'node:dns/promises';
import { statSync } from 'node:fs';
import { BlockList, isIPv6 } from 'node:net';
import { join } from 'node:path';
import { BUS_PARTICIPANTS, type BusParticipant } from '@attestry/contracts';
import { EvictingReplayStore, inspectRedisServer } from '@attestry/keys';
import { inspectNatsServers, type NatsOptions } from '@attestry/messaging';
import type { ParsedSettings } from '../config/config.js';
import { MASTER_KEY_FILE } from './master-key-file.js';
import { engineConnections, type EngineConnection } from './engine-connections.js';

/** Participants that a process authenticates as on the bus; `none` for a program that does not use it. */
export type BusUser = BusParticipant | 'migrate' | 'none';

/** Why production does not start with a setting, and what to do. */
export interface Refusal {
  setting: string;
  reason: string;
  remedy: string;
}

export interface EnginesInspection {
  refusals: Refusal[];
  /** Checks that passed. */
  passed: string[];
  /** Checks that could not be made. */
  skipped: string[];
}

/** Signature of `dns.promises.lookup` with `all`: engines are found by the system's resolver. */
export type Lookup = (host: string, options: { all: true }) => Promise<{ address: string }[]>;

export const refusalText = ({ setting, reason, remedy }: Refusal): string => `${setting} ${reason}: ${remedy}`;

export const evictionRefusal = ({ message: reason }: EvictingReplayStore): Refusal => ({
  setting: 'REDIS_URL',
  reason,
  remedy: 'set maxmemory-policy to noeviction on the server',
});

const ADD_RANGE = 'or add the network to PLAINTEXT_ENGINES where only trusted machines share it';

/** Checks engines against the requirements of production, without changing anything. */
export class EngineInspector {
  private readonly found: EnginesInspection = { refusals: [], passed: [], skipped: [] };
  private readonly plaintext = new BlockList();

  constructor(
    private readonly parsed: ParsedSettings,
    private readonly user: BusUser | undefined,
    private readonly lookup: Lookup = systemLookup,
  ) {
    for (const range of parsed.plaintextEngines ?? []) {
      const [address, bits] = range.split('/') as [string, string?];
      const family = isIPv6(address) ? 'ipv6' : 'ipv4';
      if (bits === undefined) this.plaintext.addAddress(address, family);
      else this.plaintext.addSubnet(address, Number(bits), family);
    }
  }

  async inspect(): Promise<EnginesInspection> {
    const connections = await engineConnections(this.parsed);
    for (const connection of connections) {
      if ('unusable' in connection) {
        this.refuse(connection.setting, connection.unusable, 'correct it (docs/reference/configuration.md)');
        continue;
      }
      const { setting, credentials, remedies, keyFiles } = connection;
      if (!credentials) this.refuse(setting, 'has no credentials', remedies.credentials);
      await this.inspectEncryption(connection);
      for (const file of keyFiles) this.inspectKeyFile(setting, file);
    }
    this.inspectNatsUser();
    this.inspectDataFolder();
    return this.found;
  }

  /** Rights of other users on the servers, where they respond. */
  async inspectNatsServers(options: NatsOptions): Promise<EnginesInspection> {
    const { user } = this;
    if (user === undefined || user === 'none') return this.found;
    const others = BUS_PARTICIPANTS.filter((participant) => participant !== user);
    const { anonymous, actsAs, unreachable, refused } = await inspectNatsServers({ ...options, name: user }, others);
    const users = 'configure the users of deploy/nats/users.conf on the server (docs/guides/nats.md)';
    if (refused !== undefined) this.refuse('NATS_URL', `cannot be used: ${refused}`, 'see docs/guides/nats.md');
    if (anonymous.length)
      this.refuse('NATS_URL', `names servers that accept clients without credentials (${anonymous.join(', ')})`, users);
    if (actsAs.length) this.refuse('NATS_URL', `gives ${user} a user that can also act as ${actsAs.join(', ')}`, users);
    if (unreachable.length)
      this.found.skipped.push(`NATS_URL: ${unreachable.join(', ')} did not respond; users not tested`);
    if (refused === undefined && !anonymous.length && !actsAs.length && unreachable.length < options.servers.length)
      this.found.passed.push(`NATS_URL: the server denies ${user} the subjects of other services`);
    return this.found;
  }

  /** Whether the server, where it responds, keeps the values that were spent. */
  async inspectRedisServer(url: string): Promise<EnginesInspection> {
    try {
      await inspectRedisServer(url);
      this.found.passed.push('REDIS_URL: maxmemory-policy is noeviction');
    } catch (error) {
      if (error instanceof EvictingReplayStore) this.found.refusals.push(evictionRefusal(error));
      else this.found.skipped.push('REDIS_URL: the server did not respond to INFO; maxmemory-policy not tested');
    }
    return this.found;
  }

  private refuse(setting: string, reason: string, remedy: string): void {
    this.found.refusals.push({ setting, reason, remedy });
  }

  private async inspectEncryption({ setting, tls, hosts, remedies }: EngineConnection): Promise<void> {
    if (tls === 'verified' || !hosts.length) {
      this.found.passed.push(`${setting}: ${hosts.length ? `TLS to ${hosts.join(', ')}` : 'a local socket'}`);
      return;
    }
    const how = tls === 'none' ? 'without TLS' : 'without verifying its certificate';
    for (const host of hosts) {
      let addresses: string[];
      try {
        addresses = (await this.lookup(host, { all: true })).map(({ address }) => address);
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException;
        this.refuse(
          setting,
          `connects ${how} to ${host}, which cannot be resolved (${code ?? 'error'})`,
          `${remedies.tls}, or make the name resolvable`,
        );
        continue;
      }
      const outside = addresses.filter((address) => !this.isPlaintextAllowed(address));
      if (outside.length || !addresses.length)
        this.refuse(
          setting,
          `connects ${how} to ${host} (${outside.join(', ') || 'no address'}), which is not in PLAINTEXT_ENGINES`,
          `${remedies.tls}, ${ADD_RANGE}`,
        );
      else
        this.found.passed.push(
          `${setting}: ${how} to ${host} (${addresses.join(', ')}), which is in PLAINTEXT_ENGINES`,
        );
    }
  }

  /** IPv4 mapped into IPv6 is compared as IPv4. */
  private isPlaintextAllowed(address: string): boolean {
    const [bare] = address.split('%') as [string];
    return this.plaintext.check(bare, isIPv6(bare) ? 'ipv6' : 'ipv4');
  }

  /** Symbolic links are followed: Kubernetes mounts Secrets as links. A group may read, as it has to with `fsGroup`. */
  private inspectKeyFile(setting: string, file: string): void {
    const mode = modeOf(file);
    if (typeof mode === 'string')
      this.refuse(
        setting,
        `has the key file ${file}, which cannot be read (${mode})`,
        'correct the path or the file permissions',
      );
    else if (mode & 0o006)
      this.refuse(
        setting,
        `has the key file ${file}, which other users can ${mode & 0o002 ? 'write' : 'read'} (mode ${octal(mode)})`,
        `chmod 0600 ${file}`,
      );
    else this.found.passed.push(`${setting}: other users cannot read ${file}`);
  }

  private inspectNatsUser(): void {
    const { natsServers, natsUser } = this.parsed;
    const { user } = this;
    if (natsServers === undefined || user === 'none') return;
    if (user === undefined)
      this.refuse(
        'NATS_URL',
        'is set without SERVICE: one process with all services would need a user with the rights of all of them',
        'set SERVICE, one process and one user for each service, or leave NATS_URL out',
      );
    else if (natsUser !== undefined && !isUserOf(natsUser, user))
      this.refuse(
        'NATS_USER',
        `${natsUser} is not the user of ${user}`,
        `use ${user}, or a name that ends in it, as in acme-${user}; each service has a user of its own (docs/guides/nats.md)`,
      );
    else if (natsUser !== undefined) this.found.passed.push(`NATS_USER: ${natsUser}`);
  }

  /** Keys in files are protected by the folder, whose files have the mode of the process's umask. */
  private inspectDataFolder(): void {
    const { natsServers, databaseUrl, dataDir, service } = this.parsed;
    if (dataDir === undefined || (natsServers !== undefined && (databaseUrl !== undefined || service === 'gateway')))
      return;
    const folder = modeOf(dataDir);
    // Absent: the process creates it with mode 0700.
    if (typeof folder === 'string') return;
    if (folder & 0o007)
      this.refuse(
        'DATA_DIR',
        `has key files in a folder that other users can enter (mode ${octal(folder)})`,
        `chmod 0700 ${dataDir}`,
      );
    else this.found.passed.push(`DATA_DIR: other users cannot enter ${dataDir}`);
    // The keys in `events.db` are sealed; this file is the key itself.
    const file = join(dataDir, MASTER_KEY_FILE);
    if (modeOf(file) !== 'ENOENT') this.inspectKeyFile('DATA_DIR', file);
  }
}

/** Several platforms on one server have separate users, so a prefix is allowed. */
const isUserOf = (name: string, participant: string): boolean =>
  name === participant || ['-', '_', '.'].some((separator) => name.endsWith(separator + participant));

const octal = (mode: number): string => mode.toString(8).padStart(4, '0');

/** Permission bits of a file, or the code of the error. */
const modeOf = (file: string): number | string => {
  try {
    // Windows has no such bits and shows 0666 for every file.
    if (process.platform === 'win32') return statSync(file).mode & 0;
    return statSync(file).mode & 0o777;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? 'error';
  }
};
