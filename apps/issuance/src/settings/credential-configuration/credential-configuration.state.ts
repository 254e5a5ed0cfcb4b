import type { CredentialFormat } from '@attestry/contracts';
import type { Aggregate } from '@attestry/event-store';
import type {
  ConfigurationContent,
  CredentialConfigurationEvent,
  PinnedIssuerKey,
} from './credential-configuration.events.js';

export type CredentialConfigurationState =
  | { status: 'absent' }
  | {
      status: 'active';
      id: string;
      format: CredentialFormat;
      /** The configured `type`. */
      type: string;
      issuerKey?: PinnedIssuerKey;
      content: ConfigurationContent;
      createdAt: string;
      /** 1 at creation, incremented with every update. */
      version: number;
    }
  | { status: 'deleted' };

export const credentialConfigurationStream = (tenantId: string, id: string): string =>
  `credentialConfiguration-${tenantId}+${id}`;

const evolve = (
  state: CredentialConfigurationState,
  event: CredentialConfigurationEvent,
): CredentialConfigurationState => {
  switch (event.type) {
    case 'CredentialConfigurationCreated': {
      const { configurationId, format, credentialType, issuerKey, content, createdAt } = event.data;
      return {
        status: 'active',
        id: configurationId,
        format,
        type: credentialType,
        ...(issuerKey && { issuerKey }),
        content,
        createdAt,
        version: 1,
      };
    }
    case 'CredentialConfigurationContentReplaced':
      return state.status === 'active' ? { ...state, content: event.data.content, version: state.version + 1 } : state;
    case 'CredentialConfigurationDeleted':
      return { status: 'deleted' };
  }
};

export const credentialConfiguration: Aggregate<CredentialConfigurationState, CredentialConfigurationEvent> = {
  category: 'credentialConfiguration',
  initial: { status: 'absent' },
  types: {
    CredentialConfigurationCreated: 1,
    CredentialConfigurationContentReplaced: 1,
    CredentialConfigurationDeleted: 1,
  },
  evolve,
};
