import { Injectable } from '@nestjs/common';
import type { CredentialFormat } from '@attestry/contracts';
import type { Format } from './format.js';
import { JwtVcJson } from './jwt-vc-json.js';
import { LdpVc } from './ldp-vc.js';

/** Every format the platform issues. */
@Injectable()
export class Formats {
  readonly of: Readonly<Record<CredentialFormat, Format>>;

  constructor(ldpVc: LdpVc, jwtVcJson: JwtVcJson) {
    this.of = { ldp_vc: ldpVc, jwt_vc_json: jwtVcJson };
  }
}
