import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PARTICIPANTS } from '@attestry/contracts';
import { inspectConfig, MIGRATION_VARIABLES, SETTINGS, parseConfig } from '@attestry/service-kit';
import { skipSuite } from '@attestry/testing';
import { faultsOf, isBuiltIn } from './kubernetes-schemas.js';
import {
  chart,
  helm,
  kubectl,
  noToolsBecause,
  refusal,
  render,
  repository,
  values,
  type Manifest,
} from './kube-tools.js';
import { nodeCommand } from './node-command.js';

const URLS = { redis: 'REDIS_URL', database: 'DATABASE_URL', eventStore: 'EVENTSTORE_URL' };
/** Settings that each service gets beside NATS. */
const SERVICES: Record<string, string[]> = Object.fromEntries(
  Object.entries(PARTICIPANTS).map(([name, { engines }]) => [name, engines.map((engine) => URLS[engine])]),
);
/** Rules of networkPolicy.egress, where their setting is given, and in every variant. */
const CALLS_IF: Record<string, [rule: string, setting: string]> = {
  gateway: ['identityProviders', 'MANAGEMENT_OIDC_ISSUER'],
  management: ['smtp', 'SMTP_URL'],
};
const CALLS: Record<string, string> = Object.fromEntries(
  Object.entries(PARTICIPANTS).flatMap(([name, { calls }]) => (calls && !(name in CALLS_IF) ? [[name, calls]] : [])),
);

const VARIANTS: Record<string, string[]> = {
  minimal: values('minimal.yaml'),
  production: values('production.yaml'),
  operators: values('operators.yaml'),
  everything: values('production.yaml', 'everything.yaml'),
};

/** Settings that other values render, so that `config` may not. */
const MADE_BY_THE_CHART = [
  'ADMIN_PORT',
  'ALLOW_PRIVATE_TARGETS',
  'BASE_DOMAIN',
  'CONTEXT_URL',
  'DATABASE_POOL',
  'DATABASE_SCHEMA',
  'DATABASE_SERVICE_ROLE',
  'DATA_DIR',
  'ENVIRONMENTS',
  'HOST',
  'LOG_LEVEL',
  'MANAGEMENT_CLIENT_ID',
  'MANAGEMENT_DOMAIN',
  'MASTER_KEY_VERSION',
  'NATS_CA_FILE',
  'NATS_CERT_FILE',
  'NATS_CREDENTIALS_FILE',
  'NATS_KEY_FILE',
  'NATS_NAMESPACE',
  'NATS_URL',
  'NATS_USER',
  'NODE_ENV',
  'OTEL_EXPORTER_OTLP_ENDPOINT',
  'PLAINTEXT_ENGINES',
  'PORT',
  'PUBLIC_SCHEME',
  'SERVICE',
  'SHUTDOWN_DELAY',
  'TRUSTED_PROXIES',
];

const name = ({ kind, metadata }: Manifest) => `${kind} ${metadata.name}`;
const ofKind = (manifests: Manifest[], kind: string) => manifests.filter((it) => it.kind === kind);
const one = (manifests: Manifest[], kind: string, of: string): Manifest => {
  const found = ofKind(manifests, kind).filter(({ metadata }) => metadata.name === `attestry-${of}`);
  if (found.length !== 1) throw new Error(`${found.length} times ${kind} attestry-${of}`);
  return found[0]!;
};
const pods = (manifests: Manifest[]) => manifests.filter(({ kind }) => ['Deployment', 'Job'].includes(kind));
const podOf = (manifest: Manifest) => manifest['spec'].template.spec;

/** How replicas are added and removed, where values do not change it. */
const behavior = {
  scaleUp: {
    stabilizationWindowSeconds: 30,
    policies: [
      { type: 'Percent', value: 100, periodSeconds: 60 },
      { type: 'Pods', value: 2, periodSeconds: 60 },
    ],
    selectPolicy: 'Max',
  },
  scaleDown: { stabilizationWindowSeconds: 300, policies: [{ type: 'Pods', value: 1, periodSeconds: 60 }] },
};

/** A value that the settings take, for each key of the Secret. */
const DUMMIES: Record<string, string> = {
  MASTER_KEY: Buffer.alloc(32, 1).toString('base64url'),
  MASTER_KEY_PREVIOUS: Buffer.alloc(32, 2).toString('base64url'),
  MASTER_KEY_NEXT: Buffer.alloc(32, 3).toString('base64url'),
  MANAGEMENT_CLIENT_ID: 'first',
  MANAGEMENT_CLIENT_SECRET: 'not-a-secret-but-of-the-right-length',
  DATABASE_URL: 'postgres://attestry:dummy@postgres:5432/attestry?sslmode=verify-full',
  KEYS_DATABASE_URL: 'postgres://keys:dummy@postgres:5432/keys?sslmode=verify-full',
  MIGRATION_DATABASE_URL: 'postgres://owner:dummy@postgres:5432/attestry?sslmode=verify-full',
  EVENTSTORE_URL: 'esdb://attestry:dummy@eventstore:2113',
  REDIS_URL: 'rediss://:dummy@valkey:6379',
  SMTP_URL: 'smtps://attestry:dummy@mail.example.org',
  OTEL_EXPORTER_OTLP_HEADERS: 'api-key=dummy',
  MANAGEMENT_OIDC_ISSUER: 'https://login.example.org',
  MANAGEMENT_OIDC_AUDIENCE: 'https://management.example.org',
};
const dummy = (key: string) => {
  const value = DUMMIES[key] ?? (key.startsWith('NATS_PASSWORD_') ? `dummy of ${key}` : undefined);
  if (value === undefined) throw new Error(`nobody knows the key ${key}`);
  return value;
};

/** In `everything` the rules for identity providers and mail have separate peers. */
const callsTheWorld = (which: string, service: string) => {
  if (which === 'everything' && ['gateway', 'management', 'tenant-config'].includes(service)) return false;
  return service in CALLS || (service in CALLS_IF && which === 'production');
};

/** Runs {@link inspectConfig} for a pod with this environment and these volumes, for engines at an address of the cluster. */
const expectAccepted = async (manifests: Manifest[], workload: Manifest) => {
  const folder = mkdtempSync(join(tmpdir(), 'attestry-pod-'));
  try {
    const { volumes, containers } = podOf(workload);
    for (const { name, mountPath } of containers[0].volumeMounts) {
      const { secret, configMap } = volumes.find((it: { name: string }) => it.name === name);
      for (const { path } of (secret ?? configMap)?.items ?? []) {
        mkdirSync(join(folder, mountPath), { recursive: true });
        const file = join(folder, mountPath, path);
        writeFileSync(file, 'dummy');
        chmodSync(file, secret?.defaultMode ?? 0o644);
      }
    }
    const environment = Object.fromEntries(
      Object.entries(environmentOf(manifests, workload)).map(([key, value]) => [
        key,
        value.startsWith('/etc/attestry/') ? join(folder, value) : value,
      ]),
    );
    const inspected = await inspectConfig(environment, {
      ...(workload.kind === 'Job' && { purpose: 'migrate', busUser: 'migrate' }),
      lookup: async () => [{ address: '10.96.12.3' }],
      tryServers: false,
    });
    expect(inspected.faults).toEqual([]);
    expect(inspected.passed.length).toBeGreaterThan(0);
  } finally {
    rmSync(folder, { recursive: true });
  }
};

