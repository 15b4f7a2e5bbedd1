/** Makes the stream of a turn unless the other side was first. */
export async function ensureStream(manager, name) {
  await manager.streams
    .add({ name, subjects: [`${name}.*`], retention: 'workqueue', storage: 'file' })
    .catch(async (error) => {
      await manager.streams.info(name).catch(() => {
        throw error;
      });
    });
}
