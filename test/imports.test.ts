import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { describe, it } from 'node:test';

const ROOT = resolve(import.meta.dirname, '..');
const MAX_LINES = 250;

/** From high to low. A name that ends in `/` is a folder; the longest name that fits a file is its floor. */
const FLOORS: readonly { readonly floor: string; readonly files: readonly string[] }[] = [
  { floor: 'main', files: ['src/main.ts'] },
  { floor: 'commands', files: ['src/commands/'] },
  { floor: 'demo', files: ['src/demo/'] },
  { floor: 'experiment', files: ['src/experiment/', 'src/init/'] },
  { floor: 'gateway', files: ['src/gateway.ts', 'src/shutdown.ts'] },
  {
    floor: 'server',
    files: ['src/server.ts', 'src/server/'],
  },
  {
    floor: 'edge',
    files: [
      'src/resolvers/',
      'src/generated/',
      'src/candidates.ts',
      'src/context.ts',
      'src/home-logs.ts',
      'src/kept-logs.ts',
      'src/loaders.ts',
      'src/loaders/',
      'src/log-id.ts',
      'src/source-states.ts',
      'src/sources.ts',
    ],
  },
  { floor: 'settings', files: ['src/config.ts', 'src/config/'] },
  { floor: 'domain', files: ['src/feed/', 'src/timeline/', 'src/id-service.ts'] },
  { floor: 'adapters', files: ['src/stores/', 'src/upstreams/', 'src/recommenders/'] },
  {
    floor: 'ports',
    files: [
      'src/stores/store.ts',
      'src/stores/feed-store.ts',
      'src/stores/generator-store.ts',
      'src/stores/log-registry.ts',
      'src/stores/note-store.ts',
      'src/stores/post-store.ts',
      'src/stores/quota-store.ts',
      'src/stores/timeline-store.ts',
      'src/stores/repair-state.ts',
      'src/upstreams/upstream.ts',
      'src/recommenders/recommender.ts',
    ],
  },
  { floor: 'ids', files: ['src/ids/'] },
  {
    floor: 'base',
    files: [
      'src/input/',
      'src/errors.ts',
      'src/post.ts',
      'src/post-size.ts',
      'src/source.ts',
      'src/home-copy.ts',
      'src/clock.ts',
      'src/merge-timeline.ts',
    ],
  },
];

/** Types that a lower file may name although they stand on a higher floor. */
const TYPES_FROM_ABOVE: readonly (readonly [string, string])[] = [
  ['src/source.ts', 'src/upstreams/upstream.ts'],
  ['src/ids/', 'src/stores/timeline-store.ts'],
];

/** Downward all the same, and not wanted: from, to, and what may be imported nevertheless. */
const FORBIDDEN: readonly {
  readonly from: string;
  readonly to: readonly string[];
  readonly but?: readonly string[];
}[] = [
  { from: 'src/feed/', to: ['src/timeline/', 'src/stores/', 'src/upstreams/', 'src/recommenders/'], but: portFiles() },
  { from: 'src/timeline/', to: ['src/feed/', 'src/stores/', 'src/upstreams/', 'src/recommenders/'], but: portFiles() },
  {
    from: 'src/resolvers/',
    to: ['src/stores/', 'src/upstreams/', 'src/recommenders/', 'src/config'],
    but: portFiles(),
  },
  { from: 'src/stores/', to: ['src/upstreams/', 'src/recommenders/'], but: portFiles() },
  { from: 'src/upstreams/', to: ['src/stores/', 'src/recommenders/'], but: portFiles() },
  { from: 'src/recommenders/', to: ['src/stores/', 'src/upstreams/'], but: portFiles() },
  { from: 'src/ids/', to: ['src/'], but: ['src/ids/', 'src/errors.ts', 'src/post.ts', 'src/stores/timeline-store.ts'] },
  { from: 'src/merge-timeline.ts', to: ['src/'] },
];

/** Folders with one way in: the only file of each that others import. */
const ROOMS: readonly { readonly room: string; readonly wayIn: string }[] = [
  { room: 'src/timeline/reader/', wayIn: 'src/timeline/reader/read.ts' },
];

