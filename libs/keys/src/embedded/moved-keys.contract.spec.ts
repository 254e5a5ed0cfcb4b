import { describeMovedKeys } from '../moved-keys.contract.js';

describeMovedKeys();
