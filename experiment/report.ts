import { init } from 'echarts';
import { describeChanges, type Row, type ScenarioSummary } from './summary.ts';

/** The lab's figures as one page: charts as SVG, no scripts, nothing fetched. */
export function renderReport(
  summaries: readonly ScenarioSummary[],
  about: { seeds: readonly number[]; failures: readonly string[]; madeAt: Date },
): string {
  const posts = summaries.reduce((sum, each) => sum + each.posts, 0);
  const verdict =
    about.failures.length === 0
      ? '<p class="good">All that must hold, holds.</p>'
      : `<ul class="bad">${about.failures.map((each) => `<li>${escapeHtml(each)}</li>`).join('')}</ul>`;
  return `<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Sluice: the leak lab</title>
<style>
body { font: 16px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; color: #222; }
table { border-collapse: collapse; font-size: 13px; } th, td { padding: 2px 10px; text-align: right; }
th:first-child, td:first-child { text-align: left; } tr.ours { font-weight: 600; } caption { text-align: left; padding-top: 1em; font-weight: 600; }
.good { color: #17692f; font-weight: 600; } .bad { color: #a11; } svg { max-width: 100%; height: auto; }
</style>
<h1>The leak lab</h1>
<p>${posts.toLocaleString('en')} posts went past Sluice and the baseline pollers, which share one schedule, in ${summaries.length} scenarios with ${about.seeds.length} seeds each
(${escapeHtml(about.seeds.join(', '))}), under virtual time. ${about.madeAt.toISOString()}.</p>
${verdict}
${CHARTS.map((chart) => `<h2>${chart.title}</h2><p>${chart.says}</p>${draw(summaries, chart)}`).join('\n')}
<h2>All figures</h2>
${summaries.map(renderTable).join('\n')}
</html>
`;
}

interface Chart {
  readonly title: string;
  /** What the picture shows. */
  readonly says: string;
  readonly unit: string;
  readonly value: (row: Row, summary: ScenarioSummary) => number;
}

const CHARTS: readonly Chart[] = [
  {
    title: 'Posts lost',
    says: 'Of 10,000 posts, how many a reader never got although the server showed them. Shorter is better; Sluice has no bar.',
    unit: 'of 10,000 posts',
    value: (row, { posts }) => (row.lost * 10_000) / posts,
  },
  {
    title: 'Requests',
    says: 'What that costs: requests as a multiple of the plain since_id poller, gap fills and sweeps included.',
    unit: 'times the plain poller',
    value: (row) => row.requestRatio,
  },
  {
    title: 'Posts read again',
    says: 'Posts in replies which were known already, for each post that was new: the price of an overlap in bytes, not in requests.',
    unit: 'a post',
    value: (row, { posts }) => row.readAgain / posts,
  },
  {
    title: 'Delay',
    says: 'From becoming visible until delivery, the 99th percentile over the posts which the plain poller delivers, too.',
    unit: 's',
    value: (row) => row.p99Ms / 1000,
  },
];

function draw(summaries: readonly ScenarioSummary[], { value, unit }: Chart): string {
  const pollers = summaries[0]?.rows.map(({ poller }) => poller) ?? [];
  const chart = init(null, null, { renderer: 'svg', ssr: true, width: 960, height: 120 + 56 * summaries.length });
  chart.setOption({
    animation: false,
    grid: { left: 160, right: 40, top: 50, bottom: 50 },
    legend: { data: pollers },
    xAxis: { type: 'value', name: unit, nameLocation: 'middle', nameGap: 30 },
    yAxis: { type: 'category', inverse: true, data: summaries.map(({ scenario }) => scenario.name) },
    series: pollers.map((name, at) => ({
      name,
      type: 'bar',
      data: summaries.map((summary) => {
        const row = summary.rows[at];
        return row === undefined ? 0 : Number(value(row, summary).toPrecision(4));
      }),
    })),
  });
  const svg = chart.renderToSVGString();
  chart.dispose();
  return svg;
}

function renderTable({ scenario, runs, posts, rows, changes }: ScenarioSummary): string {
  const head = ['', 'lost', 'in told gaps', 'twice', 'requests', 'ratio', 'read again', 'delay p50', 'p99'];
  const cells = (row: Row) => [
    escapeHtml(row.poller),
    ...[row.lost, row.lostInGaps, row.twice, row.requests].map((count) => count.toLocaleString('en')),
    row.requestRatio.toFixed(3),
    row.readAgain.toLocaleString('en'),
    ...[row.p50Ms, row.p99Ms].map((ms) => `${(ms / 1000).toFixed(1)} s`),
  ];
  const body = rows.map((row, at) => `<tr${at === 0 ? ' class="ours"' : ''}>${cells(row).map(td).join('')}</tr>`);
  return `<table><caption>${escapeHtml(scenario.name)}: ${posts.toLocaleString('en')} posts in ${runs} runs${describeChanges(changes)}</caption>
<tr>${head.map((each) => `<th>${each}</th>`).join('')}</tr>${body.join('')}</table>`;
}

function td(text: string): string {
  return `<td>${text}</td>`;
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);
}
