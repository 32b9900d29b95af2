#!/usr/bin/env node
// Plain JavaScript, so that an old Node can say what is missing instead of stumbling over types.
const major = Number.parseInt(process.versions.node, 10);

if (major < 24) {
  console.error(
    `Sluice needs Node 24 or newer, this is ${process.versions.node}; run it through npm (npm start), which brings its own`,
  );
  process.exitCode = 1;
} else {
  import('../src/main.ts');
}
