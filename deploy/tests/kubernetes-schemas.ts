import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { repository, type Manifest } from './kube-tools.js';

interface Validate {
  (data: unknown): boolean;
  errors?: { instancePath: string; keyword: string; params: unknown }[] | null;
}

const BUILT_IN = 'kubernetes-models/_schemas/IoK8sApi';
/** Compiled schema of each kind: from Kubernetes' OpenAPI document, and from the operators' definitions of their own kinds. */
const SCHEMAS: Record<string, string> = {
  'v1 ConfigMap': `${BUILT_IN}CoreV1ConfigMap`,
  'v1 Service': `${BUILT_IN}CoreV1Service`,
  'v1 ServiceAccount': `${BUILT_IN}CoreV1ServiceAccount`,
  'apps/v1 Deployment': `${BUILT_IN}AppsV1Deployment`,
  'autoscaling/v2 HorizontalPodAutoscaler': `${BUILT_IN}AutoscalingV2HorizontalPodAutoscaler`,
  'batch/v1 Job': `${BUILT_IN}BatchV1Job`,
  'networking.k8s.io/v1 Ingress': `${BUILT_IN}NetworkingV1Ingress`,
  'networking.k8s.io/v1 NetworkPolicy': `${BUILT_IN}NetworkingV1NetworkPolicy`,
  'policy/v1 PodDisruptionBudget': `${BUILT_IN}PolicyV1PodDisruptionBudget`,
  'external-secrets.io/v1 ExternalSecret':
    '@kubernetes-models/external-secrets/_schemas/ComGithubExternalSecretsExternalSecretsApisExternalsecretsV1ExternalSecret',
  'gateway.networking.k8s.io/v1 Gateway': '@kubernetes-models/gateway-api/_schemas/IoK8sSigsGatewayApiApisV1Gateway',
  'gateway.networking.k8s.io/v1 HTTPRoute':
    '@kubernetes-models/gateway-api/_schemas/IoK8sSigsGatewayApiApisV1HTTPRoute',
  'keda.sh/v1alpha1 ScaledObject':
    '@kubernetes-models/keda/_schemas/ComGithubKedacoreKedaV2ApisKedaV1alpha1ScaledObject',
  'monitoring.coreos.com/v1 PrometheusRule':
    '@kubernetes-models/prometheus-operator/_schemas/ComGithubPrometheusOperatorPrometheusOperatorPkgApisMonitoringV1PrometheusRule',
  'monitoring.coreos.com/v1 ServiceMonitor':
    '@kubernetes-models/prometheus-operator/_schemas/ComGithubPrometheusOperatorPrometheusOperatorPkgApisMonitoringV1ServiceMonitor',
};

/** A kind of Kubernetes itself, which kubectl supports without a cluster. */
export const isBuiltIn = ({ apiVersion, kind }: Manifest): boolean =>
  SCHEMAS[`${apiVersion} ${kind}`]?.startsWith(BUILT_IN) ?? false;

/** The value, recording the path of every member that is read. Compiled schemas read only the members they name. */
const watched = <T>(value: T, path: string, read: Set<string>): T =>
  typeof value !== 'object' || value === null
    ? value
    : (new Proxy(value, {
        get: (target, key) => {
          const member: unknown = Reflect.get(target, key);
          if (typeof key !== 'string' || typeof member === 'function') return member;
          read.add(`${path}/${key}`);
          return watched(member, `${path}/${key}`, read);
        },
      }) as T);

const unread = (value: unknown, path: string, read: Set<string>): string[] =>
  typeof value !== 'object' || value === null
    ? []
    : Object.entries(value).flatMap(([key, member]) =>
        read.has(`${path}/${key}`) ? unread(member, `${path}/${key}`, read) : [`${path}/${key}`],
      );

/**
 * Faults of a manifest, a line each: a value of the wrong type or form, a missing member, and a member that the schema does not know (which
 * an API server would silently drop).
 */
export const faultsOf = async (manifest: Manifest): Promise<string[]> => {
  const kind = `${manifest.apiVersion} ${manifest.kind}`;
  const from = SCHEMAS[kind];
  const at = `${manifest.kind} ${manifest.metadata?.name}`;
  if (!from) return [`${at}: no schema for ${kind}`];
  // By file: not all of these packages export them, and their classes copy what they are given before they check it.
  const file = pathToFileURL(join(repository, 'node_modules', `${from}.js`)).href;
  const { validate } = (await import(file)) as { validate: Validate };
  const read = new Set<string>();
  const errors = validate(watched(manifest, '', read)) ? [] : (validate.errors ?? []);
  return [
    ...errors.map(({ instancePath, keyword, params }) => `${at}${instancePath}: ${keyword} ${JSON.stringify(params)}`),
    ...unread(manifest, '', read).map((path) => `${at}${path}: unknown`),
  ];
};
