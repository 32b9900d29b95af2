import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import { openStore } from '../../src/stores/registry.ts';
import { describeStoreContract } from './contract.ts';

describeStoreContract('the embedded store in memory', () => openStore('sqlite::memory:'));

const folder = mkdtempSync(join(tmpdir(), 'sluice-store-'));
after(() => rmSync(folder, { recursive: true }));
let files = 0;
const spec = () => `sqlite:${join(folder, `${files}.db`)}`;
const openNew = () => {
  files += 1;
  return openStore(spec());
};

describeStoreContract('the embedded store in a file', openNew, { spec });
