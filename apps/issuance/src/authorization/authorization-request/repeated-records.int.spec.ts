/** @engines embedded postgres */
import {
  authorize,
  completeAuthorization,
  createWallet,
  oauthError,
  pushAuthorization,
  recordSubject,
  type OperationRecordMessage,
  type PushedAuthorizationResponse,
} from '@attestry/contracts';
import { waitUntil } from '@attestry/testing';
import { IssuanceUnderTest } from '@attestry/testing/services';
import { issuanceService } from '../../index.js';

const { WALLET } = IssuanceUnderTest;
const CALLS = 23;
const KEPT = 20;

let isRefused = false;
const issuance = new IssuanceUnderTest(issuanceService, {
  subjects: [recordSubject('record', 'issuance'), recordSubject('started', 'issuance')],
  person: () => {
    if (isRefused) throw oauthError('access_denied', 'the provider refused', { check: 'provider' });
    return { subjectId: 'zoe', claims: { name: 'Zoe' } };
  },
});
const { authorization, configure, send, sendForm } = issuance;

beforeAll(async () => {
  await issuance.open();
  await configure('Pass');
  await issuance.admin(createWallet, { body: WALLET });
});
afterAll(() => issuance.remove());

const query = () => authorization({ scope: 'jwt_vc_json:Pass' });
const push = async () => (await sendForm<PushedAuthorizationResponse>(pushAuthorization, query())).status;
const begin = async () => {
  const begun = await send(authorize, { url: `/v1/oauth/authorize?${new URLSearchParams(query())}` });
  const state = new URL(begun.headers['location']!).searchParams.get('state')!;
  return { state, cookie: begun.headers['set-cookie']!.split(';')[0]! };
};
const comeBack = async ({ state, cookie }: { state: string; cookie: string }) => {
  const url = `/v1/oauth/authentication/callback?${new URLSearchParams({ state, code: 'x' })}`;
  return new URL((await send(completeAuthorization, { url, headers: { cookie } })).headers['location']!).searchParams;
};
const repeat = async (call: () => Promise<unknown>, calls = CALLS) => {
  for (let n = 0; n < calls; n++) await call();
};

describe('calls of callers who proved nothing, beyond 20 a minute', () => {
  it('are one pair with their number, also where they succeed; those of a person are complete [T688, T689]', async () => {
    await repeat(async () => expect(await push()).toBe(201));
    isRefused = true;
    await repeat(async () => expect((await comeBack(await begin())).get('error')).toBeTruthy());
    // An unknown state leaves no record.
    await repeat(() => send(completeAuthorization, { url: '/v1/oauth/authentication/callback?state=guessed&code=x' }));
    isRefused = false;
    await repeat(async () => expect((await comeBack(await begin())).get('code')).toBeTruthy(), 2);
    await issuance.engines.recorders.close();
    const records = () =>
      issuance.messages
        .filter(({ subject }) => subject === recordSubject('record', 'issuance'))
        .map(({ data }) => data as OperationRecordMessage);
    const of = (prefix: string, outcome: string) =>
      records()
        .filter((one) => one.prefix === prefix && one.outcome === outcome)
        .map(({ metadata }) => metadata?.['repeated']);
    const bounded = (repeated: number) => [...Array.from({ length: KEPT }, () => undefined), repeated];
    await waitUntil(() => of('OPENID_AUTHORIZE', 'SUCCESS').length > KEPT);
    await waitUntil(() => of('OPENID_AUTHENTICATION_CALLBACK', 'FAIL').length > KEPT);
    expect(of('OPENID_PAR', 'SUCCESS')).toEqual(bounded(CALLS - KEPT));
    expect(of('OPENID_AUTHORIZE', 'SUCCESS')).toEqual(bounded(CALLS + 2 - KEPT));
    expect(of('OPENID_AUTHENTICATION_CALLBACK', 'FAIL')).toEqual(bounded(CALLS - KEPT));
    const starts = issuance.messages.filter(({ subject }) => subject === recordSubject('started', 'issuance'));
    // Their outcome is in the session that each began.
    expect(starts.map(({ data }) => (data as OperationRecordMessage).prefix)).toEqual(
      Array.from({ length: 2 }, () => 'OPENID_AUTHENTICATION_CALLBACK'),
    );
  });
});
