import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PARTICIPANTS } from '@attestry/contracts';
import { parser } from '@prometheus-io/lezer-promql';
import { parse } from 'yaml';
import { METRICS } from './metric-definitions.js';
import { Metrics } from './metrics.js';

const repository = join(import.meta.dirname, '../../../..');
const read = (path: string) => readFileSync(join(repository, path), 'utf8');

interface Rule {
  alert: string;
  expr: string;
  labels: { severity: string };
  annotations: { summary: string; runbook_url: string };
}
interface Panel {
  id: number;
  type: string;
  title: string;
  targets?: { expr: string }[];
}

const GUIDE = 'docs/guides/operations.md';
const { groups } = parse(read('deploy/helm/attestry/files/alerts/attestry.yaml')) as { groups: { rules: Rule[] }[] };
const rules = groups.flatMap((group) => group.rules);
const dashboard = JSON.parse(read('deploy/helm/attestry/files/dashboards/attestry.json')) as { panels: Panel[] };
const queries = dashboard.panels.flatMap(({ title, targets = [] }) =>
  targets.map(({ expr }): [string, string] => [title, expr.replaceAll('$__rate_interval', '5m')]),
);
const expressions: [string, string][] = [
  ...rules.map(({ alert, expr }): [string, string] => [alert, expr]),
  ...queries,
];

/** Metrics and labels an expression names, and where it is no PromQL. */
const namesIn = (expr: string): { metrics: string[]; labels: string[]; faults: string[] } => {
  const found = { metrics: [] as string[], labels: [] as string[], faults: [] as string[] };
  const tree = parser.parse(expr);
  tree.iterate({
    enter: ({ name, type, from, to, node }) => {
      const text = expr.slice(from, to);
      if (type.isError) found.faults.push(`at ${from}: ${expr.slice(Math.max(0, from - 10), to + 10)}`);
      if (name === 'Identifier' && node.parent?.name === 'VectorSelector') found.metrics.push(text);
      if (name === 'LabelName') found.labels.push(text);
    },
  });
  return found;
};

describe('dashboards and alerts', () => {
  const metrics = new Metrics();
  metrics.observeProcess();
  const known = new Map<string, readonly string[]>();
  for (const { name, type } of metrics.registry.getMetricsAsArray()) {
    const declared = Object.values(METRICS).find((it) => it.name === name)?.labels ?? ['kind'];
    const isHistogram = String(type) === 'histogram';
    for (const suffix of isHistogram ? ['_bucket', '_sum', '_count'] : ['']) known.set(name + suffix, declared);
  }

  it('are checked by a PromQL parser that finds faults', () => {
    expect(namesIn('sum by (operation) (rate(a_total{status=~"5.."}[5m])) > 0')).toEqual({
      metrics: ['a_total'],
      labels: ['operation', 'status'],
      faults: [],
    });
    expect(namesIn('sum by (operation (rate(a_total[5m]))').faults).not.toEqual([]);
  });

  it.each(expressions)('use existing metrics and labels: %s', (_name, expr) => {
    const { metrics: used, labels, faults } = namesIn(expr);
    expect(faults).toEqual([]);
    expect(used.length).toBeGreaterThan(0);
    expect(used.filter((name) => !known.has(name))).toEqual([]);
    const there = new Set([...used.flatMap((name) => known.get(name)!), 'le', 'job', 'instance', 'namespace']);
    expect(labels.filter((label) => !there.has(label))).toEqual([]);
  });

  it('show every platform metric on the dashboard', () => {
    const shown = new Set(queries.flatMap(([, expr]) => namesIn(expr).metrics));
    const missing = Object.values(METRICS).filter(
      ({ name }) => !shown.has(name) && !shown.has(`${name}_bucket`) && !shown.has(`${name}_sum`),
    );
    expect(missing.map(({ name }) => name)).toEqual([]);
  });

  it('have panels with unique ids', () => {
    const ids = dashboard.panels.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    for (const { type, targets } of dashboard.panels) expect(targets === undefined).toBe(type === 'row');
  });

  it('have a guide entry for every alert, and an alert for every entry', () => {
    const entries = [...read(GUIDE).matchAll(/^### (Attestry\w+)$/gm)].map(([, name]) => name!);
    expect([...entries].sort()).toEqual(rules.map(({ alert }) => alert).sort());
    for (const { alert, labels, annotations } of rules) {
      expect(annotations.runbook_url).toBe(`${GUIDE}#${alert.toLowerCase()}`);
      expect(annotations.summary).toMatch(/\.$/);
      expect(['page', 'ticket']).toContain(labels.severity);
    }
  });

  it('have an alert for each service of which no process is scraped', () => {
    const { expr } = rules.find(({ alert }) => alert === 'AttestryServiceAbsent')!;
    const watched = [...expr.matchAll(/absent\(attestry_info\{runs="([a-z-]+)"\}\)/g)].map(([, service]) => service);
    expect(watched).toEqual(Object.keys(PARTICIPANTS));
  });

  it('have a remedy in each guide entry', () => {
    const [, ...entries] = read(GUIDE).split(/^### (?=Attestry)/m);
    for (const entry of entries) expect(entry.split(/^#/m)[0]!.length).toBeGreaterThan(120);
  });

  it('have every platform metric in the reference', () => {
    const page = read('docs/reference/metrics.md');
    for (const { name } of Object.values(METRICS)) expect(page).toContain(`| \`${name}\` |`);
  });
});
