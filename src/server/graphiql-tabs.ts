interface Tab {
  readonly query: string;
  readonly variables?: string;
}

const page = `items {
      position
      reason { kind text }
      post { ...Card }
    }
    nextPage { cursor }
    problems { code message }`;

const card = `fragment Card on Post {
  id
  author { handle name }
  text
  createdAt
  url
  repostOf { author { handle } text }
  media { kind url alt }
  counts { replies reposts likes }
}`;

const entries = `entries {
      source { id }
      sortAt
      late
      post { ...Card }
    }
    since
    until
    hasNewer
    gaps { source { id } from to reason final }
    problems { code message source { id } retryAt }`;

/** The example queries on which GraphiQL opens: each answers as it stands. */
export const exampleTabs: readonly Tab[] = [
  {
    query: `# The ranked feed of the viewer, best first.
query ForYou {
  forYou(limit: 5) {
    state
    ${page}
  }
}

${card}
`,
  },
  {
    query: `# The next page: copy nextPage.cursor of the tab before into the variables below.
query ForYouNextPage($cursor: String) {
  forYou(limit: 5, cursor: $cursor) {
    state
    ${page}
  }
}

${card}
`,
    variables: '{\n  "cursor": null\n}',
  },
  {
    query: `# All sources merged, newest first.
query Timeline {
  timeline(limit: 10) {
    ${entries}
  }
}

${card}
`,
  },
  {
    query: `# What is new: copy since of the last page that had one into the variables below. Ask again while hasNewer.
query CatchUp($since: String) {
  timeline(since: $since) {
    ${entries}
    edited { id text }
    removed
  }
}

${card}
`,
    variables: '{\n  "since": null\n}',
  },
  {
    query: `# How each source fares.
query SourceHealth {
  sources {
    id
    network
    timeline
    software
    state
    lastPolledAt
    nextPollAt
    overlapMs
    lateness { samples p50Ms p99Ms maxMs }
    rateLimit { limit remaining resetAt }
    counts { posts requests duplicatesDropped leaksPrevented backfilled gaps }
  }
}
`,
  },
];
