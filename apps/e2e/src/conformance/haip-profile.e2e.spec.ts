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
import { prepareIssuer, type IssuerUnderTest } from './issuer-under-test.js';

let provider: OpenIdProvider;
let platform: PlatformProcess;
let issuer: IssuerUnderTest;
beforeAll(async () => {
  provider = await OpenIdProvider.start('https://management.example');
  platform = (await startPlatform({ preload: SHIFTED_CLOCK })) as PlatformProcess;
  issuer = await prepareIssuer(platform, provider, 'conformance-haip', 'haip');
}, PLATFORM_START_MS);
afterAll(async () => {
  await provider?.stop();
  await platform?.stop();
});

describeIssuerModules('haip', () => issuer);
describeFapiModules(
  () => issuer,
  (ms) => platform.query(ms),
);
