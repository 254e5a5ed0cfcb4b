import { lockDataFolder } from '@attestry/sqlite';

/** Whether a platform holds the data folder. */
export const isDataFolderInUse = async (dataDir: string): Promise<boolean> => {
  try {
    (await lockDataFolder(dataDir)).release();
    return false;
  } catch (error) {
    if ((error as Error).name === 'DataFolderLocked') return true;
    throw error;
  }
};
