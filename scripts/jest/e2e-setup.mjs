// End-to-end specs on one process with embedded engines.
import { offerSharedPlatform } from './shared-platform.mjs';
import { testKit } from './started.mjs';

export default async function setUp() {
  const { PLATFORM_START_MS, startPlatformProcess } = await testKit();
  await offerSharedPlatform('embedded', () => startPlatformProcess({ startTimeoutMs: PLATFORM_START_MS - 30_000 }));
}
