/** What a path that no handler took may have meant. */
export interface NearMiss {
  /** Methods that the path answers to; none: the path is unknown. */
  readonly methods: readonly string[];
  /** The path parameter that was left empty, if that is what was wrong. */
  readonly emptyParam?: string;
}

/** Every route of the server, so that a miss can be told apart: wrong path, wrong method, or an empty id. */
export class RouteTable {
  private readonly routes: { segments: readonly string[]; methods: readonly string[] }[] = [];

  add(url: string, method: string | string[]): void {
    this.routes.push({ segments: url.split('/'), methods: [method].flat() });
  }

  /** Looks a path up by its shape. Only misses pay for it. */
  nearMiss(url: string): NearMiss {
    const path = (url.split('?', 1)[0] ?? '').split('/');
    const methods = new Set<string>();
    let emptyParam: string | undefined;
    for (const route of this.routes) {
      if (!matches(route.segments, path)) continue;
      emptyParam ??= route.segments.find((segment, i) => segment.startsWith(':') && path[i] === '');
      route.methods.forEach((method) => methods.add(method));
    }
    return {
      methods: [...methods].sort(),
      ...(emptyParam === undefined ? {} : { emptyParam: emptyParam.slice(1) }),
    };
  }
}

function matches(segments: readonly string[], path: readonly string[]): boolean {
  // A route that ends in a wildcard serves files or a fallback; it says nothing about methods.
  if (segments.length !== path.length || segments.includes('*')) return false;
  return segments.every((segment, i) => segment.startsWith(':') || segment === path[i]);
}
