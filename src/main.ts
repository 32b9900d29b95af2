import { readFileSync } from 'node:fs';
import type { CommandArgs } from './commands/command.ts';
import { untilSignal } from './commands/until-signal.ts';
import { type CommandName, parseInvocation, USAGE } from './commands/usage.ts';
import { ConfigError, operatorMessage, SluiceError } from './errors.ts';

/** Loaded only when asked for: `decode` needs no server. */
const commands: Readonly<Record<CommandName, () => Promise<(args: CommandArgs) => Promise<number>>>> = {
  serve: async () => {
    // Listened for first: to read the gateway's modules takes a while, in which a stop must not be missed.
    const stopped = untilSignal();
    const { serve } = await import('./commands/serve.ts');
    return (args) => serve(args, stopped);
  },
  init: async () => (await import('./commands/init.ts')).init,
  check: async () => (await import('./commands/check.ts')).check,
  record: async () => (await import('./commands/record.ts')).record,
  experiment: async () => (await import('./commands/experiment.ts')).experiment,
  purge: async () => (await import('./commands/purge.ts')).purge,
  decode: async () => (await import('./commands/decode.ts')).decode,
};

process.exitCode = await main(process.argv.slice(2));

async function main(args: readonly string[]): Promise<number> {
  // A reader that has seen enough, such as `head`, is no failure.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    process.exit();
  });
  const invocation = parseInvocation(args);
  if ('mistake' in invocation) {
    process.stderr.write(`sluice: ${invocation.mistake}\n\n${USAGE}\n`);
    return 2;
  }
  const version = ownVersion();
  if ('show' in invocation) {
    process.stdout.write(`${invocation.show === 'help' ? USAGE : version}\n`);
    return 0;
  }
  try {
    const run = await commands[invocation.command]();
    return await run({
      flags: invocation.flags,
      operand: invocation.operand,
      env: process.env,
      cwd: process.cwd(),
      version,
      stdout: (line) => process.stdout.write(`${line}\n`),
      stderr: (line) => process.stderr.write(`${line}\n`),
    });
  } catch (error) {
    if (!(error instanceof SluiceError)) throw error;
    process.stderr.write(`sluice: ${operatorMessage(error)}\n`);
    return error instanceof ConfigError ? 2 : 1;
  }
}

function ownVersion(): string {
  return JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')).version;
}
