import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type { OpenApiDocument } from '@attestry/contracts';
import {
  patternOf,
  describedOperations,
  type ApiName,
  type Response,
  type DescribedOperation,
} from './described-operations.js';

const isEnding = ({ path }: DescribedOperation): boolean => path.startsWith('/{path}');
const shapeOf = ({ path }: DescribedOperation): string => path.replaceAll(/\{\w+\}/g, '{}');

export interface RawAnswer {
  status: number;
  /** Lower-case names. */
  headers: Record<string, string | undefined>;
  text: string;
}

/** The same schema, but what it does not name may not be there. */
const closed = (schema: unknown): unknown => {
  if (Array.isArray(schema)) return schema.map(closed);
  if (typeof schema !== 'object' || schema === null) return schema;
  const all = Object.fromEntries(Object.entries(schema).map(([name, value]) => [name, closed(value)]));
  const isObject = all['type'] === 'object' && all['properties'] !== undefined;
  return isObject && all['additionalProperties'] === undefined ? { ...all, additionalProperties: false } : all;
};

const HEADERS: Record<string, RegExp> = {
  'x-request-id': /^[0-9A-Za-z]{22}$/,
  'x-ratelimit-limit': /^\d+$/,
  'x-ratelimit-remaining': /^\d+$/,
  'x-ratelimit-reset': /^\d+$/,
};

/** Response of a host without such an operation. */
const HOST_ERROR: Record<ApiName, 'ManagementError' | 'TenantError'> = {
  management: 'ManagementError',
  tenant: 'TenantError',
};

const isDecodable = (path: string): boolean => {
  try {
    decodeURIComponent(path);
    return true;
  } catch {
    return false;
  }
};

/** Only in answers to requests with a preference, with a DPoP proof, or without a current challenge. */
const CONDITIONAL = ['preference-applied', 'dpop-nonce', 'oauth-client-attestation-challenge'];

/** Checks responses like a client that has only the interface definition. */
export class AnswerCheck {
  private readonly ajv = new Ajv2020({ strict: false });
  private readonly validators = new Map<string, ValidateFunction>();
  readonly operations: readonly DescribedOperation[];
  private readonly patterns: readonly (readonly [RegExp, DescribedOperation])[];

  constructor(
    readonly api: ApiName,
    private readonly document: OpenApiDocument,
  ) {
    (addFormats as unknown as (ajv: Ajv2020) => void)(this.ajv);
    const { schemas } = document.components;
    this.ajv.addSchema(
      { $id: api, ...document, components: { ...document.components, schemas: closed(schemas) } } as object,
      api,
    );
    this.operations = describedOperations(api, document);
    // A path without parameters comes before one that has them, and one whose parameter is later before others.
    this.patterns = [...this.operations]
      .sort((a, b) => a.path.split('{').length - b.path.split('{').length || b.path.indexOf('{') - a.path.indexOf('{'))
      .map((operation) => [patternOf(operation.path), operation]);
  }

  /** Operations whose template a path fits, whatever the method: those of the most literal one, and of endings. */
  at(path: string): DescribedOperation[] {
    const fitting = this.patterns.filter(([pattern]) => pattern.test(path)).map(([, operation]) => operation);
    const first = fitting.find((operation) => !isEnding(operation));
    return fitting.filter((operation) => isEnding(operation) || shapeOf(operation) === shapeOf(first!));
  }

  /** The faults of a response to a request that was sent in this way; empty when it fits the definition. */
  faultsOf(method: string, url: string, answer: RawAnswer, ofHost = HOST_ERROR[this.api]): string[] {
    const { status, headers } = answer;
    const faults: string[] = [];
    if (status >= 500) faults.push(`a ${status}`);
    for (const [name, form] of Object.entries(HEADERS))
      if (!form.test(headers[name] ?? '')) faults.push(`${name} is ${headers[name]}`);
    const path = url.split(/[?#]/, 1)[0]!;
    const isHead = method === 'HEAD';
    const there = this.at(path).filter((operation) => operation.method === (isHead ? 'GET' : method));
    if (isHead) return answer.text === '' ? faults : [...faults, 'HEAD has a body'];
    // A path that matches two templates may be a response of either.
    const faultsByOperation = there.map((operation) => this.bodyFaults(operation, answer));
    if (faultsByOperation.some((it) => it.length === 0)) return faults;
    if (faultsByOperation.length > 0 && isDecodable(path)) return [...faults, ...faultsByOperation[0]!];
    // No operation: unknown paths, methods and malformed paths get errors in the shape of the host.
    if (![400, 404, 405].includes(status)) faults.push(`${status} of no operation`);
    if (status === 405 && !headers['allow']) faults.push('405 without Allow');
    return [...faults, ...this.jsonFaults(`/components/schemas/${ofHost}`, answer)];
  }

  private bodyFaults({ responses, pointer }: DescribedOperation, answer: RawAnswer): string[] {
    const { status, headers, text } = answer;
    const declared = responses[status];
    if (!declared) return [`${status} is not declared`];
    const at = declared.$ref ? declared.$ref.slice(1) : `${pointer}/responses/${status}`;
    const response = declared.$ref
      ? (this.document.components.responses[at.split('/').at(-1)!] as unknown as Response)
      : declared;
    const faults = Object.keys(response.headers)
      .filter((name) => headers[name] === undefined && !CONDITIONAL.includes(name))
      .map((name) => `${status} has no ${name}`);
    if (!response.content) return text === '' ? faults : [...faults, `${status} has a body`];
    const type = (headers['content-type'] ?? '').split(';', 1)[0]!;
    if (!response.content[type]) return [...faults, `${status} has the type ${type}`];
    const place = `${at}/content/${type.replaceAll('/', '~1')}/schema`;
    if (type === 'application/x-ndjson') return [...faults, ...this.valueFaults(place, text), ...lineFaults(text)];
    if (!/json$/.test(type)) return [...faults, ...this.valueFaults(place, text)];
    return [...faults, ...this.jsonFaults(place, answer)];
  }

  private jsonFaults(pointer: string, { status, text }: RawAnswer): string[] {
    try {
      return this.valueFaults(pointer, JSON.parse(text) as unknown).map((fault) => `${status}: ${fault} in ${text}`);
    } catch (error) {
      return [`${status} is no JSON: ${String(error)}`];
    }
  }

  private valueFaults(pointer: string, value: unknown): string[] {
    let validate = this.validators.get(pointer);
    if (!validate) {
      validate = this.ajv.compile({ $ref: `${this.api}#${encodeURI(pointer)}` });
      this.validators.set(pointer, validate);
    }
    return validate(value) ? [] : [this.ajv.errorsText(validate.errors)];
  }
}

/** Lines of JSON: each an object, the last one ended too. */
const lineFaults = (text: string): string[] => {
  if (text !== '' && !text.endsWith('\n')) return ['the last line is not ended'];
  return text
    .split('\n')
    .slice(0, -1)
    .flatMap((line) => {
      try {
        return typeof JSON.parse(line) === 'object' ? [] : [`${line} is no object`];
      } catch (error) {
        return [`a line is no JSON: ${String(error)}`];
      }
    });
};
