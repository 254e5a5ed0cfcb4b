/** @engines embedded postgres */
import {
  compactConfigurations,
  recordSubject,
  webSemanticConfigurations,
  type OperationRecordMessage,
} from '@attestry/contracts';
import { waitUntil } from '@attestry/testing';
import { IssuanceUnderTest } from '@attestry/testing/services';
import { issuanceService } from '../../index.js';

let claims: Record<string, unknown> = {};
const issuance = new IssuanceUnderTest(issuanceService, {
  settings: { WALLET_REDIRECT_URIS: IssuanceUnderTest.BACK },
  subjects: [recordSubject('record', 'issuance')],
  person: () => ({ subjectId: 'zoe', claims }),
});
const { admin, authorization, configure } = issuance;

beforeAll(async () => {
  await issuance.open();
  const claimMappings = { about: { mapFrom: 'claims.about' } };
  await admin(webSemanticConfigurations.create, {
    body: { type: 'Linked', name: 'Linked', issuer: { name: 'Acme' }, claimMappings },
  });
  await admin(compactConfigurations.create, { body: { type: 'Compact', name: 'Compact', claimMappings } });
  await configure('Plain', { claimMappings });
});
afterAll(() => issuance.remove());

const signIn = async (scope: string) => {
  const { searchParams: back } = await issuance.authorize(authorization({ scope }));
  return back.get('code') ? 'code' : [back.get('error'), back.get('error_description')];
};

describe('claims of a sign-in that no requested credential can have', () => {
  it.each<[string, unknown, RegExp]>([
    ['ldp_vc:Linked', [['math', 1]], /^about must not have arrays in arrays/],
    ['ldp_vc:Linked', { id: '12345' }, /^about must have absolute IRIs as id/],
    ['cwt:Compact', { town: 'x' }, /^about must be/],
  ])('end it with the claim, before the wallet has a code: %s %j [T690]', async (scope, about, message) => {
    claims = { about };
    expect(await signIn(scope)).toEqual(['access_denied', expect.stringMatching(message)]);
    const records = () => issuance.messages.map(({ data }) => data as OperationRecordMessage);
    await waitUntil(() => records().some(({ metadata }) => metadata?.['claim'] === 'about'));
    expect(JSON.stringify(records())).not.toContain('math');
  });

  it('do not end it where another requested credential can have them, or they are valid [T690]', async () => {
    claims = { about: [['math', 1]] };
    expect(await signIn('ldp_vc:Linked jwt_vc_json:Plain')).toBe('code');
    expect(await signIn('jwt_vc_json:Plain')).toBe('code');
    claims = { about: 'plain' };
    expect(await signIn('ldp_vc:Linked cwt:Compact')).toBe('code');
    claims = { other: [[1]] };
    expect(await signIn('ldp_vc:Linked')).toBe('code');
  });
});