/** What codegen wrote. */
const NOT_COUNTED = ['src/generated/'];

/** Who may know GraphQL. */
const GRAPHQL = ['src/server.ts', 'src/server/', 'src/resolvers/', 'src/generated/', 'src/context.ts'];

interface Import {
  readonly from: string;
  /** A file of src, or a package. */
  readonly to: string;
  readonly typeOnly: boolean;
}

function portFiles(): readonly string[] {
  return FLOORS.find(({ floor }) => floor === 'ports')?.files ?? [];
}

/** Static and dynamic imports, re-exports and types named by `import('…')`. */
function importsOf(from: string, text: string): readonly Import[] {
  const code = text.replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '');
  const statements = code.matchAll(
    /^\s*(?:import|export)\s+(?:(type\s)?[\w*{][^'"`;=]*?\bfrom\s*)?['"]([^'"]+)['"]|\bimport\(\s*['"]([^'"]+)['"]/gm,
  );
  return [...statements].map(([, type, fixed, dynamic]) => {
    const to = fixed ?? dynamic ?? '';
    return { from, to: to.startsWith('.') ? join(dirname(from), to) : to, typeOnly: type !== undefined };
  });
}

function floorOf(file: string): number {
  const fits = (name: string) => (name.endsWith('/') ? file.startsWith(name) : file === name);
  const names = FLOORS.flatMap(({ files }, floor) => files.filter(fits).map((name) => ({ name, floor })));
  return names.sort((a, b) => b.name.length - a.name.length)[0]?.floor ?? -1;
}

function isUpward({ from, to, typeOnly }: Import): boolean {
  if (typeOnly && TYPES_FROM_ABOVE.some(([low, high]) => from.startsWith(low) && to === high)) return false;
  return floorOf(to) < floorOf(from);
}

function isForbidden({ from, to }: Import): boolean {
  return FORBIDDEN.some(
    (rule) =>
      from.startsWith(rule.from) &&
      rule.to.some((name) => to.startsWith(name)) &&
      !(rule.but ?? []).some((name) => to.startsWith(name)),
  );
}

/** The files of one circle, its first one again at its end; undefined when there is none. */
function findCircle(imports: readonly Import[]): readonly string[] | undefined {
  const next = Map.groupBy(imports, ({ from }) => from);
  const done = new Set<string>();
  const visit = (file: string, path: readonly string[]): readonly string[] | undefined => {
    if (path.includes(file)) return [...path.slice(path.indexOf(file)), file];
    if (done.has(file)) return undefined;
    for (const { to } of next.get(file) ?? []) {
      const circle = visit(to, [...path, file]);
      if (circle) return circle;
    }
    done.add(file);
    return undefined;
  };
  for (const file of next.keys()) {
    const circle = visit(file, []);
    if (circle) return circle;
  }
  return undefined;
}

const say = ({ from, to }: Import) => `${from} imports ${to}`;
const files = globSync('src/**/*.ts', { cwd: ROOT }).sort();
const texts = new Map(files.map((file) => [file, readFileSync(join(ROOT, file), 'utf8')]));
const imports = files.flatMap((file) => importsOf(file, texts.get(file) ?? ''));
const inside = imports.filter(({ to }) => to.startsWith('src/'));

