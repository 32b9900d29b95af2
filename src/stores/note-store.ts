/** Small records by name that all gateways share. They have no TTL. */
export interface NoteStore {
  /** Those that exist, by name. Any number of names. */
  read(names: readonly string[]): Promise<ReadonlyMap<string, Note>>;
  /**
   * Writes where the version is still `expectedVersion` (0: there is none; absent: whatever it is), and makes it one more.
   * Returns the new version; undefined where it was another. After a failover that may have lost newer versions the first
   * write that expects one is refused.
   */
  write(note: { name: string; body: string; expectedVersion?: number | undefined }): Promise<number | undefined>;
  /** A name that is written again may begin at version 1. */
  remove(names: readonly string[]): Promise<void>;
}

export interface Note {
  /** From 1. */
  readonly version: number;
  readonly body: string;
}
