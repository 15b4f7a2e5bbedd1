import { useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { Store } from '../lib/store.js';
import { type FeedEvent, type FeedStatus, follow } from './feed.js';

/** Events that are kept to be looked at. */
const KEPT = 500;
/** At most one look at what changed in this time, however many events arrive. */
const LOOK_EVERY_MS = 250;

export const feedStatus = new Store<FeedStatus>('connecting');
/** Events of the namespace since it was opened, the newest first. */
export const feedEvents = new Store<readonly FeedEvent[]>([]);

/** Follows the feed of a namespace, and has everything about agents looked at again when one changes. */
export function useFeed(namespace: string): void {
  const client = useQueryClient();
  useEffect(() => {
    const end = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    feedEvents.set([]);
    const look = () => {
      timer = undefined;
      for (const key of ['agents', 'agent', 'capabilities', 'standing'])
        void client.invalidateQueries({ queryKey: [key] });
    };
    const take = (event: FeedEvent) => {
      feedEvents.set([event, ...feedEvents.get()].slice(0, KEPT));
      timer ??= setTimeout(look, LOOK_EVERY_MS);
    };
    void follow(namespace, take, (status) => feedStatus.set(status), end.signal);
    return () => {
      end.abort();
      clearTimeout(timer);
    };
  }, [client, namespace]);
}
