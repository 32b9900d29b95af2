import type { Findings, FoundTimeline, TimelineName } from './probe.ts';

/** What the written settings are about. */
export interface Plan {
  /** Without a slash at its end. */
  readonly url: string;
  readonly kind: 'mastodon' | 'twitter';
  /** The environment variable that holds the token. */
  readonly tokenEnv?: string | undefined;
  /** Absent for Twitter, which is not asked. */
  readonly findings?: Findings | undefined;
  /** `2026-11-21`. */
  readonly date: string;
}

/** One source of the settings, written out or as a comment. */
interface Entry {
  readonly key: string;
  readonly says: readonly string[];
  readonly source: Readonly<Record<string, unknown>>;
  readonly isActive: boolean;
}

const TOKEN_ENV = 'SLUICE_TOKEN';

const SAYS: Readonly<Record<TimelineName, string>> = {
  local: 'What people of this server write for everybody.',
  everything: 'Everything public that this server knows, from other servers, too.',
  tag: 'Public posts with a tag.',
  home: 'What the account of the token follows. Only the users in `audience` may see it.',
};

/** The settings as an object, as `checkSettings` takes it. Without a source where nothing can be read. */
export function planSettings(plan: Plan): { sources: Readonly<Record<string, unknown>> } {
  const active = entriesOf(plan).filter(({ isActive }) => isActive);
  return { sources: Object.fromEntries(active.map(({ key, source }) => [key, source])) };
}

/** The same as JSON; tokens as `"${NAME}"`. */
export function renderJson(plan: Plan): string {
  return `${JSON.stringify(planSettings(plan), null, 2)}\n`;
}

/** The same as TypeScript, with what was found as comments. `lines`: texts of the server, made printable. */
export function renderTypeScript(plan: Plan, lines: readonly string[]): string {
  const body = entriesOf(plan).flatMap(({ key, says, source, isActive }) => {
    const text = [...says.map((line) => `// ${line}`), `${key}: ${literal(source)},`];
    return ['', ...text.map((line) => (isActive || line.startsWith('//') ? line : `// ${line}`))].map((line) =>
      line === '' ? '' : `    ${line}`,
    );
  });
  return [
    `// Written by \`sluice init\` on ${plan.date}. Every setting is explained in README.md.`,
    ...lines.map((line) => `// ${line}`),
    "import { defineConfig, env } from 'sluice/config';",
    '',
    'export default defineConfig({',
    '  sources: {',
    ...body.slice(1),
    '  },',
    '',
    "  // Everybody who reaches the port is this one viewer. Behind a proxy that signs people in: { kind: 'header', name: 'x-user-id' }.",
    "  auth: { kind: 'none', userId: 'demo' },",
    '',
    '  // Where logs and feeds are kept; sqlite::memory: forgets them with the process.',
    "  store: 'sqlite:sluice.db',",
    '});',
    '',
    '// Names an environment variable for a token: never write the token itself here.',
    'void env;',
    '',
  ].join('\n');
}

function entriesOf(plan: Plan): readonly Entry[] {
  return plan.kind === 'twitter' ? twitterEntries(plan) : mastodonEntries(plan);
}

function mastodonEntries({ url, tokenEnv, findings }: Plan): readonly Entry[] {
  const found = new Map(findings?.timelines.map((timeline) => [timeline.name, timeline]));
  const token = placeholder(tokenEnv ?? TOKEN_ENV);
  const withToken = tokenEnv === undefined ? {} : { token };
  const entry = (name: TimelineName, timeline: unknown, more: object = withToken): Entry => {
    const answer = found.get(name);
    return {
      key: name,
      says: [SAYS[name], ...remark(answer), ...(answer?.answer === 'readable' ? byIdRemark(tokenEnv, findings) : [])],
      source: { kind: 'mastodon', url, timeline, ...more },
      isActive: answer?.answer === 'readable' && name !== 'tag' && !(name === 'everything' && isReadable('local')),
    };
  };
  const isReadable = (name: TimelineName) => found.get(name)?.answer === 'readable';
  return [
    entry('local', { type: 'public', only: 'local' }),
    entry('everything', { type: 'public' }),
    entry('tag', { type: 'tag', tag: found.get('tag')?.tag ?? 'photography' }),
    entry('home', { type: 'home' }, { token, audience: ['demo'] }),
  ];
}

function twitterEntries({ url, tokenEnv }: Plan): readonly Entry[] {
  const token = placeholder(tokenEnv ?? TOKEN_ENV);
  const own = url === 'https://api.x.com' ? {} : { url };
  const source = (timeline: unknown, more: object = {}) => ({
    kind: 'twitter',
    api: '2',
    ...own,
    timeline,
    token,
    ...more,
  });
  return [
    {
      key: 'user',
      says: [
        'The posts of one account, by its numeric id. Twitter bills posts that are read: maxPostsPerDay bounds them.',
        `The token is a bearer token, taken from the environment variable ${tokenEnv ?? TOKEN_ENV}.`,
      ],
      source: source({ type: 'user', userId: '2244994945' }, { maxPostsPerDay: 500 }),
      isActive: true,
    },
    {
      key: 'search',
      says: ['A search of the last seven days.'],
      source: source({ type: 'search', query: 'from:XDevelopers -is:retweet' }, { maxPostsPerDay: 500 }),
      isActive: false,
    },
  ];
}

function remark(timeline: FoundTimeline | undefined): readonly string[] {
  switch (timeline?.answer) {
    case 'readable':
      return [];
    case 'refused':
      return ['Not for this caller: it needs a token, or a token with more rights.'];
    case 'absent':
      return ['This server has no such timeline.'];
    case 'unused':
      return ['Nobody used this tag there yet, which some servers answer with 404: name another one.'];
    case 'failed':
      return ['It did not answer usefully when it was asked.'];
    default:
      return ['Needs a token.'];
  }
}

function byIdRemark(tokenEnv: string | undefined, findings: Findings | undefined): readonly string[] {
  if (findings?.byId !== 'refused') return [];
  const hint = tokenEnv === undefined ? ' A token may change that.' : '';
  return [`This server refuses single posts to this caller: removals are found by absence alone.${hint}`];
}

function placeholder(name: string): string {
  return `\${${name}}`;
}

/** As people write it; a token as `env('NAME')`. */
function literal(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(literal).join(', ')}]`;
  if (typeof value === 'object' && value !== null) {
    return `{ ${Object.entries(value)
      .map(([key, each]) => `${key}: ${literal(each)}`)
      .join(', ')} }`;
  }
  const name = typeof value === 'string' ? /^\$\{(\w+)\}$/.exec(value)?.[1] : undefined;
  if (name !== undefined) return `env('${name}')`;
  if (typeof value !== 'string') return String(value);
  // Line ends and quotes of any kind are escaped: what a user typed stays one literal.
  return `'${JSON.stringify(value).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`;
}
