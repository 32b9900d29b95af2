import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { parseInvocation, USAGE } from '../../src/commands/usage.ts';
import { folder, runSluice } from './run-sluice.ts';

const mistakeIn = (...args: string[]) => {
  const invocation = parseInvocation(args);
  return 'mistake' in invocation ? invocation.mistake : 'no mistake';
};

describe('the command line', () => {
  it('serves by default, with the flags that serve has', () => {
    for (const args of [[], ['serve']]) {
      assert.deepEqual(parseInvocation(args), {
        command: 'serve',
        flags: { pages: undefined, minutes: undefined },
        operand: '',
      });
    }
    assert.deepEqual(parseInvocation(['--config', 'a.ts']), {
      command: 'serve',
      flags: { config: 'a.ts', pages: undefined, minutes: undefined },
      operand: '',
    });
  });

  it('takes flags before and behind the command', () => {
    const wanted = {
      command: 'record',
      flags: { source: 'home', out: 'r', config: 'a.ts', pages: 3, minutes: undefined },
      operand: '',
    };
    const args = ['--config=a.ts', 'record', '--source', 'home', '--out', 'r', '--pages', '3'];
    assert.deepEqual(parseInvocation(args), wanted);
  });

  it('says what is wrong', () => {
    assert.equal(mistakeIn('sevre'), 'unknown command "sevre"');
    assert.equal(mistakeIn('constructor'), 'unknown command "constructor"');
    assert.equal(mistakeIn('--nope'), "Unknown option '--nope'");
    assert.equal(mistakeIn('serve', '--live'), '--live does not go with serve');
    assert.equal(mistakeIn('check', 'this'), 'check takes nothing behind it, got this');
    assert.equal(mistakeIn('decode'), 'decode takes one id or token, got nothing');
    assert.equal(mistakeIn('decode', '1', '2'), 'decode takes one id or token, got 1 2');
    assert.equal(mistakeIn('record', '--source', 'home'), 'record needs --source ID and --out DIR');
    for (const pages of ['0', '1001', '1e2', ' 3', '']) {
      const mistake = mistakeIn('record', '--source', 'home', '--out', 'r', `--pages=${pages}`);
      assert.equal(mistake, `--pages must be a whole number 1 to 1000, got ${JSON.stringify(pages)}`);
    }
    assert.match(mistakeIn('--config'), /^Option '--config <value>' argument missing/);
  });

  it('gives an invocation for any arguments', () => {
    const words = fc.oneof(
      fc.string(),
      fc.constantFrom('check', 'decode', '--live', '--pages', '--source=x', '--', '-h'),
    );
    fc.assert(
      fc.property(fc.array(words), (args) => {
        const invocation = parseInvocation(args);
        assert.ok('mistake' in invocation || 'show' in invocation || 'command' in invocation);
      }),
    );
  });
});

describe('bin/sluice.js', () => {
  it('helps, tells its version, and ends with 2 on a mistake', async () => {
    const [help, version, mistake] = await Promise.all([
      runSluice(['--help']),
      runSluice(['-v', 'serve']),
      runSluice(['sevre']),
    ]);
    assert.deepEqual(help, { code: 0, stdout: `${USAGE}\n`, stderr: '' });
    assert.match(version.stdout, /^\d+\.\d+\.\d+\n$/);
    assert.deepEqual(mistake, { code: 2, stdout: '', stderr: `sluice: unknown command "sevre"\n\n${USAGE}\n` });
  });

  it('says on an old Node which one it needs', async () => {
    const old = "Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.20.2' } })";
    const cwd = folder({ 'old.cjs': old });
    const run = await runSluice(['--version'], { cwd, nodeArgs: ['--require', './old.cjs'] });
    assert.deepEqual(run, {
      code: 1,
      stdout: '',
      stderr: 'Sluice needs Node 24 or newer, this is 20.20.2; run it through npm (npm start), which brings its own\n',
    });
  });
});
