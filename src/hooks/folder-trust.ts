import type { Runtime } from '../base/index.ts'
import { claudeTrust } from './folder-trust/claude.ts'
import { codexFolderTrust } from './folder-trust/codex.ts'
import { copilotTrust } from './folder-trust/copilot.ts'
import { geminiTrust } from './folder-trust/gemini.ts'
import { qwenTrust } from './folder-trust/qwen.ts'
import type { Platform } from './platform.ts'

/** What a client thinks of a folder, as its own files say it. We only read them. */
export interface FolderTrust {
  state:
    | 'trusted'
    /** The user, or a setting, has decided against it. */
    | 'untrusted'
    /** Nobody has been asked yet. */
    | 'open'
    /** The client asks about no folder, or is set not to. */
    | 'not-asked'
    /** There is nothing that could be read, or it could not be read. */
    | 'unknown'
  /** What says so, as the end of a sentence. */
  reason: string
}

/**
 * Whether a client trusts a folder. A file that is missing or broken is an answer, not an error.
 *
 * @param folder a real path, absolute.
 */
export async function folderTrust(
  platform: Platform,
  folder: string,
  runtime: Runtime,
): Promise<FolderTrust> {
  return await readers[platform](folder, runtime)
}

type Reader = (folder: string, runtime: Runtime) => FolderTrust | Promise<FolderTrust>

const readers = {
  claude: claudeTrust,
  codex: codexFolderTrust,
  copilot: copilotTrust,
  cursor: () => ({ state: 'unknown', reason: 'Cursor keeps it where nobody else can read it' }),
  gemini: geminiTrust,
  opencode: () => ({ state: 'not-asked', reason: 'OpenCode asks about no folder' }),
  pi: () => ({ state: 'not-asked', reason: 'pi asks about no folder' }),
  qwen: qwenTrust,
} as const satisfies Record<Platform, Reader>
