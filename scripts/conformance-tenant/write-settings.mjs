import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../setup.mjs';

const templates = join(root, 'deploy', 'conformance');
const read = (name) => JSON.parse(readFileSync(join(templates, name), 'utf8'));

/**
 * Fills the settings of deploy/conformance and writes them, each with the access rights of a private key.
 *
 * @param {string} folder
 * @param {'haip' | 'plain'} plans
 * @param {Record<string, unknown>} values by placeholder
 * @param {{ url: string, client: object }} tenant
 * @returns {{ name: string, plan: string, variant: object, settings: string }[]} `settings`: path of the file
 */
export function writeSettings(folder, plans, values, { url, client }) {
  const write = (name, content) => {
    const path = join(folder, name);
    writeFileSync(path, `${JSON.stringify(content, undefined, 2)}\n`, { mode: 0o600 });
    return path;
  };
  const all = read('all-plans.json');
  const written = readdirSync(templates)
    .filter((name) => name.startsWith(`${plans}-`) && name.endsWith('.json'))
    .sort()
    .map((name) => {
      const { plan, variant, settings } = read(name);
      const merged = { ...all, ...settings, vci: { ...all.vci, ...settings.vci } };
      return { name: name.replace(/\.json$/, ''), plan, variant, settings: write(name, fill(merged, values)) };
    });
  // For offers, which a driver of the issuer-initiated plans creates.
  write('tenant.json', { url, ...client, configurations: { sd_jwt_vc: values.sdJwt, mdoc: values.mdoc } });
  return written;
}

/** A text that is a placeholder becomes its value, of any type. @throws Error for one that has no value */
export function fill(template, values) {
  if (Array.isArray(template)) return template.map((entry) => fill(entry, values));
  if (typeof template === 'object' && template !== null)
    return Object.fromEntries(Object.entries(template).map(([name, value]) => [name, fill(value, values)]));
  if (typeof template !== 'string') return template;
  const valueOf = (name) => {
    if (values[name] === undefined) throw new Error(`deploy/conformance has an unknown placeholder {${name}}`);
    return values[name];
  };
  const [, whole] = /^\{(\w+)\}$/.exec(template) ?? [];
  return whole ? valueOf(whole) : template.replaceAll(/\{(\w+)\}/g, (_, name) => valueOf(name));
}
