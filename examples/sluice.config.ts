import { defineConfig, env } from 'sluice/config';

/** Copy this to the folder where you start Sluice, as sluice.config.ts, and keep what you need. */
export default defineConfig({
  sources: {
    town: {
      kind: 'mastodon',
      url: 'https://mastodon.social',
      timeline: { type: 'public', only: 'local' },
    },
    home: {
      kind: 'mastodon',
      url: 'https://mastodon.social',
      timeline: { type: 'home' },
      token: env('TOWN_TOKEN'),
      audience: ['ann'],
    },
    bird: {
      kind: 'twitter',
      api: '2',
      timeline: { type: 'user', userId: '2244994945' },
      token: env('BIRD_TOKEN'),
      pollWhen: 'asked',
    },
  },
  store: 'sqlite:sluice.db',
  server: { port: 4000, cors: ['http://localhost:5173'] },
  auth: { kind: 'header', name: 'x-user-id', trustedPeers: ['127.0.0.1', '::1'] },
});
