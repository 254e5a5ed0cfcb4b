import { notFound, retrieveJwtVcIssuer, type ContextOf } from '@attestry/contracts';
import { Operation } from '@attestry/service-kit';
import { IssuerSigners } from '../../certificates/issuer-certificates/issuer-signers.js';
import { jwtVcIssuer } from './jwt-vc-issuer.js';

@Operation(retrieveJwtVcIssuer)
export class RetrieveJwtVcIssuer {
  constructor(private readonly signers: IssuerSigners) {}

  async execute(
    _request: unknown,
    { tenant, publicUrl }: ContextOf<typeof retrieveJwtVcIssuer>,
  ): Promise<ReturnType<typeof jwtVcIssuer>> {
    const keys = await this.signers.publicKeys(tenant.id, publicUrl);
    if (!keys.length) throw notFound();
    return jwtVcIssuer(publicUrl, keys);
  }
}
