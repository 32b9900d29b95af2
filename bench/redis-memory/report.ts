import { init } from 'echarts';
import { short } from '../side-by-side.ts';
import type { Result } from './variants.ts';
import type { Claim } from './verdict.ts';

/** The figures as one page: charts as SVG, no scripts, nothing fetched. */
export function renderReport(report: {
  results: readonly Result[];
  claims: readonly Claim[];
  notes: readonly string[];
  head: readonly string[];
  rows: readonly (readonly string[])[];
}): string {
  const { results, claims, notes, head, rows } = report;
  const cells = (row: readonly string[], tag: string) =>
    row.map((cell) => `<${tag}>${escapeHtml(cell)}</${tag}>`).join('');
  return `<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Sluice: feeds in Redis over a day</title>
<style>
body { font: 16px/1.5 system-ui, sans-serif; max-width: 66rem; margin: 2rem auto; padding: 0 1rem; color: #222; }
table { border-collapse: collapse; font-size: 13px; } th, td { padding: 2px 10px; text-align: right; }
th:first-child, td:first-child { text-align: left; } tr:last-child { font-weight: 600; }
.good { color: #17692f; } .bad { color: #a11; font-weight: 600; } svg { max-width: 100%; height: auto; }
</style>
<h1>Feeds in Redis over a day</h1>
${notes.map((note) => `<p>${escapeHtml(note)}</p>`).join('\n')}
<ul>${claims.map(({ says, holds }) => `<li class="${holds ? 'good' : 'bad'}">${holds ? 'holds' : 'missed'}: ${escapeHtml(says)}</li>`).join('')}</ul>
<h2>Memory</h2><p>Bytes of all keys kept of viewers, from an empty Redis on. The axis is logarithmic: one grid line further down is ten times less.</p>
${drawMemory(results)}
<h2>Scrolls</h2><p>Of pages asked for with a cursor: those that ended dead (the instance was gone, the published rule shows an empty page),
and those that repeat a story, where a design that makes a new feed instead goes on with that.</p>
${drawScrolls(results)}
<h2>All figures</h2>
<table><tr>${cells(head, 'th')}</tr>${rows.map((row) => `<tr>${cells(row, 'td')}</tr>`).join('')}</table>
</html>
`;
}

function drawMemory(results: readonly Result[]): string {
  return draw(460, {
    grid: { left: 70, right: 30, top: 70, bottom: 50 },
    legend: { top: 10, data: results.map(({ variant }) => variant.name) },
    xAxis: {
      type: 'value',
      name: 'hour of the day',
      nameLocation: 'middle',
      nameGap: 30,
      min: 0,
      max: 24,
      interval: 2,
    },
    yAxis: { type: 'log', name: 'MB', min: 1 },
    series: results.map(({ variant, line }) => ({
      name: variant.name,
      type: 'line',
      showSymbol: false,
      lineStyle: { width: variant.isOurs ? 4 : 2 },
      data: line.map(({ hour, bytes }) => [hour, Number(Math.max(1, bytes / 1e6).toPrecision(4))]),
    })),
  });
}

function drawScrolls(results: readonly Result[]): string {
  const share = (count: number, { day }: Result) =>
    Number(((100 * count) / Math.max(1, day.laterPages)).toPrecision(3));
  return draw(320, {
    grid: { left: 260, right: 40, top: 50, bottom: 50 },
    legend: { top: 10 },
    xAxis: { type: 'value', name: '% of later pages', nameLocation: 'middle', nameGap: 30 },
    yAxis: { type: 'category', inverse: true, data: results.map(({ variant }) => variant.name) },
    series: [
      { name: 'ended dead', type: 'bar', data: results.map((each) => share(each.day.dead, each)) },
      { name: 'repeats a story', type: 'bar', data: results.map((each) => share(each.day.repeated, each)) },
    ].map((series) => ({
      ...series,
      label: {
        show: true,
        position: 'right',
        formatter: ({ value }: { value: unknown }) => `${short(Number(value))} %`,
      },
    })),
  });
}

function draw(height: number, option: object): string {
  const chart = init(null, null, { renderer: 'svg', ssr: true, width: 1000, height });
  chart.setOption({ animation: false, ...option });
  const svg = chart.renderToSVGString();
  chart.dispose();
  return svg;
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);
}
