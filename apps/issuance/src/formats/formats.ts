import type { Provider, Type } from '@nestjs/common';
import {
  CONFIGURATION_OPERATIONS,
  REGISTRY_OPERATIONS,
  REVOCATION_LIST_OPERATIONS,
  REVOCATION_OPERATIONS,
  STATUS_OPERATIONS,
  type CallContext,
  type CredentialFormat,
} from '@attestry/contracts';
import type { Format } from './format.js';
import { Cwt } from './cwt/cwt.js';
import { CwtVc } from './cwt-vc/cwt-vc.js';
import { DcSdJwt } from './dc-sd-jwt/dc-sd-jwt.js';
import { JwtVcJson } from './jwt-vc-json/jwt-vc-json.js';
import { LdpVc } from './ldp-vc/ldp-vc.js';
import { MsoMdoc } from './mso-mdoc/mso-mdoc.js';

export const FORMAT_CLASSES: Readonly<Record<CredentialFormat, Type<Format>>> = {
  ldp_vc: LdpVc,
  jwt_vc_json: JwtVcJson,
  'dc+sd-jwt': DcSdJwt,
  cwt: Cwt,
  cwt_vc: CwtVc,
  mso_mdoc: MsoMdoc,
};

const OPERATIONS_BY_FORMAT = [
  CONFIGURATION_OPERATIONS,
  REGISTRY_OPERATIONS,
  STATUS_OPERATIONS,
  REVOCATION_OPERATIONS,
  REVOCATION_LIST_OPERATIONS,
];

export class Formats {
  readonly byName: Readonly<Record<CredentialFormat, Format>>;
  private readonly byOperation: ReadonlyMap<string, Format>;

  constructor(formats: readonly Format[]) {
    this.byName = Object.fromEntries(formats.map((it) => [it.format, it])) as Record<CredentialFormat, Format>;
    this.byOperation = new Map(
      formats.flatMap((it) =>
        OPERATIONS_BY_FORMAT.flatMap((operations) =>
          Object.values(operations[it.format] ?? {}).map(({ name }) => [name, it] as const),
        ),
      ),
    );
  }

  /** Format of an operation on configurations, issued credentials or statuses: all formats share their handlers (ADR 0002). */
  ofCall({ operation }: Pick<CallContext, 'operation'>): Format {
    const format = this.byOperation.get(operation);
    if (!format) throw new Error(`${operation} names no credential format`);
    return format;
  }
}

export const formatProviders: Provider[] = [
  ...Object.values(FORMAT_CLASSES),
  {
    provide: Formats,
    useFactory: (...formats: Format[]) => new Formats(formats),
    inject: Object.values(FORMAT_CLASSES),
  },
];
