const LINK = /<([^<>]*)>((?:\s*;\s*[\w*!-]+\s*=\s*(?:"[^"]*"|[^\s",;]*))*)/g;
const ATTRIBUTE = /;\s*([\w*!-]+)\s*=\s*(?:"([^"]*)"|([^\s",;]*))/g;

/**
 * The query parameter of the link with this `rel` in a Link header, such as `max_id` of `rel="next"`. Only the value is
 * taken: the URL itself is the upstream's word, and a token must never follow it to another host.
 * @see https://www.rfc-editor.org/rfc/rfc8288#section-3
 */
export function linkParameter(header: string | undefined, rel: string, parameter: string): string | undefined {
  if (header === undefined || header.length > 16_384) return undefined;
  for (const [, target = '', attributes = ''] of header.matchAll(LINK)) {
    const rels = [...attributes.matchAll(ATTRIBUTE)].find(([, name]) => name?.toLowerCase() === 'rel');
    if (!(rels?.[2] ?? rels?.[3] ?? '').toLowerCase().split(/\s+/).includes(rel)) continue;
    const value = URL.parse(target, 'http://localhost/')?.searchParams.get(parameter);
    if (value && /^[\x21-\x7e]{1,255}$/.test(value)) return value;
  }
  return undefined;
}
