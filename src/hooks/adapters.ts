import type { HookAdapter } from './adapter.ts'
import { claude } from './adapters/claude.ts'
import { codex } from './adapters/codex.ts'
import { copilot } from './adapters/copilot.ts'
import { cursor } from './adapters/cursor.ts'
import { gemini } from './adapters/gemini.ts'
import { opencode } from './adapters/opencode.ts'
import { pi } from './adapters/pi.ts'
import { qwen } from './adapters/qwen.ts'
import type { Platform } from './platform.ts'

/** Every client; a forgotten one is a type error. */
export const adapters = {
  claude,
  codex,
  copilot,
  cursor,
  gemini,
  opencode,
  pi,
  qwen,
} as const satisfies Record<Platform, HookAdapter>
