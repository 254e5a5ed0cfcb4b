import { invalid, notFound, type CredentialFormat, type ErrorDetail } from '@attestry/contracts';
import type {
  ConfigurationContent,
  CredentialConfigurationEvent,
  PinnedIssuerKey,
} from './credential-configuration.events.js';
import type { CredentialConfigurationState } from './credential-configuration.state.js';

type Active = Extract<CredentialConfigurationState, { status: 'active' }>;
export type ActiveConfiguration<Content extends ConfigurationContent = ConfigurationContent> = Omit<
  Active,
  'content'
> & {
  content: Content;
};
/** Configuration of a format whose credentials are signed with a key of a DID. */
export type PinnedConfiguration<Content extends ConfigurationContent = ConfigurationContent> =
  ActiveConfiguration<Content> & { issuerKey: PinnedIssuerKey };

export const createCredentialConfiguration = (
  state: CredentialConfigurationState,
  command: {
    id: string;
    format: CredentialFormat;
    type: string;
    issuerKey?: PinnedIssuerKey | undefined;
    content: ConfigurationContent;
    createdAt: Date;
  },
): CredentialConfigurationEvent[] => {
  if (state.status !== 'absent') throw new Error(`credential configuration ${command.id} exists already`);
  return [
    {
      type: 'CredentialConfigurationCreated',
      data: {
        configurationId: command.id,
        format: command.format,
        credentialType: command.type,
        ...(command.issuerKey && { issuerKey: command.issuerKey }),
        content: command.content,
        createdAt: command.createdAt.toISOString(),
      },
    },
  ];
};

/** The configuration, if it exists with that format: under the path of another format it does not exist. */
export const activeConfiguration = (
  state: CredentialConfigurationState,
  format: CredentialFormat,
): ActiveConfiguration => {
  if (state.status !== 'active' || state.format !== format) throw notFound();
  return state;
};

/**
 * Replaces everything that may change. `type` and `issuerDid`, which the request calls `member`, must be unchanged; an absent `issuerDid`
 * is kept (pinned at creation: ADR 0060).
 */
export const replaceConfigurationContent = (
  state: CredentialConfigurationState,
  command: {
    format: CredentialFormat;
    type: string;
    issuerDid?: string;
    member?: string;
    content: ConfigurationContent;
  },
): CredentialConfigurationEvent[] => {
  const { type, issuerKey } = activeConfiguration(state, command.format);
  const { member = 'issuerDid' } = command;
  const details: ErrorDetail[] = [];
  if (command.type !== type)
    details.push({ value: command.type, msg: 'must not change', param: 'type', location: 'body' });
  if (command.issuerDid !== undefined && command.issuerDid !== issuerKey?.did)
    details.push({ value: command.issuerDid, msg: 'must not change', param: member, location: 'body' });
  if (details.length) throw invalid(...details);
  return [{ type: 'CredentialConfigurationContentReplaced', data: { content: command.content } }];
};

export const deleteCredentialConfiguration = (
  state: CredentialConfigurationState,
  command: { format: CredentialFormat },
): CredentialConfigurationEvent[] => {
  const { id, issuerKey } = activeConfiguration(state, command.format);
  return [
    { type: 'CredentialConfigurationDeleted', data: { configurationId: id, ...(issuerKey && { did: issuerKey.did }) } },
  ];
};
