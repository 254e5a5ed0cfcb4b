import type { MobileStatusList } from '@attestry/contracts';
import type { StatusListConfigurationsState } from '../status-list-configurations/status-list-configurations.state.js';
import type { PublishedMobileList } from './published-lists.read-model.js';

export const mobileListView = (
  { listId, size, iacaId, docType, token, expiresAt }: PublishedMobileList,
  configurations: StatusListConfigurationsState,
  now: Date,
): MobileStatusList => {
  const configured = configurations.find((one) => one.docType === docType);
  return {
    id: listId,
    iacaId,
    ...(configured && { statusListConfigurationId: configured.id }),
    listSize: size,
    ...(token !== null && now.toISOString() < expiresAt! && { list: token }),
  };
};
