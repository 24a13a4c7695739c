import type { Runtime } from './runtime.ts'
import type { Settings } from './settings.ts'

/** One line of `doctor`. Only a `problem` keeps something from working. */
export interface Check {
  name: string
  status: 'ok' | 'information' | 'warning' | 'problem'
  found: string
  /** What to do about it, where there is something. */
  advice?: string | undefined
}

export interface CheckContext {
  runtime: Runtime
  settings: Settings
}
