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

/** What a feature may look at to check itself. Nothing is changed. */
export interface CheckContext {
  runtime: Runtime
  settings: Settings
}
