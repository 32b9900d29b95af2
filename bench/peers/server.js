import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';

// One peer, in a process of its own: node server.js KIND. It is sent the objects that it serves, tells its URL, then its
// CPU time when asked. All peers read schema.graphql and hand out the same objects from memory.
const typeDefs = readFileSync(new URL('../../schema.graphql', import.meta.url), 'utf8');
const kind = process.argv[2];

process.once('message', async ({ forYou, timeline, text }) => {
  const resolvers = {
    Query: { forYou: () => forYou, timeline: (_root, { since }) => (since ? timeline.nothing : timeline.page) },
    Node: { __resolveType: () => 'Post' },
  };
  const url = await peers[kind]({ resolvers, text });
  process.on('message', () => {
    const { user, system } = process.cpuUsage();
    process.send({ cpuMicros: user + system });
  });
  process.send({ url });
});
process.on('disconnect', () => process.exit(0));

const peers = {
  yoga: async ({ resolvers }) => {
    const { createSchema, createYoga } = await import('graphql-yoga');
    return listen(createServer(createYoga({ schema: createSchema({ typeDefs, resolvers }), logging: false })));
  },
  'yoga + jit': async ({ resolvers }) => {
    const { createSchema, createYoga } = await import('graphql-yoga');
    const { compileQuery } = await import('graphql-jit');
    const schema = createSchema({ typeDefs, resolvers });
    const compiled = new WeakMap();
    const useJit = {
      onExecute({ args: { document, operationName }, setExecuteFn }) {
        if (!compiled.has(document)) compiled.set(document, compileQuery(schema, document, operationName ?? undefined));
        const { query } = compiled.get(document);
        setExecuteFn(({ rootValue, contextValue, variableValues }) => query(rootValue, contextValue, variableValues));
      },
    };
    return listen(createServer(createYoga({ schema, plugins: [useJit], maxRequestBodySize: false, logging: false })));
  },
  mercurius: ({ resolvers }) => mercuriusWith(resolvers, {}),
  'mercurius + jit': ({ resolvers }) => mercuriusWith(resolvers, { jit: 1 }),
  'node:http': ({ text }) =>
    listen(
      createServer((request, response) => {
        request.resume().on('end', () => {
          response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) });
          response.end(text);
        });
      }),
    ),
};

async function mercuriusWith(resolvers, options) {
  const { default: fastify } = await import('fastify');
  const { default: mercurius } = await import('mercurius');
  const app = fastify();
  app.register(mercurius, { schema: typeDefs, resolvers, ...options });
  await app.listen({ port: 0, host: '127.0.0.1' });
  return `http://127.0.0.1:${app.server.address().port}/graphql`;
}

function listen(server) {
  return new Promise((resolve) =>
    server.listen(0, '127.0.0.1', () => resolve(`http://127.0.0.1:${server.address().port}/graphql`)),
  );
}
