import { describeMovedKeys } from '../moving/moved-keys.contract.js';

describeMovedKeys();
