/** @engines embedded */
import {
  OpenIdProvider,
  PLATFORM_START_MS,
  SHIFTED_CLOCK,
  startPlatform,
  type PlatformProcess,
} from '@attestry/testing';
import { describeFapiModules } from './fapi-modules.js';
import { describeIssuerModules } from './issuer-modules.js';
import { prepareIssuer, PROFILES, type IssuerUnderTest } from './issuer-under-test.js';

let provider: OpenIdProvider;
let platform: PlatformProcess;
beforeAll(async () => {
  provider = await OpenIdProvider.start('https://management.example');
  platform = (await startPlatform({ preload: SHIFTED_CLOCK })) as PlatformProcess;
}, PLATFORM_START_MS);
afterAll(async () => {
  await provider?.stop();
  await platform?.stop();
});

describe.each(PROFILES)('the profile %s', (profile) => {
  let issuer: IssuerUnderTest;
  beforeAll(async () => {
    issuer = await prepareIssuer(platform, provider, `conformance-${profile}`, profile);
  });

  describeIssuerModules(profile, () => issuer);
  describeFapiModules(
    profile,
    () => issuer,
    (ms) => platform.query(ms),
  );
});
