import { randomBytes } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import type { OpenIdConfiguration } from '@attestry/contracts';
import type { Ids } from '@attestry/event-store';
import { isErased, Sealing } from '@attestry/keys';
import { IDS, mask, PlatformConfig } from '@attestry/service-kit';
import { effectiveHook, effectiveSettings, type MadeSecret } from './openid-settings.decisions.js';
import type { InteractionHookSettings, OpenIdSettings } from './openid-settings.events.js';

/** Secrets of interaction hooks, each under a data key of its own. */
@Injectable()
export class HookSecrets {
  constructor(
    private readonly sealing: Sealing,
    private readonly config: PlatformConfig,
    @Inject(IDS) private readonly ids: Ids,
  ) {}

  async make(tenantId: string): Promise<MadeSecret & { secret: string }> {
    const secret = randomBytes(32).toString('base64');
    const secretKeyId = this.ids.uuid();
    await this.sealing.createDataKey(tenantId, 'tenant', secretKeyId);
    const sealedSecret = await this.sealing.sealText(tenantId, 'tenant', secretKeyId, secret);
    return { secret, sealedSecret, secretKeyId };
  }

  /** Undefined when it was replaced. */
  async openSecret(
    tenantId: string,
    { sealedSecret }: Pick<InteractionHookSettings, 'sealedSecret'>,
  ): Promise<string | undefined> {
    const secret = await this.sealing.openSealed(tenantId, 'tenant', sealedSecret);
    return isErased(secret) ? undefined : secret;
  }

  destroy(tenantId: string, { secretKeyId }: Pick<InteractionHookSettings, 'secretKeyId'>): Promise<void> {
    return this.sealing.destroyDataKeys(tenantId, [secretKeyId]);
  }

  /** The settings in effect as the API shows them. @param made shown in clear if it is the hook's secret */
  async viewOf(
    tenantId: string,
    settings: OpenIdSettings,
    made?: MadeSecret & { secret: string },
  ): Promise<OpenIdConfiguration> {
    const view = effectiveSettings(settings, this.config);
    const { interactionHook: hook } = settings;
    if (!hook) return view;
    const secret =
      made?.secretKeyId === hook.secretKeyId ? made.secret : mask((await this.openSecret(tenantId, hook)) ?? '');
    return { ...view, interactionHook: { ...effectiveHook(hook), secret } };
  }
}
