/** Every route of the server, so that a miss can be told apart: wrong path (404) or wrong method (405). */
export class RouteTable {
  private readonly routes: { segments: readonly string[]; methods: readonly string[] }[] = [];

  add(url: string, method: string | string[]): void {
    this.routes.push({ segments: url.split('/'), methods: [method].flat() });
  }

  /** The methods that a path answers to; empty when the path is unknown. */
  methodsOf(url: string): string[] {
    const path = (url.split('?', 1)[0] ?? '').split('/');
    const found = new Set<string>();
    for (const { segments, methods } of this.routes) {
      if (matches(segments, path)) methods.forEach((method) => found.add(method));
    }
    return [...found].sort();
  }
}

function matches(segments: readonly string[], path: readonly string[]): boolean {
  // A route that ends in a wildcard serves files or a fallback; it says nothing about methods.
  if (segments.length !== path.length || segments.includes('*')) return false;
  return segments.every((segment, i) => segment.startsWith(':') || segment === path[i]);
}