describe('the house', () => {
  it('has a floor for every file', () => {
    assert.deepEqual(
      files.filter((file) => floorOf(file) === -1),
      [],
      'say in FLOORS where these stand',
    );
  });

  it('imports files that are there', () => {
    assert.deepEqual(inside.filter(({ to }) => !texts.has(to) && !to.endsWith('.json')).map(say), []);
  });

  it('never imports upward', () => {
    assert.deepEqual(inside.filter(isUpward).map(say), []);
  });

  it('keeps apart what must not know each other', () => {
    assert.deepEqual(inside.filter(isForbidden).map(say), []);
  });

  it('enters a room by its one way in', () => {
    const isAside = ({ from, to }: Import) =>
      ROOMS.some(({ room, wayIn }) => to.startsWith(room) && to !== wayIn && !from.startsWith(room));
    assert.deepEqual(inside.filter(isAside).map(say), []);
  });

  it('has no circles', () => {
    // Generated types name the resolvers' models, which use the generated enums.
    assert.equal(findCircle(inside.filter(({ from }) => !from.startsWith('src/generated/'))), undefined);
  });

  it('takes no more of the settings than their types, but where they are loaded', () => {
    const loaders = ['src/commands/', 'src/demo/', 'src/config'];
    const values = inside.filter(({ to, typeOnly }) => to.startsWith('src/config') && !typeOnly);
    assert.deepEqual(values.filter(({ from }) => !loaders.some((name) => from.startsWith(name))).map(say), []);
  });

  it('knows GraphQL at its edge alone', () => {
    const graphql = imports.filter(({ to }) => /^(graphql|@graphql)/.test(to));
    assert.deepEqual(graphql.filter(({ from }) => !GRAPHQL.some((name) => from.startsWith(name))).map(say), []);
  });

  it('reads the environment in main.ts alone', () => {
    const readers = files.filter((file) => /\bprocess\s*\.\s*env\b|from 'node:process'/.test(texts.get(file) ?? ''));
    assert.deepEqual(readers, ['src/main.ts']);
  });

  it(`has no file of more than ${MAX_LINES} lines`, () => {
    const long = files.filter((file) => (texts.get(file) ?? '').trimEnd().split('\n').length > MAX_LINES);
    assert.deepEqual(
      long.filter((file) => !NOT_COUNTED.some((name) => file.startsWith(name))),
      [],
    );
  });
});

describe('this test', () => {
  it('sees every form of import', () => {
    const text = [
      "import './a.ts';",
      "import { b } from './b.ts';",
      "import type { C } from '../c.ts';",
      'import {\n  d,\n  type D,\n} from "./d.ts";',
      "export * from './e.ts';",
      "export type { F } from './f.ts';",
      "const g = await import('./g.ts');",
      "type H = import('./h.ts').H;",
      "import i, { type J } from 'package';",
      "// import './not.ts';",
      "/** import './not.ts'; */",
      "export const from = 'no import';",
    ].join('\n');
    assert.deepEqual(
      importsOf('src/feed/x.ts', text).map(({ to, typeOnly }) => `${typeOnly ? 'type ' : ''}${to}`),
      [
        'src/feed/a.ts',
        'src/feed/b.ts',
        'type src/c.ts',
        'src/feed/d.ts',
        'src/feed/e.ts',
        'type src/feed/f.ts',
        'src/feed/g.ts',
        'src/feed/h.ts',
        'package',
      ],
    );
  });

  it('tells upward imports and those between neighbours', () => {
    const edge = (from: string, to: string, typeOnly = false): Import => ({ from, to, typeOnly });
    assert.ok(isUpward(edge('src/feed/page.ts', 'src/server.ts')));
    assert.ok(isUpward(edge('src/errors.ts', 'src/ids/position.ts', true)));
    assert.ok(isUpward(edge('src/source.ts', 'src/upstreams/upstream.ts')));
    assert.ok(!isUpward(edge('src/source.ts', 'src/upstreams/upstream.ts', true)));
    assert.ok(isUpward(edge('src/stores/store.ts', 'src/stores/sqlite.ts')));
    assert.ok(isForbidden(edge('src/feed/page.ts', 'src/timeline/reader/read.ts', true)));
    assert.ok(isForbidden(edge('src/feed/page.ts', 'src/stores/sqlite.ts')));
    assert.ok(!isForbidden(edge('src/feed/page.ts', 'src/stores/store.ts')));
    assert.ok(isForbidden(edge('src/resolvers/post.ts', 'src/upstreams/http.ts')));
  });

  it('finds a circle, also one of types', () => {
    const edge = (from: string, to: string): Import => ({ from, to, typeOnly: true });
    assert.deepEqual(findCircle([edge('z', 'a'), edge('a', 'b'), edge('b', 'c'), edge('c', 'a')]), [
      'a',
      'b',
      'c',
      'a',
    ]);
    assert.equal(findCircle([edge('a', 'b'), edge('a', 'c'), edge('b', 'd'), edge('c', 'd')]), undefined);
  });
});
