/** How far an audit goes into a folder that a stranger made. What lies beyond is a finding. */
export const auditLimits = {
  /** Files, links and directories of one skill. */
  entries: 10_000,
  /** Directories inside one another. */
  depth: 32,
  /** A larger file is an error by itself. */
  fileBytes: 64 * 1024 * 1024,
  /** Text of one file that the rules are tried on. */
  textBytes: 1024 * 1024,
  /** Text of one skill that the rules are tried on. */
  totalBytes: 16 * 1024 * 1024,
  /** Places of one rule in one file; the others are counted. */
  places: 20,
  /** Files for which one rule gives places; the others are counted. */
  filesOfRule: 500,
  /** What an archive may claim to unpack to, where it also claims to grow {@link archiveGrowth}-fold. */
  archiveBytes: 100 * 1024 * 1024,
  archiveGrowth: 100,
  archiveEntries: 10_000,
} as const
