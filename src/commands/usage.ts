import { parseArgs } from 'node:util';
import type { Flags } from './command.ts';

export const USAGE = `Usage: sluice [serve]                               run the gateway; without a settings file, the demo
       sluice init URL [--token-env NAME] [--out FILE] [--force]
                                                    ask a server what it is, and write settings for it
       sluice check [--live]                        check the settings; --live asks each source once
       sluice record --source ID --out DIR [--pages N]
                                                    save a source's real replies, without tokens and cookies
       sluice experiment --source ID [--minutes N]  run the usual pollers beside Sluice's, and report every leak
       sluice purge --viewer ID | --source ID       remove a viewer's feeds from the store (old cursors behave as gone),
                                                    or all that a source brought; it begins anew if it is still read
       sluice decode ID|TOKEN [--viewer USER]       explain an id in every layout, or a token
       sluice --help | --version

  --config FILE   the settings file (also SLUICE_CONFIG); else sluice.config.ts, .js or .json in this directory
  --source ID     the settings key of a source; of purge, also one that is no longer in the settings
  --out DIR|FILE  of record: made when it is missing; nothing in it is overwritten. Private posts are saved as they are.
                  of init: sluice.config.ts when left out; .json has no comments. --force overwrites it.
  --token-env N   the environment variable that holds a token, for what the server shows to nobody else
  --allow-insecure  http: to another machine
  --pages N       how many pages of the timeline to save: 1 to 1000, 1 when left out
  --minutes N     how long to watch the source: 1 to 1440, 10 when left out; Ctrl-C ends it with the summary
  --viewer USER   of purge: whose feeds. Of decode: whose token it is: For You cursors are bound to a viewer. Verifying takes tokens.keys in the settings.
  PORT, HOST      override server.port and server.host`;

export type CommandName = 'serve' | 'init' | 'check' | 'record' | 'experiment' | 'purge' | 'decode';

/** What the command line asks for; `mistake` says why it cannot be done. */
export type Invocation =
  | { readonly command: CommandName; readonly flags: Flags; readonly operand: string }
  | { readonly show: 'help' | 'version' }
  | { readonly mistake: string };

const OPTIONS = {
  config: { type: 'string' },
  live: { type: 'boolean' },
  source: { type: 'string' },
  out: { type: 'string' },
  pages: { type: 'string' },
  viewer: { type: 'string' },
  minutes: { type: 'string' },
  'token-env': { type: 'string' },
  force: { type: 'boolean' },
  'allow-insecure': { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
  version: { type: 'boolean', short: 'v' },
} as const;

/** The flags of each command, and how many operands it takes. */
const COMMANDS: Readonly<Record<CommandName, { readonly flags: readonly string[]; readonly operands: number }>> = {
  serve: { flags: ['config'], operands: 0 },
  init: { flags: ['out', 'token-env', 'force', 'allow-insecure'], operands: 1 },
  check: { flags: ['config', 'live'], operands: 0 },
  record: { flags: ['config', 'source', 'out', 'pages'], operands: 0 },
  experiment: { flags: ['config', 'source', 'minutes'], operands: 0 },
  purge: { flags: ['config', 'viewer', 'source'], operands: 0 },
  decode: { flags: ['config', 'viewer'], operands: 1 },
};

/** Reads the arguments behind `sluice`. Never throws. */
export function parseInvocation(args: readonly string[]): Invocation {
  const parsed = parse(args);
  if ('mistake' in parsed) return parsed;
  const {
    help,
    version,
    pages,
    minutes,
    'token-env': tokenEnv,
    'allow-insecure': allowInsecure,
    ...flags
  } = parsed.values;
  if (help) return { show: 'help' };
  if (version) return { show: 'version' };

  const [command = 'serve', ...operands] = parsed.positionals;
  if (!isCommand(command)) return { mistake: `unknown command ${JSON.stringify(command)}` };
  const rules = COMMANDS[command];
  const foreign = Object.keys(parsed.values).find((flag) => !rules.flags.includes(flag));
  if (foreign !== undefined) return { mistake: `--${foreign} does not go with ${command}` };
  if (operands.length !== rules.operands) {
    const wanted = rules.operands === 0 ? 'nothing behind it' : command === 'init' ? 'one URL' : 'one id or token';
    return { mistake: `${command} takes ${wanted}, got ${operands.length === 0 ? 'nothing' : operands.join(' ')}` };
  }
  if (command === 'record' && (flags.source === undefined || flags.out === undefined)) {
    return { mistake: 'record needs --source ID and --out DIR' };
  }
  if (command === 'purge' && !flags.viewer === !flags.source)
    return { mistake: 'purge needs --viewer ID or --source ID' };
  if (command === 'experiment' && flags.source === undefined) return { mistake: 'experiment needs --source ID' };
  if (minutes !== undefined && !/^([1-9]\d{0,2}|1[0-3]\d\d|14[0-3]\d|1440)$/.test(minutes)) {
    return { mistake: `--minutes must be a whole number 1 to 1440, got ${JSON.stringify(minutes)}` };
  }
  if (pages !== undefined && !/^([1-9]\d{0,2}|1000)$/.test(pages)) {
    return { mistake: `--pages must be a whole number 1 to 1000, got ${JSON.stringify(pages)}` };
  }
  return {
    command,
    flags: {
      ...flags,
      ...(tokenEnv !== undefined && { tokenEnv }),
      ...(allowInsecure !== undefined && { allowInsecure }),
      pages: pages === undefined ? undefined : Number(pages),
      minutes: minutes === undefined ? undefined : Number(minutes),
    },
    operand: operands[0] ?? '',
  };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true, strict: true });
  } catch (error) {
    // The first sentence says what is wrong; the rest is advice about the form.
    const [mistake = ''] = String(error instanceof Error ? error.message : error).split(/\. |\n/);
    return { mistake };
  }
}

function isCommand(name: string): name is CommandName {
  return Object.hasOwn(COMMANDS, name);
}
