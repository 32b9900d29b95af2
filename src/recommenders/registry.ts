import { type HttpRecommenderSettings, httpRecommender } from './http.ts';
import { localRecommender } from './local.ts';
import type { Recommender } from './recommender.ts';

/** What the settings say about the recommender, checked. */
export type RecommenderSettings = { readonly kind: 'local' } | HttpRecommenderSettings;

/** Builds the recommender that the settings name; adding one is a file and a line here. */
export function createRecommender(settings: RecommenderSettings): Recommender {
  switch (settings.kind) {
    case 'local':
      return localRecommender;
    case 'http':
      return httpRecommender(settings);
  }
}
