import { PAGE_SIZE } from '@attestry/read-model';

/** Preloaded by a platform whose pages a test makes smaller: a message is the new bound on their bytes. */
process.on('message', (bytes: number) => {
  PAGE_SIZE.bytes = bytes;
  process.send!(bytes);
});
process.channel?.unref();
