/** In the data folder of a development installation. */
export const MASTER_KEY_FILE = 'master.key';
