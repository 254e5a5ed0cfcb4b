import { invalidBody } from '@attestry/contracts';
import { nameClaim } from '@attestry/event-store';

/** Type names of a tenant's configurations in a format. The name is tenant id, format and type. `owner`: configuration id. */
export const credentialType = nameClaim({
  category: 'credentialType',
  claimed: 'CredentialTypeClaimed',
  released: 'CredentialTypeReleased',
  refusal: ({ type }) => invalidBody('type', 'is used by another credential configuration', type),
});
