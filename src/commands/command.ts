/** What every command is handed. A command gives its exit code: 0, or 1 for something that failed. */
export interface CommandArgs {
  readonly flags: Flags;
  /** What `decode` is to explain, the URL of `init`; empty for all others. */
  readonly operand: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** Sluice's own. */
  readonly version: string;
  /** Takes one line, without its end. */
  readonly stdout: (line: string) => void;
  readonly stderr: (line: string) => void;
}

export interface Flags {
  readonly config?: string | undefined;
  readonly live?: boolean | undefined;
  readonly source?: string | undefined;
  readonly out?: string | undefined;
  /** 1 to 1000. */
  readonly pages?: number | undefined;
  readonly viewer?: string | undefined;
  /** The name of the environment variable that holds a token. */
  readonly tokenEnv?: string | undefined;
  readonly force?: boolean | undefined;
  readonly allowInsecure?: boolean | undefined;
  /** 1 to 1440. */
  readonly minutes?: number | undefined;
}
