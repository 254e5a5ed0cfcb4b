/** @engines embedded postgres */
import {
  issueCredential,
  updateOpenIdConfiguration,
  type CredentialResponse,
  type OpenIdConfigurationRequest,
} from '@attestry/contracts';
import { Streams } from '@attestry/event-store';
import { IssuanceUnderTest, makeWalletKey } from '@attestry/testing/services';
import { jest } from '@jest/globals';
import { credentialConfiguration } from '../../settings/credential-configuration/credential-configuration.state.js';
import { deliveryInterest } from '../../registry/delivery-interest/delivery-interest.state.js';
import { HaipProfile } from '../../wallets/haip-profile/haip-profile.js';
import { issuanceService } from '../../index.js';
import { MessageEncryption } from '../../credential/message-encryption/message-encryption.js';
import { openIdSettings, openIdSettingsStream } from '../../settings/openid-settings/openid-settings.state.js';
import { wallets } from '../../wallets/registered-wallets/wallets.state.js';
import { RecentStates } from './recent-states.js';

const { TENANT } = IssuanceUnderTest;
const issuance = new IssuanceUnderTest(issuanceService);
/** Settings that every request of the credential flow may need, whether the tenant has them or not. */
const SETTINGS = [openIdSettings, wallets, credentialConfiguration, deliveryInterest].map(({ category }) => category);
const stream = openIdSettingsStream(TENANT);
let type: string;

/** A second process on the same store, with no state in memory. The clock is that of the first. */
const otherProcess = () => {
  const { events, clock, ids } = issuance.engines;
  const streams = new Streams(events, clock, ids);
  const recent = new RecentStates(streams, clock);
  return { recent, haip: new HaipProfile(recent, streams, {} as never, {} as never) };
};
const thisProcess = () => ({
  recent: issuance.services.app.get(RecentStates, { strict: false }),
  haip: issuance.services.app.get(HaipProfile, { strict: false }),
});
const put = (body: OpenIdConfigurationRequest) => issuance.admin(updateOpenIdConfiguration, { body });

/** How often each settings stream is read while this runs. */
const readsDuring = async (work: () => Promise<unknown>): Promise<Record<string, number>> => {
  const reads: Record<string, number> = {};
  const { events } = issuance.engines;
  const readStream = events.readStream.bind(events);
  const spy = jest.spyOn(events, 'readStream').mockImplementation((name, options) => {
    const category = name.split('-')[0]!;
    if (SETTINGS.includes(category)) reads[category] = (reads[category] ?? 0) + 1;
    return readStream(name, options);
  });
  await work();
  spy.mockRestore();
  return reads;
};

const collect = async () => {
  const { code } = await issuance.offer({ credentials: [type], claims: { name: 'Ada' } });
  const token = (await issuance.redeem(code, {}, { client_id: 'unknown' })).body.access_token;
  const key = makeWalletKey();
  const request = {
    credential_configuration_id: type,
    proofs: { jwt: [await issuance.proveKey(key)] },
  };
  const answer = await issuance.sendJson<CredentialResponse>(issueCredential, request, {
    authorization: `Bearer ${token}`,
  });
  expect(answer).toMatchObject({ status: 200, body: { credentials: [expect.anything()] } });
};

beforeAll(async () => {
  await issuance.open();
  // The clock stands still: what follows happens within one second.
  const now = issuance.engines.clock.now();
  jest.spyOn(issuance.engines.clock, 'now').mockImplementation(() => new Date(now.getTime() + issuance.ahead));
  type = await issuance.configure('Diploma');
});
afterEach(() => {
  issuance.ahead += 1000;
});
afterAll(() => issuance.remove());

describe('settings that a tenant does not have', () => {
  it('are read once a second by each of two processes, for any number of requests [T635]', async () => {
    const other = otherProcess();
    const requests = Array.from({ length: 64 });
    const check = async () => {
      await Promise.all(requests.map(() => other.haip.enforce(TENANT, () => expect(false).toBe(true))));
      await other.haip.enforce(TENANT, () => expect(false).toBe(true));
    };
    expect(await readsDuring(check)).toEqual({ openIdSettings: 1 });
    expect(await readsDuring(check)).toEqual({});
    issuance.ahead += 999;
    expect(await readsDuring(check)).toEqual({});
    issuance.ahead += 1;
    expect(await readsDuring(check)).toEqual({ openIdSettings: 1 });

    issuance.ahead += 1000;
    const flows = await readsDuring(async () => {
      await Promise.all([collect(), collect(), collect()]);
      await collect();
    });
    expect(flows).toEqual({ openIdSettings: 1, wallets: 1, deliveryInterest: 1 });
    // The other process has its own.
    expect(await readsDuring(check)).toEqual({ openIdSettings: 1 });
  });

  it('are seen at once by the process that makes them, within a second by another', async () => {
    const [here, other] = [thisProcess(), otherProcess()];
    const settingsOf = async ({ recent }: { recent: RecentStates }) =>
      (await recent.load(openIdSettings, stream)).state;
    for (const one of [here, other]) expect(await settingsOf(one)).toEqual({});
    await put({ deferredDays: 5 });
    expect(await settingsOf(here)).toEqual({ deferredDays: 5 });
    expect(await settingsOf(other)).toEqual({});
    expect((await other.recent.loadStored(openIdSettings, stream)).state).toEqual({});
    issuance.ahead += 1000;
    expect(await settingsOf(other)).toEqual({ deferredDays: 5 });
    await put({ deferredDays: 6 });
    expect(await settingsOf(other)).toEqual({ deferredDays: 5 });
    // The stored state is read where a change must have effect at once.
    expect((await other.recent.loadStored(openIdSettings, stream)).state).toEqual({ deferredDays: 6 });
  });

  it('refuse nothing from memory: a refusal reads them again', async () => {
    const messages = new MessageEncryption({} as never, otherProcess().recent);
    const raw = { method: 'POST', url: '/', headers: { 'content-type': 'application/json' }, text: '{}' };
    await put({ encryption: { requestRequired: true } });
    await expect(messages.openRequest(raw, TENANT)).rejects.toMatchObject({ code: 'invalid_encryption_parameters' });
    await put({ encryption: null });
    // The other process still has the policy in memory.
    expect((await messages.openRequest(raw, TENANT)).text).toBe('{}');
    await put({ deferredDays: 7 });
  });

  it('are read again after the store failed', async () => {
    const { recent } = otherProcess();
    jest.spyOn(issuance.engines.events, 'readStream').mockRejectedValueOnce(new Error('down'));
    const both = [recent.load(openIdSettings, stream), recent.load(openIdSettings, stream)];
    for (const failed of both) await expect(failed).rejects.toThrow('down');
    expect((await recent.load(openIdSettings, stream)).state).toEqual({ deferredDays: 7 });
  });
});
