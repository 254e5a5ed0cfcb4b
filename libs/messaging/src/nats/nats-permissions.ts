import type { BusRights } from '../bus-rights.js';
import { Names, ownerOf } from './names.js';

/** Subjects that a user of a NATS server may publish and subscribe to; a queue group follows a space. */
export interface NatsPermissions {
  publish: string[];
  subscribe: string[];
}

const unique = (subjects: readonly string[]): string[] => [...new Set(subjects)];

/** Rights on the bus as subjects of a NATS server: what {@link NatsBus} does for them, and nothing else. */
export const natsPermissions = (namespace: string, rights: BusRights): NatsPermissions => {
  const names = new Names(namespace);
  const { stream } = names;
  const api = '$JS.API';
  const { consumes, listens } = rights;
  const reads = [...consumes, ...listens];
  const filters = [...reads.map(({ subjects }) => subjects), ...(rights.formerReads ?? [])];
  const owners = unique(consumes.map(({ name }) => ownerOf(name)));
  return {
    publish: unique([
      ...rights.calls.map((subject) => names.request(rights.name, subject)),
      // Not the reply subject of a request: it could be any participant's subject.
      ...rights.calledBy.map((participant) => `${names.inbox(participant)}.>`),
      ...rights.publishes.map((subject) => names.event(subject)),
      `${api}.STREAM.INFO.${stream}`,
      // A consumer of any name, but with this filter.
      ...filters.map((subjects) => `${api}.CONSUMER.CREATE.${stream}.*.${names.filter(subjects)}`),
      // Consumers by their names, which are secrets, see Names.session.
      ...(reads.length ? ['INFO', 'MSG.NEXT'].map((call) => `${api}.CONSUMER.${call}.${stream}.*`) : []),
      ...(consumes.length ? [`${api}.CONSUMER.DELETE.${stream}.*`, `$JS.ACK.${stream}.*.>`] : []),
      ...owners.flatMap((owner) => ownBucket(names.bucket(owner))),
    ]),
    subscribe: [
      ...rights.serves.map((subject) => `${names.serving(subject)} ${names.queue}`),
      `${names.inbox(rights.name)}.>`,
    ],
  };
};

/** Reading, writing and watching its own bucket. No direct reads, see migrateNats. */
const ownBucket = (bucket: string): string[] => {
  const stream = `KV_${bucket}`;
  return [
    `$KV.${bucket}.>`,
    ...['STREAM.INFO', 'STREAM.MSG.GET'].map((call) => `$JS.API.${call}.${stream}`),
    ...['', '.>'].map((rest) => `$JS.API.CONSUMER.CREATE.${stream}${rest}`),
    ...['INFO', 'DELETE'].map((call) => `$JS.API.CONSUMER.${call}.${stream}.*`),
    `$JS.FC.${stream}.>`,
  ];
};

/** Permissions to make and to change stream and buckets. */
export const natsMigratePermissions = (namespace: string, owners: readonly string[]): NatsPermissions => {
  const names = new Names(namespace);
  const streams = [names.stream, ...owners.map((owner) => `KV_${names.bucket(owner)}`)];
  return {
    publish: [
      '$JS.API.INFO',
      ...streams.flatMap((stream) => ['INFO', 'CREATE', 'UPDATE'].map((call) => `$JS.API.STREAM.${call}.${stream}`)),
    ],
    subscribe: [`${names.inbox('migrate')}.>`],
  };
};
