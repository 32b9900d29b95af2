/** Which logs there are, and the end of those that nobody names any more. */
export interface LogRegistry {
  /** These logs are named by a gateway's settings now; a log is made known by it even when nothing was ever committed. */
  nameLogs(logIds: readonly string[], nowMs: number): Promise<void>;
  /**
   * All logs that hold anything or were ever named, in any order, without those that were dropped since. On Redis a log of an
   * earlier release is listed once it was named, committed to or read.
   */
  listLogs(): Promise<readonly NamedLog[]>;
  /**
   * Everything of the log, status and repair state included, and its bodies at once where no other log shows them (those that a
   * feed names may stay as long as that); in steps that let others have their turn. True when there was such a log.
   * What stays is its version, which goes up, and its positions: a log that is committed to again gives none twice, and
   * nothing fits that was read before.
   */
  dropLog(logId: string): Promise<boolean>;
}

export interface NamedLog {
  readonly logId: string;
  /** When it was named last, Unix ms; absent: never. */
  readonly namedAtMs?: number | undefined;
}
