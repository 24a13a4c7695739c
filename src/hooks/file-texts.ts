import type { FileText } from './adapter.ts'
import { hooksText } from './adapters/_copilot-hooks.ts'
import { pluginText } from './adapters/_opencode-plugin.ts'
import { extensionText } from './adapters/_pi-extension.ts'

/** What is in a file that is ours alone, by the command that it calls. */
export const fileTexts = {
  'copilot-hooks': hooksText,
  'opencode-plugin': pluginText,
  'pi-extension': extensionText,
} as const satisfies Record<FileText, (command: string) => string>
