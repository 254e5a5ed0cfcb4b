import { describeNameClaim } from '@attestry/event-store';
import { credentialType } from './credential-type.claim.js';

describeNameClaim(credentialType, {
  name: ['t1', 'jwt_vc_json', 'Membership'],
  stream: 'credentialType-t1+jwt_vc_json+Membership',
  claimed: 'CredentialTypeClaimed',
  released: 'CredentialTypeReleased',
  refusals: { taken: 'BadRequest', pending: 'BadRequest' },
});

it('the refusal of a credential type names the type, which is not stored', () => {
  const held = credentialType.evolve(credentialType.initial, {
    type: 'CredentialTypeClaimed',
    data: { owner: 'a', claimedAt: '2026-01-01T00:00:00.000Z' },
  });
  const claimant = { owner: 'b', type: 'Membership' };
  expect(() => credentialType.claim(held, claimant, { now: '2026-01-01T00:00:01.000Z' })).toThrow(
    expect.objectContaining({
      details: [
        {
          value: 'Membership',
          msg: 'is used by another credential configuration',
          param: 'type',
          location: 'body',
        },
      ],
    }),
  );
});
