/* Addresses of the pages. Every one carries the namespace, so that a link can be given away. */

type Values = Readonly<Record<string, string | undefined>>;

/** The address of a page with the values that are set in its query. */
export function pathOf(page: string, namespace: string, values: Values = {}): string {
  const query = new URLSearchParams();
  if (namespace !== 'default') query.set('ns', namespace);
  for (const [key, value] of Object.entries(values))
    if (value !== undefined && value !== '') query.set(key, value);
  const text = query.toString();
  return text === '' ? page : `${page}?${text}`;
}

export const agentPath = (id: string, namespace: string) =>
  pathOf(`/agents/${encodeURIComponent(id)}`, namespace);
export const taskPath = (id: string, namespace: string) =>
  pathOf(`/tasks/${encodeURIComponent(id)}`, namespace);
