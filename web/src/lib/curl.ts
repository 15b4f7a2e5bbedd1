/** A call as a command for a shell. The token stays a variable: what is copied gets pasted into tickets. */
export function curl(
  origin: string,
  call: { method: string; path: string; body?: unknown; token: boolean },
): string {
  const parts = ['curl -sS'];
  if (call.method !== 'GET') parts.push(`-X ${call.method}`);
  if (call.token) parts.push('-H "Authorization: Bearer $REACH_TOKEN"');
  if (call.body !== undefined)
    parts.push("-H 'Content-Type: application/json'", `-d ${quoted(JSON.stringify(call.body))}`);
  parts.push(quoted(origin + call.path));
  return parts.join(' ');
}

/** In single quotes, in which a shell takes everything literally but their end. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
