import type { JsonObject } from '../model.ts'

export interface ToolRequest {
  /** An id or a name; see `resolveTool`. */
  tool: string
  params: JsonObject
  /** What the user wrote; keywords of workflows see nothing else. */
  requestText?: string | undefined
}