/** The environment of a pod's only container, as the kubelet would make it. */
const environmentOf = (manifests: Manifest[], workload: Manifest): Record<string, string> => {
  const [container] = podOf(workload).containers as [Manifest];
  const own = container['envFrom'].filter((it: object) => 'configMapRef' in it);
  const maps = own.map(
    (it: { configMapRef: { name: string } }) =>
      ofKind(manifests, 'ConfigMap').find(({ metadata }) => metadata.name === it.configMapRef.name)!['data'],
  );
  const secrets = container['env'].map((it: { name: string; valueFrom: { secretKeyRef: { key: string } } }) => [
    it.name,
    dummy(it.valueFrom.secretKeyRef.key),
  ]);
  return Object.assign({}, ...maps, Object.fromEntries(secrets));
};

if (noToolsBecause) skipSuite('helm chart', noToolsBecause);
else
  describe('helm chart', () => {
    const rendered = Object.fromEntries(Object.entries(VARIANTS).map(([variant, words]) => [variant, render(words)]));
    const variant = (which: string) => rendered[which]!;

    describe.each(Object.keys(VARIANTS))('with the values %s', (which) => {
      const manifests = variant(which);

      it('passes helm lint --strict', () => {
        const { status, stdout, stderr } = helm('lint', '--strict', chart, ...VARIANTS[which]!);
        expect({ status, output: status === 0 ? '' : stdout + stderr }).toEqual({ status: 0, output: '' });
      });

      it('renders manifests that fit the schemas, without unknown members', async () => {
        const faults = (await Promise.all(manifests.map(faultsOf))).flat();
        expect(faults).toEqual([]);
      });

      it('renders manifests that kubectl can read, each once', () => {
        const folder = mkdtempSync(join(tmpdir(), 'attestry-chart-'));
        try {
          const builtIn = manifests.filter(isBuiltIn);
          const file = join(folder, 'manifests.json');
          writeFileSync(file, JSON.stringify({ apiVersion: 'v1', kind: 'List', items: builtIn }));
          const { status, stdout, stderr } = kubectl('annotate', '--local', '-f', file, 'read=yes', '-o', 'name');
          expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
          expect(new Set(stdout.trim().split('\n')).size).toBe(builtIn.length);
        } finally {
          rmSync(folder, { recursive: true });
        }
      });

      it('has a Deployment, Service, service account and settings for each service, and no other workload', () => {
        const names = Object.keys(SERVICES)
          .map((it) => `attestry-${it}`)
          .sort();
        for (const kind of ['Deployment', 'Service', 'PodDisruptionBudget'])
          expect([kind, ...ofKind(manifests, kind).map(({ metadata }) => metadata.name)].sort()).toEqual(
            [kind, ...names].sort(),
          );
        expect(
          ofKind(manifests, 'ServiceAccount')
            .map(({ metadata }) => metadata.name)
            .sort(),
        ).toEqual([...names, 'attestry-migrate'].sort());
        expect(pods(manifests)).toHaveLength(names.length + 1);
      });

      it('runs nothing as root, with a writable root file system, capabilities or a service account token', () => {
        for (const workload of pods(manifests)) {
          const pod = podOf(workload);
          expect(pod).toMatchObject({
            automountServiceAccountToken: false,
            serviceAccountName: workload.metadata.name,
            securityContext: { runAsNonRoot: true, runAsUser: 10001, seccompProfile: { type: 'RuntimeDefault' } },
          });
          for (const member of ['hostNetwork', 'hostPID', 'hostIPC', 'initContainers'])
            expect(pod[member]).toBeUndefined();
          expect(pod.containers).toHaveLength(1);
          expect(pod.containers[0].securityContext).toEqual({
            allowPrivilegeEscalation: false,
            privileged: false,
            readOnlyRootFilesystem: true,
            runAsNonRoot: true,
            capabilities: { drop: ['ALL'] },
          });
          for (const volume of pod.volumes) expect(volume.hostPath).toBeUndefined();
        }
        for (const account of ofKind(manifests, 'ServiceAccount'))
          expect(account['automountServiceAccountToken']).toBe(false);
      });

      it('requests and limits CPU and memory, with more memory than the heap may use', () => {
        const heap = Number(/--max-old-space-size=(\d+)/.exec(nodeCommand.join(' '))![1]);
        for (const workload of pods(manifests)) {
          const { requests, limits } = podOf(workload).containers[0].resources;
          for (const given of [requests, limits]) expect(Object.keys(given).sort()).toEqual(['cpu', 'memory']);
          const [, mebibytes] = /^(\d+)Mi$/.exec(limits.memory)!;
          expect(Number(mebibytes)).toBeGreaterThanOrEqual(1.4 * heap);
        }
      });

      it('contains secrets only as references to one Secret', () => {
        const secret = Object.entries(SETTINGS).flatMap(([, it]) => (it.secret ? [it.env] : []));
        const never = [...secret, 'MANAGEMENT_CLIENT_ID'];
        expect(ofKind(manifests, 'Secret')).toEqual([]);
        for (const map of ofKind(manifests, 'ConfigMap'))
          for (const [key, value] of Object.entries(map['data'] as Record<string, string>)) {
            expect(never).not.toContain(key);
            expect(value).not.toMatch(/:\/\/[^/\s]*@/);
          }
        for (const workload of pods(manifests))
          for (const variable of podOf(workload).containers[0].env) {
            expect(Object.keys(variable).sort()).toEqual(['name', 'valueFrom']);
            expect(Object.keys(variable.valueFrom)).toEqual(['secretKeyRef']);
            // A pod must not start without it.
            expect(variable.valueFrom.secretKeyRef.optional).toBeUndefined();
          }
      });

      it.each(Object.keys(SERVICES))('gives %s settings that production accepts', async (service) => {
        await expectAccepted(manifests, one(manifests, 'Deployment', service));
      });

      it('gives the migration settings that production accepts', async () => {
        await expectAccepted(manifests, one(manifests, 'Job', 'migrate'));
      });

      it.each(Object.keys(SERVICES))(
        'gives %s settings that it starts with, and only the engines that it needs',
        (service) => {
          const environment = environmentOf(manifests, one(manifests, 'Deployment', service));
          const config = parseConfig(environment);
          expect(config).toMatchObject({ nodeEnv: 'production', publicScheme: 'https', host: '0.0.0.0', port: 8080 });
          expect(environment).toMatchObject({ SERVICE: service, NATS_URL: expect.stringMatching(/^(nats|tls):/) });
          const events = which === 'production' || which === 'everything';
          const engines = SERVICES[service]!.filter((it) => events || it !== 'EVENTSTORE_URL');
          const given = ['DATABASE_URL', 'EVENTSTORE_URL', 'REDIS_URL'].filter((it) => it in environment);
          expect(given.sort()).toEqual(engines.sort());
          expect(environment).not.toHaveProperty('MIGRATION_DATABASE_URL');
          expect(environment).not.toHaveProperty('DATA_DIR');
        },
      );

      it('allows only the named traffic, apart from the API of the gateway', () => {
        const policies = ofKind(manifests, 'NetworkPolicy').map((it) => it['spec']);
        const all = { 'app.kubernetes.io/name': 'attestry', 'app.kubernetes.io/instance': 'attestry' };
        for (const workload of pods(manifests)) expect(workload['spec'].template.metadata.labels).toMatchObject(all);
        const deny = { podSelector: { matchLabels: all }, policyTypes: ['Ingress', 'Egress'] };
        expect(policies).toContainEqual(deny);
        for (const { podSelector, ingress = [], egress = [] } of policies) {
          const service = podSelector.matchLabels['app.kubernetes.io/component'];
          // An empty list of peers would mean all.
          for (const rule of ingress) expect(rule.from.length).toBeGreaterThan(0);
          for (const rule of egress) expect(rule.to.length).toBeGreaterThan(0);
          for (const rule of [...ingress, ...egress]) expect(rule.ports.length).toBeGreaterThan(0);
          const reached = ingress.flatMap((it: Manifest) => it['ports'].map(({ port }: { port: number }) => port));
          if (service === 'gateway') expect(reached).toEqual([8080, 9090]);
          else expect(reached).toEqual(service && service !== 'migrate' ? [8080] : []);
          const world = egress
            .flatMap((it: Manifest) => it['to'])
            .filter((it: Manifest) => /\/0$/.test(it['ipBlock']?.cidr));
          expect([service, world.length]).toEqual([service, callsTheWorld(which, service) ? 2 : 0]);
          for (const { ipBlock } of world)
            expect(ipBlock.except).toEqual(
              expect.arrayContaining(
                ipBlock.cidr === '0.0.0.0/0'
                  ? ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '169.254.0.0/16']
                  : ['fc00::/7'],
              ),
            );
        }
        // Processes other than the gateway are reached by monitoring only.
        for (const service of Object.keys(SERVICES).filter((it) => it !== 'gateway')) {
          const [{ from }] = one(manifests, 'NetworkPolicy', service)['spec'].ingress;
          expect(from).toEqual([
            { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'monitoring' } } },
          ]);
        }
      });

      it('runs the migration first, with its settings created before it', () => {
        const job = one(manifests, 'Job', 'migrate');
        const hook = {
          'helm.sh/hook': 'pre-install,pre-upgrade',
          'helm.sh/hook-delete-policy': 'before-hook-creation',
        };
        expect(job.metadata.annotations).toMatchObject({ ...hook, 'helm.sh/hook-weight': '0' });
        const before = manifests.filter(({ metadata }) => metadata.annotations?.['helm.sh/hook-weight'] === '-10');
        for (const it of before) expect(it.metadata.annotations).toMatchObject(hook);
        const external = which === 'operators' || which === 'everything';
        const kinds = ['ConfigMap', ...(external ? ['ExternalSecret'] : []), 'NetworkPolicy', 'ServiceAccount'];
        expect(before.map(name).sort()).toEqual(kinds.map((kind) => `${kind} attestry-migrate`));
        const environment = environmentOf(manifests, job);
        expect(environment).toHaveProperty('MIGRATION_DATABASE_URL');
        expect('DATABASE_SERVICE_ROLE' in environment || 'DATABASE_URL' in environment).toBe(true);
        for (const key of ['MASTER_KEY', 'MANAGEMENT_CLIENT_SECRET', 'REDIS_URL'])
          expect(environment).not.toHaveProperty(key);
        const [container] = podOf(job).containers;
        expect(container.command).toEqual(['node', '--no-warnings', 'apps/platform/bundle/migrate.js']);
      });

      it('gives the migration the value of each of its settings that a service has', () => {
        const job = environmentOf(manifests, one(manifests, 'Job', 'migrate'));
        // Its own user on the bus; with `serviceRole` it does not need the password of that role.
        const own = ['NATS_USER', 'NATS_PASSWORD', ...('DATABASE_SERVICE_ROLE' in job ? ['DATABASE_URL'] : [])];
        for (const service of Object.keys(SERVICES)) {
          const environment = environmentOf(manifests, one(manifests, 'Deployment', service));
          const shared = MIGRATION_VARIABLES.filter((it) => it in environment && !own.includes(it));
          expect(shared.length).toBeGreaterThan(3);
          for (const variable of shared) expect([variable, job[variable]]).toEqual([variable, environment[variable]]);
        }
      });

      it('lets a pod finish (unready, SHUTDOWN_DELAY, 15 s) and never reduces the number of pods during a rollout', () => {
        for (const deployment of ofKind(manifests, 'Deployment')) {
          const { terminationGracePeriodSeconds, containers, topologySpreadConstraints } = podOf(deployment);
          const { SHUTDOWN_DELAY } = environmentOf(manifests, deployment);
          expect(terminationGracePeriodSeconds).toBeGreaterThanOrEqual(Number(SHUTDOWN_DELAY) + 15);
          expect(deployment['spec'].strategy.rollingUpdate.maxUnavailable).toBe(0);
          expect(topologySpreadConstraints.map((it: { topologyKey: string }) => it.topologyKey)).toEqual([
            'topology.kubernetes.io/zone',
            'kubernetes.io/hostname',
          ]);
          const { ports, startupProbe, livenessProbe, readinessProbe } = containers[0];
          const paths = [startupProbe, livenessProbe, readinessProbe].map((it) => it.httpGet.path);
          expect(paths).toEqual(['/health/live', '/health/live', '/health/ready']);
          for (const probe of [startupProbe, livenessProbe, readinessProbe])
            expect(ports.map((it: { name: string }) => it.name)).toContain(probe.httpGet.port);
        }
      });

      it('has Services, disruption budgets and autoscalers that select the pods of its Deployments', () => {
        for (const deployment of ofKind(manifests, 'Deployment')) {
          const { labels } = deployment['spec'].template.metadata;
          const service = labels['app.kubernetes.io/component'];
          expect(labels).toMatchObject(deployment['spec'].selector.matchLabels);
          expect(labels).toMatchObject(one(manifests, 'Service', service)['spec'].selector);
          expect(labels).toMatchObject(one(manifests, 'PodDisruptionBudget', service)['spec'].selector.matchLabels);
        }
        const scalers = [...ofKind(manifests, 'HorizontalPodAutoscaler'), ...ofKind(manifests, 'ScaledObject')];
        const scaled = scalers.map((it) => it['spec'].scaleTargetRef.name);
        expect(new Set(scaled).size).toBe(scaled.length);
        for (const deployment of ofKind(manifests, 'Deployment'))
          expect('replicas' in deployment['spec']).toBe(!scaled.includes(deployment.metadata.name));
      });
    });

    describe('the migration', () => {
      const minimal = VARIANTS['minimal']!;
      const jobOf = (words: string[]) => {
        const manifests = render([...minimal, ...words]);
        return { manifests, job: one(manifests, 'Job', 'migrate') };
      };
      const dataOf = (words: string[]) => one(jobOf(words).manifests, 'ConfigMap', 'migrate')['data'];
      const json = (path: string, value: unknown) => ['--set-json', `${path}=${JSON.stringify(value)}`];

      it('is given every setting that it reads, from values or from the Secret', () => {
        const secrets = Object.values(SETTINGS).flatMap(({ env, secret }) => (secret ? [env] : []));
        const free = MIGRATION_VARIABLES.filter((it) => !MADE_BY_THE_CHART.includes(it) && !secrets.includes(it));
        expect(free.sort()).toEqual(['MIGRATION_ALLOWS', 'NATS_REPLICAS', 'OPERATION_EVENTS_DAYS']);
        const values = Object.fromEntries(free.map((it, n) => [it, `${n}`]));
        for (const path of ['config', 'defaults.config', 'services.analytics.config', 'migrate.config'])
          expect(dataOf(json(path, values))).toMatchObject(values);
        const given = Object.values(rendered).flatMap((manifests) =>
          Object.keys(environmentOf(manifests, one(manifests, 'Job', 'migrate'))),
        );
        expect([...given, ...free]).toEqual(expect.arrayContaining([...MIGRATION_VARIABLES]));
      });

      it('is given settings that are no settings of the platform, but not those of single services', () => {
        expect(dataOf(json('config', { UV_THREADPOOL_SIZE: '8' }))).toHaveProperty('UV_THREADPOOL_SIZE', '8');
        expect(dataOf(json('services.dids.config', { NONCE_SECONDS: '60' }))).not.toHaveProperty('NONCE_SECONDS');
      });

      it('has the more specific value of a setting', () => {
        const days = (...paths: string[]) =>
          dataOf(paths.flatMap((path, n) => ['--set-string', `${path}.OPERATION_EVENTS_DAYS=${n + 1}`]));
        const last = (...paths: string[]) =>
          expect(days(...paths)).toHaveProperty('OPERATION_EVENTS_DAYS', `${paths.length}`);
        last('config', 'defaults.config');
        last('config', 'defaults.config', 'services.analytics.config');
        last('config', 'services.analytics.config', 'migrate.config');
        last('services.dids.config', 'services.analytics.config', 'migrate.config');
        expect(
          refusal(
            ...minimal,
            ...json('services.dids.config', { OPERATION_EVENTS_DAYS: '1' }),
            ...json('services.analytics.config', { OPERATION_EVENTS_DAYS: '2' }),
          ),
        ).toMatch(/services\.dids\.config\.OPERATION_EVENTS_DAYS differs from .*: set it in migrate\.config/);
      });

      it.each(['secrets.settings', 'defaults.secretSettings', 'services.dids.secretSettings'])(
        'is given its settings among %s',
        (path) => {
          const { job } = jobOf(json(path, ['NATS_REPLICAS', 'MAIL_FROM']));
          const names = podOf(job).containers[0].env.map((it: { name: string }) => it.name);
          expect(names).toContain('NATS_REPLICAS');
          expect(names).not.toContain('MAIL_FROM');
        },
      );

      const scheduling = {
        nodeSelector: { pool: 'jobs' },
        tolerations: [{ key: 'jobs', operator: 'Exists' }],
        affinity: { nodeAffinity: {} },
        priorityClassName: 'high',
      };
      it('runs where its own values say, and otherwise where the services run', async () => {
        const { job, manifests } = jobOf(json('defaults', { ...scheduling, podAnnotations: { of: 'defaults' } }));
        expect(podOf(job)).toMatchObject(scheduling);
        expect(job['spec'].template.metadata.annotations).toEqual({ of: 'defaults' });
        expect((await Promise.all(manifests.map(faultsOf))).flat()).toEqual([]);
        const own = {
          ...scheduling,
          nodeSelector: {},
          podAnnotations: { of: 'job' },
          annotations: { owner: 'operations' },
          timeout: 3600,
          backoffLimit: 0,
          resources: { requests: { cpu: '2', memory: '3Gi' }, limits: { cpu: '3', memory: '4Gi' } },
        };
        const other = jobOf([...json('defaults.nodeSelector', { pool: 'services' }), ...json('migrate', own)]);
        const { nodeSelector: _, ...rest } = scheduling;
        expect(podOf(other.job)).toMatchObject({ ...rest, containers: [{ resources: own.resources }] });
        expect(podOf(other.job)).not.toHaveProperty('nodeSelector');
        expect(other.job['spec']).toMatchObject({ activeDeadlineSeconds: 3600, backoffLimit: 0 });
        expect(other.job['spec'].template.metadata.annotations).toEqual({ of: 'job' });
        expect(other.job.metadata.annotations).toMatchObject({ owner: 'operations', 'helm.sh/hook-weight': '0' });
        expect((await Promise.all(other.manifests.map(faultsOf))).flat()).toEqual([]);
      });

      it('has further variables, which do not replace those of the chart', async () => {
        const env = [
          { name: 'PGOPTIONS', value: '-c lock_timeout=60s' },
          { name: 'NODE_OPTIONS', valueFrom: { configMapKeyRef: { name: 'node', key: 'options' } } },
        ];
        const envFrom = [{ secretRef: { name: 'more' } }];
        const { job, manifests } = jobOf([...json('migrate.env', env), ...json('migrate.envFrom', envFrom)]);
        const [container] = podOf(job).containers;
        expect(container.env).toEqual(expect.arrayContaining(env));
        expect(container.envFrom).toEqual([...envFrom, { configMapRef: { name: 'attestry-migrate' } }]);
        expect((await Promise.all(manifests.map(faultsOf))).flat()).toEqual([]);
        for (const [variable, message] of [
          [{ name: 'NATS_URL', value: 'nats://other:4222' }, /migrate\/env\/0\/name/],
          [{ name: 'MIGRATION_DATABASE_URL', valueFrom: {} }, /MIGRATION_DATABASE_URL is a variable of the chart/],
          [{ name: 'PGPASSWORD', value: 'word' }, /migrate\.env\.PGPASSWORD is secret/],
        ] as const)
          expect(refusal(...minimal, ...json('migrate.env', [variable]))).toMatch(message);
        expect(refusal(...minimal, '--set-string', 'migrate.config.SMTP_URL=smtp://mail')).toMatch(
          /migrate\.config\.SMTP_URL is secret/,
        );
      });
    });

    it('changes only the autoscaler of issuance with its bounds', () => {
      const more = render([...VARIANTS['minimal']!, '--set', 'services.issuance.autoscaling.maxReplicas=77']);
      const changed = more.filter((it, i) => JSON.stringify(it) !== JSON.stringify(variant('minimal')[i]));
      expect(changed.map(name)).toEqual(['HorizontalPodAutoscaler attestry-issuance']);
      expect(changed[0]!['spec']).toMatchObject({ maxReplicas: 77, metrics: [{ resource: { name: 'cpu' } }] });
      const fixed = ['--set', 'services.issuance.autoscaling.enabled=false,services.issuance.replicas=9'];
      const replicas = ofKind(render([...VARIANTS['minimal']!, ...fixed]), 'Deployment').map((it) => [
        it.metadata.name.replace('attestry-', ''),
        it['spec'].replicas,
      ]);
      expect(Object.fromEntries(replicas)).toEqual({
        ...Object.fromEntries(Object.keys(SERVICES).map((service) => [service, 2])),
        gateway: undefined,
        issuance: 9,
      });
    });

    it('scales gateway and issuance on CPU, and with KEDA on requests in flight as well, never by two scalers at once', () => {
      expect(ofKind(variant('minimal'), 'HorizontalPodAutoscaler').map(name)).toEqual([
        'HorizontalPodAutoscaler attestry-gateway',
        'HorizontalPodAutoscaler attestry-issuance',
      ]);
      const operators = variant('operators');
      expect(ofKind(operators, 'HorizontalPodAutoscaler')).toEqual([]);
      const scaled = ofKind(operators, 'ScaledObject');
      expect(scaled.map(name)).toEqual(['ScaledObject attestry-gateway', 'ScaledObject attestry-issuance']);
      for (const { spec } of scaled) {
        expect(spec.triggers).toMatchObject([
          { type: 'cpu', metricType: 'AverageValue', metadata: { value: '700m' } },
          { type: 'prometheus', metricType: 'AverageValue' },
        ]);
        expect(spec.advanced.horizontalPodAutoscalerConfig.behavior).toEqual(behavior);
      }
    });

    it('queries what further replicas share in every example of KEDA, with existing metrics', () => {
      const reference = readFileSync(join(repository, 'docs/reference/metrics.md'), 'utf8');
      const examples = Object.values(rendered).flatMap((manifests) => ofKind(manifests, 'ScaledObject'));
      expect(examples.length).toBeGreaterThan(0);
      for (const { spec } of examples)
        for (const { metadata } of spec.triggers.filter((it: { type: string }) => it.type === 'prometheus')) {
          const used = [...metadata.query.matchAll(/attestry_\w+/g)].map(([metric]) => metric);
          for (const metric of used) expect(reference).toContain(`| \`${metric}\` |`);
          expect(used[0]).toMatch(/_in_flight$/);
          expect(metadata.query).toMatch(/^sum\(/);
        }
    });

    it('scales on CPU of a whole core, whatever is requested', () => {
      const targetOf = (words: string[]) =>
        ofKind(render([...VARIANTS['minimal']!, ...words]), 'HorizontalPodAutoscaler').map(
          ({ spec }) => spec.metrics[0].resource.target,
        );
      const whole = { type: 'AverageValue', averageValue: '700m' };
      expect(targetOf([])).toEqual([whole, whole]);
      expect(targetOf(['--set', 'defaults.resources.requests.cpu=50m'])).toEqual([whole, whole]);
      expect(targetOf(['--set', 'services.issuance.autoscaling.targetCPU=55'])).toEqual([
        whole,
        { ...whole, averageValue: '550m' },
      ]);
      const [hpa] = ofKind(variant('minimal'), 'HorizontalPodAutoscaler');
      expect(hpa!['spec'].behavior).toEqual(behavior);
      const slower = render([
        ...VARIANTS['minimal']!,
        '--set',
        'services.issuance.autoscaling.behavior.scaleDown.stabilizationWindowSeconds=900',
      ]);
      expect(one(slower, 'HorizontalPodAutoscaler', 'issuance')['spec'].behavior).toMatchObject({
        scaleUp: behavior.scaleUp,
        scaleDown: { ...behavior.scaleDown, stabilizationWindowSeconds: 900 },
      });
    });

    it('gives each alert the address of its section, under the address of the docs if that is given', () => {
      const urls = (words: string[]) =>
        one(render([...VARIANTS['production']!, ...words]), 'PrometheusRule', 'attestry')['spec'].groups.flatMap(
          (group: { rules: { annotations: { runbook_url: string } }[] }) =>
            group.rules.map(({ annotations }) => annotations.runbook_url),
        );
      const paths = urls([]) as string[];
      const headings = [
        ...readFileSync(join(repository, 'docs/guides/operations.md'), 'utf8').matchAll(/^### (\w+)$/gm),
      ];
      const sections = headings.map(([, title]) => `docs/guides/operations.md#${title!.toLowerCase()}`);
      expect(paths.length).toBeGreaterThan(20);
      for (const path of paths) expect(sections).toContain(path);
      const base = 'https://git.example.org/attestry/blob/main';
      expect(urls(['--set', `prometheusRule.runbookBase=${base}`])).toEqual(paths.map((path) => `${base}/${path}`));
      expect(refusal(...VARIANTS['minimal']!, '--set', 'prometheusRule.runbookBase=git.example.org')).toMatch(
        /runbookBase/,
      );
    });

    it('routes every public host to the API port of the gateway, over TLS', () => {
      const hosts = ['*.issue.example.org', '*.sandbox.example.org', 'manage.example.net', 'login.example.com'];
      const { tls, rules } = one(variant('production'), 'Ingress', 'gateway')['spec'];
      const custom = 'id.customer.example';
      expect(tls).toEqual([
        { secretName: 'wildcard', hosts },
        { secretName: 'customer', hosts: [custom] },
      ]);
      expect(rules.map((it: { host: string }) => it.host)).toEqual([...hosts, custom]);
      for (const { http } of rules) expect(http).toEqual(rules[0].http);
      const everything = variant('everything');
      const route = one(everything, 'HTTPRoute', 'gateway')['spec'];
      expect(route).toMatchObject({
        hostnames: [...hosts, custom],
        rules: [{ backendRefs: [{ name: 'attestry-gateway', port: 8080 }] }],
      });
      const listeners = one(everything, 'Gateway', 'gateway')['spec'].listeners as {
        protocol: string;
        hostname: string;
        tls: { certificateRefs: { name: string }[] };
      }[];
      expect(
        listeners.map(({ protocol, hostname, tls: { certificateRefs } }) => [protocol, hostname, certificateRefs]),
      ).toEqual([
        ...hosts.map((it) => ['HTTPS', it, [{ name: 'wildcard' }]]),
        ['HTTPS', custom, [{ name: 'customer' }]],
      ]);
      for (const manifests of Object.values(rendered))
        for (const service of ofKind(manifests, 'Service').filter((it) => it.metadata.name !== 'attestry-gateway'))
          expect(service['spec'].ports.map((it: { name: string }) => it.name)).toEqual(['admin']);
      expect(ofKind(variant('minimal'), 'Ingress').concat(ofKind(variant('minimal'), 'HTTPRoute'))).toEqual([]);
    });

    it('fetches every key that a pod refers to from the secret store', () => {
      for (const which of ['operators', 'everything']) {
        const manifests = variant(which);
        const made = new Map(
          ofKind(manifests, 'ExternalSecret').map((it) => [
            it['spec'].target.name,
            it['spec'].data.map((entry: { secretKey: string }) => entry.secretKey),
          ]),
        );
        for (const workload of pods(manifests)) {
          for (const { valueFrom } of podOf(workload).containers[0].env)
            expect(made.get(valueFrom.secretKeyRef.name)).toContain(valueFrom.secretKeyRef.key);
        }
        expect(made.get('attestry-services')).not.toContain('MIGRATION_DATABASE_URL');
      }
    });

    describe('every secret setting', () => {
      const secrets = Object.values(SETTINGS).flatMap(({ env, secret }) => (secret ? [env] : []));
      const minimal = VARIANTS['minimal']!;
      /** Settings that the chart takes from the Secret with dedicated values. */
      const BY_VALUES: Record<string, string[]> = {
        NATS_PASSWORD: [],
        DATABASE_URL: [],
        REDIS_URL: [],
        MASTER_KEY: [],
        MANAGEMENT_CLIENT_SECRET: [],
        MIGRATION_DATABASE_URL: [],
        EVENTSTORE_URL: ['--set-json', 'eventStore={"enabled":true,"peers":[{"podSelector":{}}]}'],
        KEYS_DATABASE_URL: ['--set', 'database.separateKeys=true'],
        MASTER_KEY_NEXT: ['--set', 'secrets.nextMasterKey=true'],
        MASTER_KEY_PREVIOUS: ['--set', 'secrets.previousMasterKey=true'],
      };
      const given = (manifests: Manifest[], setting: string) =>
        pods(manifests)
          .filter((it) => podOf(it).containers[0].env.some((variable: { name: string }) => variable.name === setting))
          .map(({ metadata }) => metadata.name);

      it.each(secrets)('%s comes from the Secret', (setting) => {
        const words = BY_VALUES[setting] ?? ['--set', `secrets.settings={${setting}}`];
        const manifests = render([...minimal, ...words]);
        expect(given(manifests, setting).length).toBeGreaterThan(0);
        for (const map of ofKind(manifests, 'ConfigMap')) expect(map['data']).not.toHaveProperty(setting);
      });

      const refusedAs = (path: string, setting: string) =>
        new RegExp(`${path}.${setting} is secret and would be in a ConfigMap: .*secrets\\.settings`);
      it.each(secrets)('%s is refused where it would be in a ConfigMap', (setting) => {
        expect(refusal(...minimal, '--set-string', `config.${setting}=a-secret`)).toMatch(refusedAs('config', setting));
      });

      it.each(['defaults.config', 'services.gateway.config'])('is refused in %s as well', (path) => {
        const message = refusal(...minimal, '--set-string', `${path}.SMTP_URL=a-secret`);
        expect(message).toMatch(refusedAs(path, 'SMTP_URL'));
      });

      it('is on the list of the chart, which is generated', () => {
        const list = JSON.parse(readFileSync(join(chart, 'files/secret-settings.json'), 'utf8')) as string[];
        expect(list).toEqual([...secrets].sort());
      });

      it('can be given to one service, and SMTP_URL only to management', () => {
        const own = render([...minimal, '--set', 'services.gateway.secretSettings={OTEL_EXPORTER_OTLP_HEADERS}']);
        expect(given(own, 'OTEL_EXPORTER_OTLP_HEADERS')).toEqual(['attestry-gateway']);
        const all = render([...minimal, '--set', 'secrets.settings={SMTP_URL,OTEL_EXPORTER_OTLP_HEADERS}']);
        expect(given(all, 'SMTP_URL')).toEqual(['attestry-management']);
        expect(given(all, 'OTEL_EXPORTER_OTLP_HEADERS')).toHaveLength(Object.keys(SERVICES).length);
      });

      it.each(['MANAGEMENT_OIDC_ISSUER', 'MANAGEMENT_OIDC_AUDIENCE'])(
        'also accepts %s from the Secret or as a value, not both',
        (setting) => {
          const fromSecret = render([...minimal, '--set', `secrets.settings={${setting}}`]);
          expect(given(fromSecret, setting)).toContain('attestry-gateway');
          const asValue = ['--set-string', `config.${setting}=https://login.example.org`];
          expect(one(render([...minimal, ...asValue]), 'ConfigMap', 'gateway')['data']).toHaveProperty(setting);
          expect(refusal(...minimal, ...asValue, '--set', `secrets.settings={${setting}}`)).toMatch(
            new RegExp(`${setting} is among the settings and among those of the Secret`),
          );
        },
      );

      it.each([
        ['a password of a library', 'PGPASSWORD=word', /config\.PGPASSWORD is secret/],
        ['headers of an exporter', 'OTEL_EXPORTER_OTLP_TRACES_HEADERS=api-key=word', /HEADERS is secret/],
        ['credentials in a URL', 'INVITATION_URL=https://user:word@portal.example', /URL with credentials/],
      ])('covers %s', (_, setting, message) => {
        expect(refusal(...minimal, '--set-string', `config.${setting}`)).toMatch(message);
      });

      it('accepts every other setting of the reference in `config`, except those that the chart sets', () => {
        const others = Object.values(SETTINGS).flatMap(({ env }) => (secrets.includes(env) ? [] : [env]));
        const configOf = (names: string[]) => [
          '--set-json',
          `config=${JSON.stringify(Object.fromEntries(names.map((env) => [env, '1'])))}`,
        ];
        const free = others.filter((env) => !MADE_BY_THE_CHART.includes(env));
        const { data } = one(render([...minimal, ...configOf(free)]), 'ConfigMap', 'gateway');
        for (const env of free) expect(data).toHaveProperty(env, '1');
        const message = refusal(...minimal, ...configOf(MADE_BY_THE_CHART));
        for (const env of MADE_BY_THE_CHART) expect(message).toMatch(new RegExp(`invalid propertyName '${env}'`));
      });
    });

    describe('the NetworkPolicy', () => {
      const peersOf = (manifests: Manifest[], service: string) =>
        one(manifests, 'NetworkPolicy', service)['spec'].egress as Manifest[];
      const ports = (protocol: string, ...numbers: number[]) => numbers.map((port) => ({ protocol, port }));
      const everything = { protocol: 'TCP', port: 1, endPort: 65535 };
      const WORLD = ['0.0.0.0/0', '::/0'];
      const worldly = (rule: Manifest) =>
        JSON.stringify(rule['to'].map((it: Manifest) => it['ipBlock']?.cidr)) === JSON.stringify(WORLD);
      const ruleTo = (manifests: Manifest[], service: string, cidr: string) =>
        peersOf(manifests, service).filter((rule) => rule['to'].some((it: Manifest) => it['ipBlock']?.cidr === cidr));

      it('lets the gateway reach the identity provider of people, where one is set', () => {
        expect(peersOf(variant('minimal'), 'gateway').filter(worldly)).toEqual([]);
        const [rule, ...more] = peersOf(variant('production'), 'gateway').filter(worldly);
        expect([rule!['ports'], more]).toEqual([[everything], []]);
        const fromSecret = render([...VARIANTS['minimal']!, '--set', 'secrets.settings={MANAGEMENT_OIDC_ISSUER}']);
        expect(peersOf(fromSecret, 'gateway').filter(worldly)).toHaveLength(1);
        expect(ruleTo(variant('everything'), 'gateway', '203.0.113.10/32')).toMatchObject([
          { ports: ports('TCP', 443) },
        ]);
      });

      it('lets tenant-config reach identity providers of tenants, and servers of DNS_SERVERS', () => {
        expect(peersOf(variant('minimal'), 'tenant-config').filter(worldly)).toMatchObject([{ ports: [everything] }]);
        const rules = variant('everything');
        expect(ruleTo(rules, 'tenant-config', '203.0.113.10/32')).toMatchObject([{ ports: ports('TCP', 443) }]);
        expect(ruleTo(rules, 'tenant-config', '203.0.113.53/32')).toMatchObject([
          { ports: [...ports('UDP', 53), ...ports('TCP', 53)] },
        ]);
        expect(ruleTo(variant('production'), 'tenant-config', '203.0.113.53/32')).toEqual([]);
      });

      it('lets management, and nothing else, reach the mail server, where one is set', () => {
        expect(peersOf(variant('minimal'), 'management').filter(worldly)).toEqual([]);
        expect(peersOf(variant('production'), 'management').filter(worldly)).toMatchObject([
          { ports: ports('TCP', 465, 587) },
        ]);
        for (const service of [...Object.keys(SERVICES), 'migrate'])
          expect(ruleTo(variant('everything'), service, '203.0.113.25/32')).toEqual(
            service === 'management' ? [expect.objectContaining({ ports: ports('TCP', 465) })] : [],
          );
      });

      it.each([
        ['webhooks', 'webhooks'],
        ['dids', 'tenantAddresses'],
        ['issuance', 'tenantAddresses'],
      ])('lets %s reach what %s names', (service, rule) => {
        expect(peersOf(variant('minimal'), service).filter(worldly)).toMatchObject([{ ports: [everything] }]);
        const egress = { [rule]: { to: [{ ipBlock: { cidr: '203.0.113.80/32' } }], ports: [8443] } };
        const narrowed = render([
          ...VARIANTS['minimal']!,
          '--set-json',
          `networkPolicy.egress=${JSON.stringify(egress)}`,
        ]);
        expect(peersOf(narrowed, service).filter(worldly)).toEqual([]);
        expect(ruleTo(narrowed, service, '203.0.113.80/32')).toMatchObject([{ ports: ports('TCP', 8443) }]);
      });

      it('lets every service reach DNS and, where it is set, the receiver of traces', () => {
        const moved = render([...VARIANTS['operators']!, '--set', 'networkPolicy.dnsPorts={53,8053}']);
        for (const service of Object.keys(SERVICES)) {
          const [dns] = peersOf(moved, service);
          expect(dns).toMatchObject({
            to: [{ podSelector: { matchLabels: { 'k8s-app': 'kube-dns' } } }],
            ports: [...ports('UDP', 53), ...ports('TCP', 53), ...ports('UDP', 8053), ...ports('TCP', 8053)],
          });
          const traces = peersOf(moved, service).filter(({ ports: [{ port }] }) => port === 4318);
          expect(traces).toMatchObject([
            { to: [{ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'monitoring' } } }] },
          ]);
          expect(peersOf(variant('minimal'), service).filter(({ ports: [{ port }] }) => port === 4318)).toEqual([]);
        }
      });
    });

    it('gives each service a separate NATS user', () => {
      const users = Object.keys(SERVICES).map((service) => {
        const environment = environmentOf(variant('minimal'), one(variant('minimal'), 'Deployment', service));
        return [environment['NATS_USER'], environment['NATS_PASSWORD']];
      });
      expect(users).toEqual(
        Object.keys(SERVICES).map((it) => [it, `dummy of NATS_PASSWORD_${it.toUpperCase().replaceAll('-', '_')}`]),
      );
      const credentials = Object.keys(SERVICES).map(
        (service) =>
          podOf(one(variant('production'), 'Deployment', service)).volumes.find(
            (it: { name: string }) => it.name === 'nats-credentials',
          ).secret.items[0].key,
      );
      expect(credentials).toEqual(Object.keys(SERVICES).map((it) => `nats-${it}.creds`));
    });

    it('rolls a Deployment out when its settings change, and no other', () => {
      const digests = (manifests: Manifest[]) =>
        ofKind(manifests, 'Deployment').map((it) => [
          it.metadata.name,
          it['spec'].template.metadata.annotations['checksum/config'],
        ]);
      const before = digests(variant('minimal'));
      const after = digests(render([...VARIANTS['minimal']!, '--set-string', 'services.dids.config.NONCE_SECONDS=60']));
      expect(after.filter(([, digest], i) => digest !== before[i]![1]).map(([it]) => it)).toEqual(['attestry-dids']);
    });

    it('includes every dashboard and alert file of its files folder unchanged', async () => {
      const folder = mkdtempSync(join(tmpdir(), 'attestry-chart-'));
      try {
        const copy = join(folder, 'attestry');
        cpSync(chart, copy, { recursive: true });
        for (const part of ['dashboards', 'alerts']) mkdirSync(join(copy, 'files', part), { recursive: true });
        const dashboard = JSON.stringify({ title: 'One', panels: [{ legendFormat: '{{service}}' }] }, null, 2);
        const groups = [
          {
            name: 'one',
            rules: [{ alert: 'Down', expr: 'up == 0', annotations: { summary: '{{ $labels.pod }} is down' } }],
          },
        ];
        writeFileSync(join(copy, 'files/dashboards/one.json'), dashboard);
        writeFileSync(join(copy, 'files/alerts/one.yaml'), JSON.stringify({ groups }));
        const manifests = render(VARIANTS['production']!, copy);
        expect((await Promise.all(manifests.map(faultsOf))).flat()).toEqual([]);
        const map = one(manifests, 'ConfigMap', 'dashboard-one');
        expect(map.metadata.labels).toMatchObject({ grafana_dashboard: '1' });
        expect(JSON.parse(map['data']['one.json'])).toEqual(JSON.parse(dashboard));
        const rule = one(manifests, 'PrometheusRule', 'one');
        expect(rule['spec']).toEqual({ groups });
        expect(rule.metadata.labels).toMatchObject({ release: 'prometheus' });
        const monitor = ofKind(manifests, 'ServiceMonitor')[0]!['spec'];
        expect(monitor.endpoints).toEqual([{ port: 'admin', path: '/metrics', interval: '15s' }]);
      } finally {
        rmSync(folder, { recursive: true });
      }
    });

    it('replaces pods one by one, or all of a service at once where a release does not run beside its predecessor', () => {
      const strategies = (...words: string[]) =>
        new Set(
          ofKind(render([...VARIANTS['production']!, ...words]), 'Deployment').map((it) =>
            JSON.stringify(it['spec'].strategy),
          ),
        );
      const rolling = { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } };
      expect(strategies()).toEqual(new Set([JSON.stringify(rolling)]));
      expect(strategies('--set', 'upgrade.strategy=rolling')).toEqual(new Set([JSON.stringify(rolling)]));
      expect(strategies('--set', 'upgrade.strategy=recreate')).toEqual(new Set([JSON.stringify({ type: 'Recreate' })]));
      // `helm upgrade --reuse-values` of a release whose chart did not have the value.
      expect(strategies('--set', 'upgrade=null')).toEqual(new Set([JSON.stringify(rolling)]));
      expect(refusal(...VARIANTS['production']!, '--set', 'upgrade.strategy=all')).toMatch(/upgrade.strategy/);
    });

    it('changes nothing but the strategy with it, so that a rollback restores it', () => {
      const [rolling, recreate] = ['rolling', 'recreate'].map((strategy) =>
        render([...VARIANTS['everything']!, '--set', `upgrade.strategy=${strategy}`]).map((it) => {
          if (it.kind !== 'Deployment') return it;
          const { strategy: _, ...spec } = it['spec'];
          return { ...it, spec };
        }),
      );
      expect(recreate).toEqual(rolling);
    });

    it('prints the next command', () => {
      const notes = (words: string[]) => helm('install', 'attestry', chart, '--dry-run=client', ...words).stdout;
      expect(notes(VARIANTS['production']!)).toMatch(
        /kubectl .*rollout status[\s\S]*curl https:\/\/auth\.issue\.example\.org\/oauth\/token/,
      );
      expect(notes(VARIANTS['minimal']!)).toContain('The gateway is not reachable from outside the cluster yet');
    });

    it('says after an upgrade what to wait for, and how to return', () => {
      const folder = mkdtempSync(join(tmpdir(), 'attestry-chart-'));
      try {
        cpSync(chart, folder, { recursive: true });
        // `helm template` prints no notes.
        const notes = `{{ include (print $.Template.BasePath "/NOTES.txt") . | quote }}`;
        const manifest = `apiVersion: v1\nkind: ConfigMap\nmetadata: { name: attestry-notes }\ndata: { text: ${notes} }\n`;
        writeFileSync(join(folder, 'templates/notes.yaml'), manifest);
        const notesOf = (...words: string[]): string =>
          one(render([...VARIANTS['production']!, ...words], folder), 'ConfigMap', 'notes')['data'].text;
        const upgraded = notesOf('--is-upgrade');
        expect(upgraded).toMatch(/rollout status[\s\S]*no call is refused[\s\S]*helm .*rollback attestry/);
        expect(upgraded).not.toContain('first token');
        const recreated = notesOf('--is-upgrade', '--set', 'upgrade.strategy=recreate');
        expect(recreated).toMatch(/calls are refused until[\s\S]*To return through a window/);
        expect(recreated).not.toContain('continue to serve');
        expect(notesOf()).not.toContain('rollback');
      } finally {
        rmSync(folder, { recursive: true });
      }
    });

    it('has the labels by which the guide waits for the end of the pods, except the one of the migration', () => {
      const guide = readFileSync(join(repository, 'docs/guides/deploy.md'), 'utf8');
      const [, selector] = /wait pod --for=delete[\s\S]*?--selector (\S+)/.exec(guide)!;
      const isSelected = ({ spec }: Manifest) =>
        selector!.split(',').every((term) => {
          const [label, value] = term.split(/!?=/) as [string, string];
          return (spec.template.metadata.labels[label] === value) !== term.includes('!=');
        });
      for (const workload of pods(variant('production')))
        expect([name(workload), isSelected(workload)]).toEqual([name(workload), workload.kind === 'Deployment']);
    });

    it('accepts the values of the guide, and refers to no key that the guide does not create', () => {
      const guide = readFileSync(join(repository, 'docs/guides/deploy.md'), 'utf8');
      const [, example] = /```yaml\n(image:[\s\S]*?)```/.exec(guide)!;
      const folder = mkdtempSync(join(tmpdir(), 'attestry-chart-'));
      try {
        const file = join(folder, 'values.yaml');
        writeFileSync(file, example!);
        const manifests = render(['--values', file]);
        const command = (secret: string) =>
          guide.split(`create secret generic ${secret} `)[1]!.split(/kubectl|```/)[0]!;
        for (const workload of pods(manifests))
          for (const { valueFrom } of podOf(workload).containers[0].env)
            expect(command(valueFrom.secretKeyRef.name)).toContain(`--from-literal=${valueFrom.secretKeyRef.key}=`);
      } finally {
        rmSync(folder, { recursive: true });
      }
    });

    describe('refuses', () => {
      const minimal = VARIANTS['minimal']!;
      const set = (text: string) => ['--set', text];
      it.each<[string, string[], RegExp]>([
        ['no values at all', [], /image\/repository[\s\S]*baseDomain|baseDomain[\s\S]*image\/repository/],
        ['no NATS', [...minimal, ...set('nats.urls=null')], /'\/nats'.*urls/],
        ['an empty list of NATS servers', [...minimal, '--set-json', 'nats.urls=[]'], /'\/nats\/urls'.*minItems/],
        ['no Redis', [...minimal, ...set('redis=null')], /redis/],
        ['Redis nobody knows where', [...minimal, ...set('redis.peers=null')], /peers/],
        ['no database', [...minimal, ...set('database=null')], /database/],
        ['EventStoreDB nobody knows where', [...minimal, ...set('eventStore.enabled=true')], /eventStore\/peers/],
        [
          'a password in the address of NATS',
          [...minimal, ...set('nats.urls={nats://a:b@nats:4222}')],
          /nats\/urls\/0/,
        ],
        ['no Secret', [...minimal, ...set('secrets.existingSecret=')], /secrets\/existingSecret/],
        [
          'a Secret and a store',
          [...minimal, ...set('secrets.externalSecret.enabled=true')],
          /existingSecret|remoteKey/,
        ],
        ['a secret among settings', [...minimal, ...set('config.MASTER_KEY=x')], /MASTER_KEY/],
        ['a setting the chart makes', [...minimal, ...set('services.dids.config.SERVICE=x')], /SERVICE/],
        ['private targets', [...minimal, ...set('config.ALLOW_PRIVATE_TARGETS=true')], /ALLOW_PRIVATE_TARGETS/],
        ['a data folder', [...minimal, ...set('config.DATA_DIR=/data')], /DATA_DIR/],
        [
          'a service that is none',
          [...minimal, ...set('services.isuance.replicas=1')],
          /services\.isuance: there is no such service/,
        ],
        ['a misspelt value', [...minimal, ...set('shutdowndelay=1')], /shutdowndelay/],
        [
          'a custom domain without a certificate',
          [...values('production.yaml'), '--set-json', 'ingress.extraHosts=[{"host":"id.customer.example"}]'],
          /extraHosts/,
        ],
        [
          'a custom domain that is a host of the platform',
          [
            ...values('production.yaml'),
            '--set-json',
            'ingress.extraHosts=[{"host":"acme.issue.example.org","tls":{"secretName":"acme"}}]',
          ],
          /ingress\.extraHosts: acme\.issue\.example\.org leads to the gateway already/,
        ],
        [
          'NATS without TLS',
          [...minimal, '--set-json', 'plaintextEngines=[]'],
          /nats:\/\/ has no TLS.*plaintextEngines/,
        ],
        ['every address without TLS', [...minimal, '--set-json', 'plaintextEngines=["0.0.0.0/0"]'], /plaintextEngines/],
        ['NATS without credentials', [...minimal, ...set('nats.auth.method=none')], /nats\.auth\.method: none needs/],
        ['an open gateway', [...minimal, ...set('networkPolicy.ingressFrom=null')], /ingressFrom|networkPolicy/],
        ['no limits', [...minimal, ...set('defaults.resources.limits=null')], /resources/],
        ['TLS without a certificate', [...minimal, ...set('ingress.enabled=true')], /ingress\/tls\/secretName/],
        ['a route to no Gateway', [...minimal, ...set('gatewayApi.enabled=true')], /parentRefs/],
        [
          'two ways in',
          [...values('production.yaml'), '--set-json', 'gatewayApi={"enabled":true,"parentRefs":[{"name":"a"}]}'],
          /one way in/,
        ],
        [
          'KEDA without a trigger',
          [...minimal, ...set('services.issuance.autoscaling.keda.enabled=true')],
          /services\.issuance\.autoscaling\.keda: needs triggers/,
        ],
        [
          'bounds the wrong way round',
          [...minimal, ...set('services.issuance.autoscaling.maxReplicas=1')],
          /minReplicas is more/,
        ],
      ])('%s, with a message', (_, words, message) => {
        expect(refusal(...words)).toMatch(message);
      });
    });
  });

describe('the check of manifests', () => {
  const service = (spec: object): Manifest => ({ apiVersion: 'v1', kind: 'Service', metadata: { name: 'a' }, spec });

  it('finds wrong types, missing members and members that do not exist', async () => {
    const ports = [{ port: 80 }];
    expect(await faultsOf(service({ ports }))).toEqual([]);
    expect(await faultsOf(service({ ports: [{ port: '80' }] }))).toEqual([
      'Service a/spec/ports/0/port: type {"type":"integer"}',
    ]);
    expect(await faultsOf(service({ ports: [{}] }))).toEqual([
      'Service a/spec/ports/0: required {"missingProperty":"port"}',
    ]);
    expect(await faultsOf(service({ ports, selectors: {} }))).toEqual(['Service a/spec/selectors: unknown']);
    const scaled = { apiVersion: 'keda.sh/v1alpha1', kind: 'ScaledObject', metadata: { name: 'a' } };
    const spec = { scaleTargetRef: { name: 'a' }, triggers: [{ type: 'cpu', metadata: { value: '70' } }] };
    expect(await faultsOf({ ...scaled, spec })).toEqual([]);
    expect(await faultsOf({ ...scaled, spec: { ...spec, maxReplicas: 3 } })).toEqual([
      'ScaledObject a/spec/maxReplicas: unknown',
    ]);
    expect(await faultsOf({ ...service({}), kind: 'Servce' })).toEqual(['Servce a: no schema for v1 Servce']);
  });
});

describe('the values of the chart', () => {
  it('are all tested: each file of ci/ is rendered above', () => {
    const used = Object.values(VARIANTS)
      .flat()
      .filter((it) => it.startsWith(chart));
    expect(new Set(used).size).toBe(4);
    for (const file of used) expect(existsSync(file)).toBe(true);
  });
});
