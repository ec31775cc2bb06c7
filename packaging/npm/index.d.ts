/** A running server. */
export interface Server {
  /** Where it listens: "http://127.0.0.1:36093". */
  readonly endpoint: string;
  readonly port: number;
  /** Process id of the server. */
  readonly pid: number;
  /** Resolves once the server has ended, with its exit code; null when a signal ended it. */
  readonly exited: Promise<number | null>;
  /** Stops the server and waits for its end. Calling it again does no harm. */
  stop(): Promise<void>;
}

export interface StartOptions {
  /** Port to listen on; by default a free one. */
  port?: number;
  /** Address to listen on; by default 127.0.0.1. */
  host?: string;
  /** Folder of a database to keep. Without it, and without inMemory: false, nothing is kept. */
  data?: string;
  /** Keep nothing on disk; by default true without `data`. */
  inMemory?: boolean;
  /** Further options of `stator serve`. */
  args?: string[];
  /** Gets each line of the server's log, which is JSON. */
  log?: (line: string) => void;
}

/**
 * Starts a server and resolves once it answers. Rejects with the server's own words when it cannot start.
 * The server ends with this process, also when nobody calls stop(), and does not keep this process from ending.
 */
export function start(options?: StartOptions): Promise<Server>;

/** Path of the program. */
export const program: string;
